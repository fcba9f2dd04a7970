//! `skill list`, `list --since`, `skill show`, the counter of unknown tools.

use hydrant_plan::{Program, Stage};
use serde_json::json;

use crate::failure::Code;
use crate::registry::tests::testing::{
    Home, Setting, checked, get, moltbook, post, python, unknown_tool, unusable,
};
use crate::registry::{NewSkill, Since, Who, code_file, list, list_since, load, show};
use crate::registry::{history, unload, unmapped};

fn since(home: &Home, generation: u64) -> Since {
    home.state
        .read(|database| list_since(database, generation))
        .unwrap()
}

#[test]
fn since_tells_the_net_change() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one"), get("two")]), &around);
    assert_eq!(
        since(&home, 0).added,
        ["moltbook.one", "moltbook.two"],
        "at the beginning"
    );
    home.load(
        &moltbook(vec![get("one"), post("two", "x"), get("three")]),
        &around,
    );
    home.load(&moltbook(vec![get("one"), get("three")]), &around);
    home.load(
        &checked("other", "https://o.example/skill.md", vec![get("x")]),
        &around,
    );
    let after_first = since(&home, 1);
    assert_eq!(after_first.generation, 4);
    assert!(!after_first.full);
    assert_eq!(after_first.added, ["moltbook.three", "other.x"]);
    assert!(after_first.changed.is_empty());
    assert_eq!(after_first.removed, ["moltbook.two"]);
    let after_second = since(&home, 2);
    assert_eq!(after_second.added, ["other.x"]);
    assert_eq!(after_second.removed, ["moltbook.two"]);
    // Removed and there again is changed; added and removed is nothing.
    home.load(
        &moltbook(vec![get("one"), get("two"), get("three")]),
        &around,
    );
    assert_eq!(since(&home, 2).changed, ["moltbook.two"]);
    home.state
        .write(|change| unload(change, "other", false, &Who::default()))
        .unwrap();
    assert!(since(&home, 3).added.iter().all(|id| id != "other.x"));
    assert!(since(&home, 3).removed.is_empty());
    let now = since(&home, 6);
    assert_eq!(
        (now.added.len(), now.changed.len(), now.removed.len()),
        (0, 0, 0)
    );
}

#[test]
fn what_is_not_in_the_history_answers_everything() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one")]), &around);
    let future = since(&home, 99);
    assert!(future.full);
    assert_eq!(future.added, ["moltbook.one"]);
    // The history is cut, but not within the last thousand steps.
    let steps = 4200;
    let one = home.find("moltbook", "one").unwrap();
    home.state
        .write(|change| {
            for _ in 0..steps {
                let at = history::advance(change)?;
                history::note(change, at, &one, history::Step::Changed)?;
            }
            Ok(())
        })
        .unwrap();
    assert!(since(&home, 1).full);
    let recent = since(&home, 1 + steps - 1000);
    assert!(!recent.full);
    assert_eq!(recent.changed, ["moltbook.one"]);
    let rows: i64 = home
        .state
        .read(|database| {
            database
                .query_row("SELECT count(*) FROM history", [], |row| row.get(0))
                .map_err(crate::registry::store)
        })
        .unwrap();
    assert_eq!(rows, 4096);
}

#[test]
fn list_and_show_tell_what_there_is() {
    let home = Home::new();
    let around = Setting::default();
    let answer = home.load(
        &moltbook(vec![get("one"), python("run", "print(1)"), unusable("bad")]),
        &around,
    );
    home.approve(answer.capabilities[0].approval_id.as_ref().unwrap(), None)
        .unwrap();
    let now = home.state.now();
    let listed = home
        .state
        .read(|database| list(database, None, &around, now))
        .unwrap();
    let listed = serde_json::to_value(listed).unwrap();
    assert_eq!(listed["generation"], 1);
    assert_eq!(listed["skills"][0]["skill-id"], "moltbook");
    let rows = &listed["skills"][0]["capabilities"];
    assert_eq!(rows[0]["status"], "approved");
    assert_eq!(rows[1]["status"], "pending");
    assert_eq!(rows[2]["code"], "curl-option-refused");
    assert!(!listed.to_string().contains("name: moltbook"));

    let shown = home
        .state
        .read(|database| show(database, "MoltBook", None, &around, now))
        .unwrap();
    let shown = serde_json::to_value(shown).unwrap();
    assert_eq!(shown["document"], "name: moltbook\n");
    assert_eq!(
        shown["capabilities"][0]["manifest"]["trust-tier"],
        "granted"
    );
    assert_eq!(
        shown["capabilities"][1]["manifest"]["trust-tier"],
        "pending"
    );
    assert_eq!(
        shown["capabilities"][1]["policy-derivation"][0],
        "egress api.moltbook.com:443: line 37"
    );
    assert_eq!(
        shown["capabilities"][2]["error"]["code"],
        "curl-option-refused"
    );
    let unknown = home
        .state
        .read(|database| show(database, "nothing", None, &around, now));
    assert_eq!(unknown.unwrap_err().code, Code::UnknownSkill);
}

