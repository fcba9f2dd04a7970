//! Lists in pages. A cursor is the key of the last item of a page, so that the next page goes on behind it whatever came
//! or went in between.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Items of a page.
pub(super) const PAGE: usize = 100;

/// The key behind which the page begins.
///
/// # Errors
///
/// `-32602` for a cursor that is none of ours.
pub(super) fn after(request: Option<&PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor.as_deref()) else {
        return Ok(None);
    };
    let key = URL_SAFE_NO_PAD.decode(cursor).ok();
    let key = key.and_then(|bytes| String::from_utf8(bytes).ok());
    key.map(Some)
        .ok_or_else(|| ErrorData::invalid_params("the cursor is not one of this server", None))
}

/// The items of one page of `items`, which are sorted by `key`, and the cursor of the next.
pub(super) fn page<T>(
    mut items: Vec<T>,
    after: Option<&str>,
    key: impl Fn(&T) -> &str,
) -> (Vec<T>, Option<String>) {
    if let Some(after) = after {
        items.retain(|item| key(item) > after);
    }
    let more = items.len() > PAGE;
    items.truncate(PAGE);
    let next = items.last().filter(|_| more).map(|last| cursor(key(last)));
    (items, next)
}

fn cursor(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(cursor: &str) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()))
    }

    #[test]
    fn pages_hold_each_item_once() {
        let items: Vec<String> = (0..PAGE * 2 + 1)
            .map(|number| format!("{number:05}"))
            .collect();
        let (mut seen, mut key) = (Vec::new(), None::<String>);
        loop {
            let (page, next) = page(items.clone(), key.as_deref(), String::as_str);
            assert!(page.len() <= PAGE);
            seen.extend(page);
            let Some(next) = next else { break };
            key = after(Some(&request(&next))).unwrap();
        }
        assert_eq!(seen, items);
    }

    #[test]
    fn a_cursor_of_somebody_else_is_refused() {
        assert!(after(Some(&request("%%%"))).is_err());
        assert!(after(None).unwrap().is_none());
    }
}
