//! The files as they are answered, and what must not be in them.

use std::path::Path as FilePath;

use super::*;

fn header<'a>(response: &'a Response, name: &HeaderName) -> &'a str {
    response
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[test]
fn every_file_of_the_folder_is_served_and_no_other() {
    fn below(folder: &FilePath, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                below(&entry.path(), &format!("{path}/"), found);
            } else {
                found.push(path);
            }
        }
    }
    let folder = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/console/static");
    let mut found = Vec::new();
    below(&folder, "", &mut found);
    found.sort();
    let mut served: Vec<&str> = FILES.iter().map(|file| file.path).collect();
    served.sort_unstable();
    assert_eq!(found, served);
    for path in [
        "",
        "../mod.rs",
        "static/app.js",
        "views",
        "app.js/",
        "%2e%2e/mod.rs",
    ] {
        assert_eq!(
            answer(path, &HeaderMap::new()).status(),
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
}

#[test]
fn every_answer_says_what_the_page_may_do() {
    for path in FILES.iter().map(|file| file.path).chain(["missing"]) {
        let response = answer(path, &HeaderMap::new());
        assert_eq!(
            header(&response, &CONTENT_SECURITY_POLICY),
            CONTENT_SECURITY,
            "{path}"
        );
        assert_eq!(
            header(&response, &X_CONTENT_TYPE_OPTIONS),
            "nosniff",
            "{path}"
        );
        assert_eq!(header(&response, &REFERRER_POLICY), "no-referrer", "{path}");
    }
    assert!(!CONTENT_SECURITY.contains("unsafe"));
}

#[test]
fn a_file_that_the_client_has_is_not_sent_again() {
    let first = answer("app.js", &HeaderMap::new());
    assert_eq!(header(&first, &CONTENT_TYPE), SCRIPT);
    let tag = header(&first, &ETAG).to_owned();
    assert_ne!(tag, header(&answer("dom.js", &HeaderMap::new()), &ETAG));
    for (sent, status) in [
        (tag.clone(), StatusCode::NOT_MODIFIED),
        (format!("\"other\", W/{tag}"), StatusCode::NOT_MODIFIED),
        ("\"other\"".to_owned(), StatusCode::OK),
    ] {
        let mut request = HeaderMap::new();
        request.insert(IF_NONE_MATCH, sent.parse().unwrap());
        assert_eq!(answer("app.js", &request).status(), status, "{sent}");
    }
}

#[test]
fn no_script_makes_markup_of_text_or_keeps_the_token() {
    let forbidden = [
        "innerHTML =",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "createContextualFragment",
        "eval(",
        "new Function",
        "localStorage",
        "sessionStorage",
        "indexedDB",
        "document.cookie",
        "http://",
        "https://",
    ];
    for file in FILES.iter().filter(|file| file.content_type == SCRIPT) {
        let text = std::str::from_utf8(file.bytes).unwrap();
        // The name space of pictures is no place that anything is fetched from.
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for what in forbidden {
            assert!(!text.contains(what), "{}: {what}", file.path);
        }
    }
}

#[test]
fn the_page_has_no_script_or_style_of_its_own() {
    let file = FILES.iter().find(|file| file.path == "index.html").unwrap();
    let page = std::str::from_utf8(file.bytes).unwrap();
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" on"));
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=\"app.js\"></script>")
            .count()
    );
}