#[test]
fn unknown_tools_are_counted_once_for_each_new_operation() {
    let home = Home::new();
    let around = Setting::default();
    let skill = moltbook(vec![
        unknown_tool("a", "ffmpeg"),
        unknown_tool("b", "ffmpeg"),
        unknown_tool("c", "convert"),
    ]);
    home.load(&skill, &around);
    home.load(&skill, &around);
    let counted = home.state.read(unmapped::list).unwrap();
    assert_eq!(
        serde_json::to_value(counted).unwrap(),
        json!([
            {"tool": "ffmpeg", "count": 2, "hint": "known_tools = [\"ffmpeg\"]"},
            {"tool": "convert", "count": 1, "hint": "known_tools = [\"convert\"]"},
        ])
    );
    // Hostile names take no room.
    home.state
        .write(|change| {
            let long = "x".repeat(121);
            unmapped::count(change, [long.as_str(), "", "a\u{1b}b"])?;
            for index in 0..2000 {
                unmapped::count(change, [format!("tool-{index}").as_str(), "ffmpeg"])?;
            }
            Ok(())
        })
        .unwrap();
    let counted = home.state.read(unmapped::list).unwrap();
    assert_eq!(counted.len(), 1024);
    assert_eq!(counted[0].count, 2002);
}

#[test]
fn code_files_stay_while_a_skill_names_them() {
    let home = Home::new();
    let around = Setting::default();
    let bytes = b"print(2)\n".to_vec();
    let digest = crate::digest::of_bytes(&bytes);
    let mut operation = python("run", "");
    operation["stages"][0]["program"] = json!({"file": {"name": "run.py", "digest": null}});
    let mut skill = moltbook(vec![operation]);
    if let Stage::Sandbox(stage) = &mut skill.operations[0].operation.stages[0] {
        stage.program = Program::File {
            name: "run.py".to_owned(),
            digest: Some(digest.clone()),
        };
    }
    let files = std::collections::BTreeMap::from([("run.py".to_owned(), bytes.clone())]);
    let answer = home
        .state
        .write(|change| {
            let new = NewSkill {
                checked: skill,
                document: b"",
                files: &files,
            };
            load(change, new, &Who::default(), &around)
        })
        .unwrap();
    let found = home.find("moltbook", "run").unwrap();
    assert_eq!(found.skill.files["run.py"], digest);
    let read = || home.state.read(|database| code_file(database, &digest));
    assert_eq!(read().unwrap(), bytes);
    // The approver reads it.
    let shown = home.show(answer.capabilities[0].approval_id.as_ref().unwrap());
    assert_eq!(shown.approval.subject.script.as_deref(), Some("print(2)\n"));
    home.state
        .write(|change| unload(change, "moltbook", false, &Who::default()))
        .unwrap();
    assert_eq!(read().unwrap_err().code, Code::ScriptMissing);
}

#[test]
fn undecided_requests_do_not_pile_up() {
    let home = Home::new();
    let around = Setting::default();
    let answer = home.load(&moltbook(vec![get("one"), get("two")]), &around);
    let granted = answer.capabilities[0].approval_id.clone().unwrap();
    home.approve(&granted, None).unwrap();
    let two = answer.capabilities[1].approval_id.clone().unwrap();
    // As if twenty thousand requests had come since.
    home.state
        .write(|change| {
            change
                .database
                .execute(
                    "UPDATE sqlite_sequence SET seq = 30000 WHERE name = 'approvals'",
                    [],
                )
                .map_err(crate::registry::store)
        })
        .unwrap();
    home.load(&moltbook(vec![post("one", "x"), post("two", "x")]), &around);
    let now = home.state.now();
    let all = home
        .state
        .read(|database| crate::registry::approvals::list(database, None, now))
        .unwrap();
    let ids: Vec<_> = all.iter().map(|approval| approval.id.clone()).collect();
    assert_eq!(ids.len(), 3);
    // What an operator decided stays, also when it is superseded.
    assert!(ids.contains(&granted));
    assert!(!ids.contains(&two));
}
