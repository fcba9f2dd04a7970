//! Loads, reloads and unloads, and which ids are refused.

use serde_json::json;

use crate::chain::Event;
use crate::failure::Code;
use crate::registry::approvals::Status;
use crate::registry::tests::testing::{
    Home, SOURCE, Setting, checked, checked_by, get, moltbook, post, python, unknown_tool, unusable,
};
use crate::registry::{CapabilityStatus, NewSkill, Who, load, unload};

fn unload_it(home: &Home, keep: bool) {
    home.state
        .write(|change| unload(change, "moltbook", keep, &Who::default()))
        .unwrap();
}

#[test]
fn a_load_answers_what_was_registered() {
    let home = Home::new();
    let skill = moltbook(vec![
        post("search", "search"),
        get("create_notebook"),
        python("run_analysis", "print(1)"),
    ]);
    let answer = serde_json::to_value(home.load(&skill, &Setting::default())).unwrap();
    assert_eq!(answer["skill-id"], "moltbook");
    assert_eq!(answer["format"], "yaml");
    assert_eq!(answer["source-url"], SOURCE);
    assert_eq!(answer["generation"], 1);
    assert_eq!(
        answer["delta"],
        json!({"added": ["search", "create_notebook", "run_analysis"], "changed": [], "removed": [], "unchanged": []})
    );
    let rows = answer["capabilities"].as_array().unwrap();
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(
        column("id"),
        [
            "moltbook.search",
            "moltbook.create_notebook",
            "moltbook.run_analysis"
        ]
    );
    assert_eq!(
        column("maps-to"),
        [
            "ccos.network.http-fetch",
            "ccos.network.http-fetch",
            "ccos.sandbox.python"
        ]
    );
    assert_eq!(column("status"), ["pending", "pending", "pending"]);
    assert_eq!(column("tier"), [1, 1, 2]);
    for row in rows {
        assert!(row["approval-id"].as_str().unwrap().starts_with("ap-"));
        assert_eq!(row["requires-approval"], true);
        assert_eq!(row["available"], true);
        assert!(row.get("code").is_none());
    }
    assert_eq!(answer["pending-approvals"], 3);
    assert_eq!(
        answer["hint"],
        "an operator decides: `hydrant approvals list --status pending` shows what waits"
    );
    assert!(!answer.to_string().contains("name: moltbook"));
    assert_eq!(
        home.events(0),
        [
            "skill-loaded",
            "capability-registered",
            "capability-registered",
            "capability-registered",
            "approval-requested",
            "approval-requested",
            "approval-requested"
        ]
    );
}

#[test]
fn an_unusable_operation_opens_no_request() {
    let home = Home::new();
    let answer = home.load(&moltbook(vec![unusable("bad")]), &Setting::default());
    let row = &answer.capabilities[0];
    assert_eq!(row.status, CapabilityStatus::Unusable);
    assert_eq!(row.code, Some(Code::CurlOptionRefused));
    assert_eq!(answer.pending_approvals, 0);
    assert!(answer.hint.is_none());
    let found = home.find("moltbook", "bad").unwrap();
    assert_eq!(found.usable().unwrap_err().code, Code::CurlOptionRefused);
}

#[test]
fn a_missing_tool_does_not_change_the_status() {
    let home = Home::new();
    let around = Setting {
        missing: vec!["ffmpeg".to_owned()],
        ..Setting::default()
    };
    let answer = home.load(&moltbook(vec![unknown_tool("convert", "ffmpeg")]), &around);
    let row = &answer.capabilities[0];
    assert!(!row.available);
    assert_eq!(row.missing, ["ffmpeg"]);
    assert_eq!(row.status, CapabilityStatus::Pending);
}

