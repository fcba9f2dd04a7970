//! Redirects: every hop is checked like a first request.

use super::*;

#[test]
fn redirects_are_checked_hop_by_hop() {
    let elsewhere = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b"elsewhere"));
    let other = elsewhere.url("/");
    let server = Server::start(move |line, stream| {
        let location = match line.split(' ').nth(1).unwrap() {
            "/home" => return respond(stream, "HTTP/1.1 200 OK", b"home"),
            "/relative" => "home",
            "/utf-8" => "/é?ü=€",
            "/%C3%A9?%C3%BC=%E2%82%AC" => return respond(stream, "HTTP/1.1 200 OK", b"accented"),
            "/metadata" => "http://169.254.169.254/latest/",
            "/other" => other.as_str(),
            "/file" => "file:///etc/passwd",
            "/user" => "//me@127.0.0.1/",
            "/loop" => "/loop",
            "/odd" => "http://",
            "/none" => return respond(stream, "HTTP/1.1 302 Found", b""),
            "/two" => "/home\r\nlocation: /home",
            path => panic!("{path}"),
        };
        respond(
            stream,
            &format!("HTTP/1.1 302 Found\r\nLocation: {location}"),
            b"moved",
        );
    });
    let call = call_to(&[server.url("/")]);
    let followed = one(&call, get(server.url("/relative"))).unwrap();
    assert_eq!(
        (followed.body.as_slice(), followed.url),
        (b"home".as_slice(), server.url("/home"))
    );
    let followed = one(&call, get(server.url("/utf-8"))).unwrap();
    assert_eq!(
        (followed.body.as_slice(), followed.url),
        (
            b"accented".as_slice(),
            server.url("/%C3%A9?%C3%BC=%E2%82%AC")
        )
    );
    for (path, error) in [
        ("/metadata", FetchError::RedirectDenied),
        ("/other", FetchError::RedirectDenied),
        ("/file", FetchError::RedirectDenied),
        ("/user", FetchError::RedirectDenied),
        ("/odd", FetchError::Redirects),
        ("/none", FetchError::Redirects),
        ("/two", FetchError::Redirects),
        ("/loop", FetchError::Redirects),
    ] {
        assert_eq!(one(&call, get(server.url(path))), Err(error), "{path}");
    }
    assert!(elsewhere.asked().is_empty());
    // Six requests, the first and five redirects.
    let asked = server.asked();
    assert_eq!(
        asked
            .iter()
            .filter(|asked| asked.starts_with("GET /loop"))
            .count(),
        6
    );
    let mut request = get(server.url("/relative"));
    request.max_redirects = 0;
    assert_eq!(one(&call, request), Err(FetchError::Redirects));
}

#[test]
fn a_redirect_to_a_name_with_a_private_address_is_refused() {
    let server = Server::start(|_, stream| {
        let head = "HTTP/1.1 302 Found\r\nlocation: http://rebind.example/";
        respond(stream, head, b"");
    });
    let prefixes = [server.url("/"), "http://rebind.example/".to_owned()];
    let call = call_with_names(&prefixes, &names(&["169.254.169.254"]));
    assert_eq!(
        one(&call, get(server.url("/"))),
        Err(FetchError::RedirectDenied)
    );
}

#[test]
fn a_redirected_post_becomes_a_get_where_the_status_says_so() {
    let server = Server::start(|line, stream| match line.split(' ').nth(1).unwrap() {
        "/see" => respond(stream, "HTTP/1.1 303 See Other\r\nlocation: /end", b""),
        "/keep" => respond(stream, "HTTP/1.1 307 Temporary\r\nlocation: /end", b""),
        _ => respond(stream, "HTTP/1.1 200 OK", b""),
    });
    let call = call_to(&[server.url("/")]);
    for (path, method) in [("/see", "GET"), ("/keep", "POST")] {
        let mut request = get(server.url(path));
        request.method = Method::Post;
        request.body = Some(b"body".to_vec());
        assert_eq!(one(&call, request).unwrap().status, 200);
        let last = server.asked().pop().unwrap();
        assert!(last.starts_with(&format!("{method} /end ")), "{last}");
        assert_eq!(last.ends_with("body"), method == "POST");
    }
}

#[test]
fn a_failure_names_the_hop_that_failed() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let closed = format!("http://{free}/x");
    let target = closed.clone();
    let server = Server::start(move |line, stream| {
        let location = match line.split(' ').nth(1).unwrap() {
            "/metadata" => "http://169.254.169.254/a%20b?c#d",
            "/file" => "file:///etc/passwd#x",
            "/closed" => target.as_str(),
            "/odd" => "http://",
            "/hop" => "odd",
            path => panic!("{path}"),
        };
        respond(
            stream,
            &format!("HTTP/1.1 302 Found\r\nLocation: {location}"),
            b"",
        );
    });
    let call = call_to(&[server.url("/"), closed.clone()]);
    let failure = |url: String| {
        let failure = answer(&call, get(url)).unwrap_err();
        (failure.reason, failure.url)
    };
    for (path, reason, url) in [
        (
            "/metadata#e",
            FetchError::RedirectDenied,
            "http://169.254.169.254/a%20b?c".to_owned(),
        ),
        (
            "/file",
            FetchError::RedirectDenied,
            "file:///etc/passwd".to_owned(),
        ),
        ("/closed", FetchError::Connect, closed),
        ("/odd#e", FetchError::Redirects, server.url("/odd")),
        ("/hop", FetchError::Redirects, server.url("/odd")),
    ] {
        assert_eq!(failure(server.url(path)), (reason, url), "{path}");
    }
    let elsewhere = "HTTP://Elsewhere.Example:80/a#b".to_owned();
    assert_eq!(
        failure(elsewhere),
        (FetchError::Denied, "http://elsewhere.example/a".to_owned())
    );
    let none = "no url".to_owned();
    assert_eq!(failure(none.clone()), (FetchError::InvalidRequest, none));
}
