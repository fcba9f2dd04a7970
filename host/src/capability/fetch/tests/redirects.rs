//! Redirects: every hop is checked like a first request.

use super::*;

#[test]
fn s_07_redirects_are_checked_hop_by_hop() {
    let elsewhere = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b"elsewhere"));
    let other = elsewhere.url("/");
    let server = Server::start(move |line, stream| {
        let location = match line.split(' ').nth(1).unwrap() {
            "/home" => return respond(stream, "HTTP/1.1 200 OK", b"home"),
            "/relative" => "home",
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
    // N-03: six requests, the first and five redirects.
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
fn s_07_a_redirect_to_a_name_with_a_private_address_is_refused() {
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