#[test]
fn a_reload_keeps_the_grants_of_what_is_the_same() {
    let home = Home::new();
    let around = Setting::default();
    let first = home.load(
        &moltbook(vec![get("one"), get("two"), get("three")]),
        &around,
    );
    let id = |index: usize| first.capabilities[index].approval_id.clone().unwrap();
    for index in 0..3 {
        home.approve(&id(index), None).unwrap();
    }
    let before = home.head();
    // `two` changes, `three` goes, `four` comes; a description around `one` changes nothing.
    let mut one = get("one");
    one["description"] = "other words".into();
    let mut two = get("two");
    two["stages"][0]["method"] = "PUT".into();
    let second = home.load(&moltbook(vec![one, two, get("four")]), &around);
    assert_eq!(second.delta.added, ["four"]);
    assert_eq!(second.delta.changed, ["two"]);
    assert_eq!(second.delta.removed, ["three"]);
    assert_eq!(second.delta.unchanged, ["one"]);
    assert_eq!(second.generation, 2);
    let statuses: Vec<_> = second.capabilities.iter().map(|row| row.status).collect();
    assert_eq!(
        statuses,
        [
            CapabilityStatus::Approved,
            CapabilityStatus::Pending,
            CapabilityStatus::Pending
        ]
    );
    assert_eq!(home.show(&id(0)).approval.status, Status::Approved);
    assert_eq!(home.show(&id(1)).approval.status, Status::Superseded);
    assert_eq!(home.show(&id(2)).approval.status, Status::Superseded);
    assert!(home.call("one", "s-1", &around).is_ok());
    assert_eq!(
        home.call("two", "s-1", &around).unwrap_err().code,
        Code::ApprovalRequired
    );
    assert_eq!(
        home.find("moltbook", "three").unwrap_err().code,
        Code::CapabilityRemoved
    );
    assert_eq!(
        home.events(before),
        [
            "skill-reloaded",
            "capability-updated",
            "capability-registered",
            "capability-removed",
            "approval-superseded",
            "approval-superseded",
            "approval-requested",
            "approval-requested"
        ]
    );
}

#[test]
fn another_version_of_the_mapping_supersedes_once_and_says_so() {
    let home = Home::new();
    let around = Setting::default();
    let operations = || vec![get("one"), get("two")];
    let first = home.load(&moltbook(operations()), &around);
    let id = first.capabilities[0].approval_id.clone().unwrap();
    home.approve(&id, None).unwrap();
    // What the older version stored is there: it lists, and its grant holds.
    let home = home.reopen();
    assert!(home.find("moltbook", "one").unwrap().usable().is_ok());
    assert!(home.call("one", "s-1", &around).is_ok());

    let newer = checked_by("2", "moltbook", SOURCE, operations());
    let second = home.load(&newer, &around);
    assert_eq!(second.delta.changed, ["one", "two"]);
    assert_eq!(home.show(&id).approval.status, Status::Superseded);
    let told: Vec<_> = second
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code == Code::ApprovalStale)
        .collect();
    assert_eq!(told.len(), 1, "{:?}", second.diagnostics);
    assert!(told[0].message.contains("one, two"), "{}", told[0].message);
    let again = second.capabilities[0].approval_id.clone().unwrap();
    home.approve(&again, None).unwrap();

    let third = home.load(&newer, &around);
    assert_eq!(third.delta.unchanged, ["one", "two"]);
    assert!(third.diagnostics.is_empty(), "{:?}", third.diagnostics);
    assert!(home.call("one", "s-1", &around).is_ok());
}

#[test]
fn a_grant_does_not_come_back_with_the_old_text() {
    let home = Home::new();
    let around = Setting::default();
    let good = moltbook(vec![get("one")]);
    let id = home.load(&good, &around).capabilities[0]
        .approval_id
        .clone()
        .unwrap();
    home.approve(&id, None).unwrap();
    home.load(&moltbook(vec![post("one", "evil")]), &around);
    let again = home.load(&good, &around);
    assert_eq!(again.capabilities[0].status, CapabilityStatus::Pending);
    assert_eq!(
        home.call("one", "s-1", &around).unwrap_err().code,
        Code::ApprovalRequired
    );
}

#[test]
fn an_identical_load_is_no_step() {
    let home = Home::new();
    let around = Setting::default();
    let skill = moltbook(vec![get("one")]);
    assert_eq!(home.load(&skill, &around).generation, 1);
    let again = home.load(&skill, &around);
    assert_eq!(again.generation, 1);
    assert_eq!(again.delta.unchanged, ["one"]);
    assert_eq!(again.pending_approvals, 1);
}

#[test]
fn another_source_is_a_conflict_and_changes_nothing() {
    let home = Home::new();
    let around = Setting::default();
    home.load(&moltbook(vec![get("one")]), &around);
    let (before, records) = (home.find("moltbook", "one").unwrap(), home.head());
    for id in ["moltbook", "MoltBook"] {
        let other = checked(id, "https://evil.example/skill.yaml", vec![get("one")]);
        let failure = home.try_load(&other, &around).unwrap_err();
        assert_eq!(failure.code, Code::SkillIdConflict);
    }
    let after = home.find("moltbook", "one").unwrap();
    assert_eq!(after.skill.source, before.skill.source);
    assert_eq!(home.head(), records);
}

