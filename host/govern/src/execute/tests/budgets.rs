use std::time::Duration;

use serde_json::json;

use super::{Around, code, events, failed, output, response};
use crate::chain::Event;
use crate::failure::Code;

#[test]
fn nothing_is_sent_without_network_budget() {
    for left in [0, 3] {
        let mut around = Around::new([]);
        around.caps.network_bytes = Some(left);
        let done = around.call("moltbook", "search", json!({"query": "x"}));
        assert_eq!(code(&done), Code::BudgetExhausted);
        assert_eq!(
            events(&done).last(),
            Some(&(Event::BudgetExhausted, "network-bytes"))
        );
    }
}

#[test]
fn a_response_is_capped_by_what_is_left() {
    let mut around = Around::new([failed(Code::ResponseTooLarge)]);
    around.caps.network_bytes = Some(500);
    let done = around.call("books", "getBook", json!({"id": 7}));
    assert_eq!(code(&done), Code::BudgetExhausted);
    assert_eq!(around.sent()[0].limits.response_bytes, 500);
    assert_eq!(done.used.network_bytes, 300, "what it used is charged");

    let around = Around::new([failed(Code::ResponseTooLarge)]);
    let done = around.call("books", "getBook", json!({"id": 7}));
    assert_eq!(code(&done), Code::ResponseTooLarge, "the host's own limit");
}

#[test]
fn each_hop_is_charged() {
    let mut around = Around::new([response(307, &[("location", "/v2/a")], b"")]);
    around.caps.network_bytes = Some(1000);
    let done = around.call("kit", "followed", json!({"word": "w"}));
    assert_eq!(code(&done), Code::BudgetExhausted);
    assert_eq!(done.used.network_bytes, 1000);
}

#[test]
fn time_is_capped_by_what_is_left() {
    let mut around = Around::new([failed(Code::Timeout)]);
    around.caps.wall_clock = Some(Duration::from_secs(5));
    let done = around.call("books", "getBook", json!({"id": 7}));
    assert_eq!(code(&done), Code::BudgetExhausted);
    assert_eq!(
        events(&done).last(),
        Some(&(Event::BudgetExhausted, "wall-clock-ms"))
    );
    assert!(around.sent()[0].limits.total <= Duration::from_secs(5));

    let mut around = Around::new([]);
    around.caps.wall_clock = Some(Duration::ZERO);
    let done = around.call("kit", "hello", json!({"name": "x"}));
    assert_eq!(code(&done), Code::BudgetExhausted);
}

#[test]
fn a_file_is_capped_by_what_is_left() {
    let mut around = Around::new([response(200, &[], b"[1]")]);
    around.caps.storage_bytes = Some(2);
    let done = around.call("kit", "fetch-to-file", json!({}));
    assert_eq!(code(&done), Code::BudgetExhausted);
    assert!(!around.output().exists());

    let mut around = Around::new([response(200, &[], b"[1]")]);
    around.caps.storage_bytes = Some(3);
    output(&around.call("kit", "fetch-to-file", json!({})));
}