#[test]
fn a_load_that_fails_late_leaves_nothing() {
    let home = Home::new();
    let skill = moltbook(vec![get("one")]);
    let failure = home.state.write(|change| {
        let new = NewSkill {
            checked: skill,
            document: b"",
            files: &std::collections::BTreeMap::new(),
        };
        load(change, new, &Who::default(), &Setting::default())?;
        Err::<(), _>(crate::failure::Failure::new(Code::AuditUnavailable, "here"))
    });
    assert_eq!(failure.unwrap_err().code, Code::AuditUnavailable);
    assert_eq!(
        home.find("moltbook", "one").unwrap_err().code,
        Code::UnknownSkill
    );
    assert_eq!(home.head(), 0);
    let approvals = home
        .state
        .read(|database| crate::registry::approvals::list(database, None, home.state.now()))
        .unwrap();
    assert!(approvals.is_empty());
}

#[test]
fn an_unload_removes_and_supersedes() {
    let home = Home::new();
    let around = Setting::default();
    let loaded = home.load(&moltbook(vec![get("one"), get("two")]), &around);
    let id = |index: usize| loaded.capabilities[index].approval_id.clone().unwrap();
    home.approve(&id(0), None).unwrap();
    let before = home.head();
    unload_it(&home, false);
    assert_eq!(
        home.events(before),
        [
            "skill-unloaded",
            "capability-removed",
            "capability-removed",
            "approval-superseded",
            "approval-superseded"
        ]
    );
    assert_eq!(
        home.find("moltbook", "one").unwrap_err().code,
        Code::CapabilityRemoved
    );
    assert_eq!(
        home.find("moltbook", "never").unwrap_err().code,
        Code::UnknownSkill
    );
    let again = home.load(&moltbook(vec![get("one"), get("two")]), &around);
    assert_eq!(again.delta.added, ["one", "two"]);
    assert_eq!(again.capabilities[0].status, CapabilityStatus::Pending);
    assert!(home.find("moltbook", "one").is_ok());
}

#[test]
fn kept_grants_revive_for_the_same_source_and_digests_only() {
    let around = Setting::default();
    let prepared = || {
        let home = Home::new();
        let loaded = home.load(&moltbook(vec![get("one"), get("two")]), &around);
        for row in &loaded.capabilities {
            home.approve(row.approval_id.as_ref().unwrap(), None)
                .unwrap();
        }
        unload_it(&home, true);
        (home, loaded)
    };
    // The same source, one operation changed: one revives.
    let (home, _) = prepared();
    let mut two = get("two");
    two["stages"][0]["method"] = "PUT".into();
    let again = home.load(&moltbook(vec![get("one"), two]), &around);
    assert_eq!(again.capabilities[0].status, CapabilityStatus::Approved);
    assert_eq!(again.capabilities[1].status, CapabilityStatus::Pending);
    // Another source: none, and none ever after.
    let (home, first) = prepared();
    let other = checked(
        "moltbook",
        "https://evil.example/skill.yaml",
        vec![get("one"), get("two")],
    );
    let answer = home.load(&other, &around);
    assert_eq!(answer.pending_approvals, 2);
    for row in &first.capabilities {
        let shown = home.show(row.approval_id.as_ref().unwrap());
        assert_eq!(shown.approval.status, Status::Superseded);
    }
    // Loaded without one of them: that grant ends, too.
    let (home, first) = prepared();
    home.load(&moltbook(vec![get("one")]), &around);
    let shown = home.show(first.capabilities[1].approval_id.as_ref().unwrap());
    assert_eq!(shown.approval.status, Status::Superseded);
}

#[test]
fn everything_survives_a_restart() {
    let home = Home::new();
    let around = Setting::default();
    let loaded = home.load(&moltbook(vec![get("one")]), &around);
    home.approve(loaded.capabilities[0].approval_id.as_ref().unwrap(), None)
        .unwrap();
    let home = home.reopen();
    assert!(home.call("one", "s-1", &around).is_ok());
    assert_eq!(
        home.state.read(crate::registry::generation).unwrap(),
        loaded.generation
    );
}

#[test]
fn operations_that_fold_alike_collide() {
    let home = Home::new();
    let skill = moltbook(vec![get("create_note"), get("Create-Note")]);
    let failure = home.try_load(&skill, &Setting::default()).unwrap_err();
    assert_eq!(failure.code, Code::OpCollision);
    // `a.b` + `c` and `a` + `b.c` are one capability id.
    home.load(&checked("a", SOURCE, vec![get("b.c")]), &Setting::default());
    let other = checked("a.b", SOURCE, vec![get("c")]);
    let failure = home.try_load(&other, &Setting::default()).unwrap_err();
    assert_eq!(failure.code, Code::OpCollision);
}

#[test]
fn an_alias_that_collides_is_dropped() {
    let home = Home::new();
    let mut first = get("list-notes");
    first["aliases"] = json!(["notes", "list"]);
    let mut second = get("notes");
    second["aliases"] = json!(["LIST", "a b"]);
    let answer = home.load(&moltbook(vec![first, second]), &Setting::default());
    assert_eq!(answer.capabilities[0].aliases, ["list"]);
    assert!(answer.capabilities[1].aliases.is_empty());
    let codes: Vec<_> = answer.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::AliasDropped; 3]);
    let found = home.find("moltbook", "list").unwrap();
    assert_eq!(found.capability, "moltbook.list-notes");
}

#[test]
fn ids_of_the_host_and_of_installed_components_are_refused() {
    let home = Home::new();
    for id in ["ccos", "Hydrant", "ccos.skill"] {
        let failure = home
            .try_load(&checked(id, SOURCE, vec![get("x")]), &Setting::default())
            .unwrap_err();
        assert_eq!(failure.code, Code::IdReserved);
    }
    let around = Setting {
        installed: vec!["json.validate".to_owned()],
        ..Setting::default()
    };
    let failure = home
        .try_load(&checked("JSON", SOURCE, vec![get("Validate")]), &around)
        .unwrap_err();
    assert_eq!(failure.code, Code::IdReserved);
    let failure = home
        .try_load(&checked("a b", SOURCE, vec![get("x")]), &around)
        .unwrap_err();
    assert_eq!(failure.code, Code::IdInvalid);
}

#[test]
fn operations_are_found_by_folded_id_alias_and_full_id() {
    let home = Home::new();
    let mut operation = get("create_notebook");
    operation["aliases"] = json!(["new-book"]);
    home.load(&moltbook(vec![operation]), &Setting::default());
    for name in [
        "create_notebook",
        "CREATE-notebook",
        "create notebook",
        "new_book",
        "moltbook.create_notebook",
        "Moltbook.New Book",
    ] {
        let found = home.find("moltbook", name).unwrap();
        assert_eq!(found.capability, "moltbook.create_notebook", "{name}");
    }
    for id in ["moltbook.create-notebook", "MOLTBOOK.new_book"] {
        let found = home
            .state
            .read(|database| crate::registry::find_capability(database, id))
            .unwrap();
        assert_eq!(found.capability, "moltbook.create_notebook");
    }
    let unknown = |id: &str| {
        home.state
            .read(|database| crate::registry::find_capability(database, id))
            .unwrap_err()
            .code
    };
    assert_eq!(unknown("moltbook.nothing"), Code::UnknownOperation);
    assert_eq!(unknown("nothing.create_notebook"), Code::UnknownSkill);
    assert_eq!(
        home.find("moltbook", "nothing").unwrap_err().code,
        Code::UnknownOperation
    );
    assert_eq!(
        home.find("nothing", "x").unwrap_err().code,
        Code::UnknownSkill
    );
    // An underscore in a name is no wildcard of the look-up.
    assert_eq!(unknown("moltboo_.create_notebook"), Code::UnknownSkill);
}

#[test]
fn a_record_leads_to_source_digests_and_line() {
    let home = Home::new();
    let skill = moltbook(vec![post("search", "search")]);
    home.load(&skill, &Setting::default());
    let records = home.records();
    let registered = records
        .iter()
        .find(|record| {
            record["event"] == serde_json::to_value(Event::CapabilityRegistered).unwrap()
        })
        .unwrap();
    assert_eq!(registered["capability"], "moltbook.search");
    assert_eq!(registered["derived-from"], SOURCE);
    assert_eq!(registered["delegated-to"], "ccos.network.http-fetch");
    assert_eq!(registered["line"], 11);
    assert_eq!(registered["skill-digest"], skill.digest.as_str());
    assert_eq!(
        registered["op-digest"],
        skill.operations[0].operation.digest.as_str()
    );
}
