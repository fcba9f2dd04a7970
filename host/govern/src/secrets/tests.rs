use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use secrecy::ExposeSecret;
use tempfile::TempDir;

use super::*;

struct Home {
    folder: TempDir,
    store: SecretStore,
}

fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let store = SecretStore::new(folder.path(), &[]);
    Home { folder, store }
}

impl Home {
    fn path(&self) -> PathBuf {
        self.folder.path().join("secrets.toml")
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
        fs::set_permissions(self.path(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn value(&self, name: &str, place: Place, skill: &str) -> Result<String, Code> {
        self.store
            .value(name, place, skill)
            .map(|value| value.expose_secret().to_owned())
            .map_err(|failure| failure.code)
    }
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

#[test]
fn what_is_set_is_read_back_whatever_it_holds() {
    let home = home();
    let odd = "a\"b\\c\n\t\u{1}\u{7f}ä€😀 # = [x] '''";
    home.store.set("KEY", None, secret("global")).unwrap();
    home.store
        .set("KEY", Some("Moltbook"), secret(odd))
        .unwrap();
    home.store
        .set("odd.näme\"\\", Some("x y]"), secret("v"))
        .unwrap();
    assert_eq!(
        home.value("KEY", Place::Global, ""),
        Ok("global".to_owned())
    );
    assert_eq!(
        home.value("KEY", Place::Skill, "moltbook"),
        Ok(odd.to_owned())
    );
    assert_eq!(
        home.value("odd.näme\"\\", Place::Skill, "x-y]"),
        Ok("v".to_owned())
    );
    let metadata = fs::metadata(home.path()).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
    assert!(!home.folder.path().join("secrets.toml.new").exists());
}

#[test]
fn the_seeds_form_of_the_file_is_read() {
    let home = home();
    home.write("[secrets]\nA = \"1\"\n[skills.moltbook]\nB = '2'\nC = {pending = '3'}\n[mappings]\nEXPECTED = \"A\"\n");
    assert_eq!(home.value("A", Place::Global, ""), Ok("1".to_owned()));
    assert_eq!(
        home.value("B", Place::Skill, "moltbook"),
        Ok("2".to_owned())
    );
    assert_eq!(
        home.value("C", Place::Skill, "moltbook"),
        Err(Code::SecretMissing)
    );
    assert_eq!(home.store.expected_of("A").unwrap(), "EXPECTED");
    assert_eq!(home.store.expected_of("B").unwrap(), "B");
    home.store.set("D", None, secret("4")).unwrap();
    assert_eq!(home.store.expected_of("A").unwrap(), "EXPECTED");
    assert_eq!(
        home.value("B", Place::Skill, "moltbook"),
        Ok("2".to_owned())
    );
}

#[test]
fn a_file_that_others_could_touch_serves_nothing() {
    let refused = |home: &Home| {
        let code = |result: Result<(), Failure>| result.map_err(|failure| failure.code);
        let expected = Err(Code::SecretStorePermissions);
        assert_eq!(
            home.value("A", Place::Global, ""),
            Err(Code::SecretStorePermissions)
        );
        assert_eq!(code(home.store.list().map(|_| ())), expected);
        assert_eq!(code(home.store.locate("A", "s").map(|_| ())), expected);
        assert_eq!(code(home.store.values().map(|_| ())), expected);
        assert_eq!(code(home.store.set("B", None, secret("2"))), expected);
    };
    for mode in [0o644, 0o640, 0o660, 0o666, 0o700, 0o604, 0o400, 0o4600] {
        let home = home();
        home.write("[secrets]\nA = '1'\n");
        fs::set_permissions(home.path(), fs::Permissions::from_mode(mode)).unwrap();
        refused(&home);
    }
    for mode in [0o770, 0o707, 0o777] {
        let home = home();
        home.write("[secrets]\nA = '1'\n");
        fs::set_permissions(home.folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        refused(&home);
    }
    let home_with_link = home();
    let elsewhere = home();
    elsewhere.write("[secrets]\nA = '1'\n");
    symlink(elsewhere.path(), home_with_link.path()).unwrap();
    refused(&home_with_link);
    let home_with_folder = home();
    fs::create_dir(home_with_folder.path()).unwrap();
    refused(&home_with_folder);
}

#[test]
fn a_file_that_cannot_be_read_is_not_quoted() {
    for text in [
        "[secrets]\nA = 'hunter22\n",
        "[secrets]\nA = 5 # hunter22\n",
        "[secrets]\nhunter22",
        "[hunter22]\nA = 'x'\n",
        "[secrets]\nA = {pending = 'hunter22', other = 1}\n",
        "[skills.a]\nX = 'hunter22'\n[skills.A]\nX = 'hunter22'\n",
    ] {
        let home = home();
        home.write(text);
        let failure = home.store.list().unwrap_err();
        assert_eq!(failure.code, Code::StoreUnavailable, "{text}");
        assert!(
            !format!("{failure:?}").contains("hunter22"),
            "{text}: {failure:?}"
        );
        // What cannot be read is not overwritten.
        assert!(home.store.set("B", None, secret("2")).is_err());
        assert_eq!(fs::read_to_string(home.path()).unwrap(), text);
    }
}

#[test]
fn lists_hold_names_only() {
    let home = home();
    home.store.set("A", None, secret("hunter22")).unwrap();
    home.store.set("B", Some("s"), secret("hunter22")).unwrap();
    home.store
        .stage("C", "s", secret("hunter22"), "ap-1")
        .unwrap();
    let list = home.store.list().unwrap();
    let names: Vec<(&str, bool, bool)> = list
        .iter()
        .map(|listed| (listed.name.as_str(), listed.usable, listed.pending))
        .collect();
    assert_eq!(
        names,
        [("A", true, false), ("B", true, false), ("C", false, true)]
    );
    let shown = serde_json::to_string(&list).unwrap() + &format!("{list:?} {:?}", home.store);
    assert!(!shown.contains("hunter22"), "{shown}");
}

#[test]
fn a_variable_is_a_secret_only_if_it_is_named() {
    let home = home();
    // Set in every environment that runs tests.
    let named = SecretStore::new(
        home.folder.path(),
        &["PATH".to_owned(), "HYDRANT_UNSET_X".to_owned()],
    );
    assert_eq!(named.locate("PATH", "s").unwrap(), Place::Environment);
    assert!(named.value("PATH", Place::Environment, "s").is_ok());
    assert_eq!(
        named.locate("HYDRANT_UNSET_X", "s").unwrap_err().code,
        Code::SecretMissing
    );
    assert_eq!(
        home.store.locate("PATH", "s").unwrap_err().code,
        Code::SecretMissing
    );
    assert_eq!(
        home.value("PATH", Place::Environment, "s"),
        Err(Code::SecretMissing)
    );
    assert_eq!(named.list().unwrap().len(), 1);
}

#[test]
fn the_skills_own_comes_first_and_no_other_skills() {
    let home = home();
    home.store.set("K", Some("t"), secret("of t")).unwrap();
    assert_eq!(
        home.store.locate("K", "s").unwrap_err().code,
        Code::SecretMissing
    );
    home.store.set("K", None, secret("global")).unwrap();
    assert_eq!(home.store.locate("K", "s").unwrap(), Place::Global);
    home.store.set("K", Some("s"), secret("of s")).unwrap();
    assert_eq!(home.store.locate("K", "s").unwrap(), Place::Skill);
    assert_eq!(home.value("K", Place::Skill, "s"), Ok("of s".to_owned()));
    assert!(home.store.remove("K", Some("s")).unwrap());
    assert!(!home.store.remove("K", Some("s")).unwrap());
    assert_eq!(home.value("K", Place::Skill, "s"), Err(Code::SecretMissing));
    assert_eq!(home.value("K", Place::Skill, "t"), Ok("of t".to_owned()));
}

#[test]
fn a_staged_value_is_used_only_after_it_is_accepted() {
    let home = home();
    home.store.stage("K", "s", secret("new"), "ap-1").unwrap();
    assert_eq!(home.value("K", Place::Skill, "s"), Err(Code::SecretMissing));
    assert_eq!(
        home.store.locate("K", "s").unwrap_err().code,
        Code::SecretMissing
    );
    // Another request's grant or refusal is not this one's.
    assert!(!home.store.accept("K", "s", "ap-2").unwrap());
    assert!(!home.store.discard("K", "s", "ap-2").unwrap());
    assert!(home.store.accept("K", "s", "ap-1").unwrap());
    assert!(!home.store.accept("K", "s", "ap-1").unwrap());
    assert_eq!(home.value("K", Place::Skill, "s"), Ok("new".to_owned()));
    // One that is in use stays while another waits, and when that is denied.
    home.store.stage("K", "s", secret("newer"), "ap-1").unwrap();
    assert_eq!(home.value("K", Place::Skill, "s"), Ok("new".to_owned()));
    assert!(home.store.discard("K", "s", "ap-1").unwrap());
    assert!(!home.store.discard("K", "s", "ap-1").unwrap());
    assert_eq!(home.value("K", Place::Skill, "s"), Ok("new".to_owned()));
    assert!(!fs::read_to_string(home.path()).unwrap().contains("newer"));
    // The grant is taken back: what it brought goes, what an operator set stays.
    assert!(!home.store.withdraw("K", "s", "ap-2").unwrap());
    assert!(home.store.withdraw("K", "s", "ap-1").unwrap());
    assert_eq!(home.value("K", Place::Skill, "s"), Err(Code::SecretMissing));
    home.store.set("K", Some("s"), secret("set")).unwrap();
    assert!(!home.store.withdraw("K", "s", "ap-1").unwrap());
}

#[test]
fn what_waits_for_one_request_is_not_taken_by_another() {
    let home = home();
    home.store.stage("K", "s", secret("first"), "ap-1").unwrap();
    home.store
        .stage("K", "s", secret("second"), "ap-2")
        .unwrap();
    let waiting = &home.store.owned().unwrap()["s"]["K"].waiting;
    assert_eq!(waiting, &["ap-1", "ap-2"]);
    assert!(home.store.discard("K", "s", "ap-1").unwrap());
    assert!(home.store.accept("K", "s", "ap-2").unwrap());
    assert_eq!(home.value("K", Place::Skill, "s"), Ok("second".to_owned()));
    // A file of before: what waits there waits for nobody that can be known.
    home.write("[skills.s]\nK = { value = \"v\", pending = \"p\" }\n");
    let owned = &home.store.owned().unwrap()["s"]["K"];
    assert_eq!(
        (owned.in_use, owned.waiting.as_slice()),
        (true, &[String::new()][..])
    );
    home.store.set("L", None, secret("x")).unwrap();
    assert_eq!(home.store.values().unwrap().len(), 3);
    home.write("[skills.s]\nK = { pending = \"p\", pending-of = \"ap-3\" }\n");
    assert_eq!(home.store.owned().unwrap()["s"]["K"].waiting, ["ap-3"]);
    assert!(home.store.accept("K", "s", "ap-3").unwrap());
    assert_eq!(home.value("K", Place::Skill, "s"), Ok("p".to_owned()));
}

#[test]
fn nobody_fills_the_store() {
    let home = home();
    // Each byte of it is written as six.
    let large = || secret(&"\u{7f}".repeat(60_000));
    let stage = |index: usize| {
        let request = format!("ap-{index}");
        home.store.stage("K", "s", large(), &request)
    };
    let full = (0..40).find_map(|index| stage(index).err()).unwrap();
    assert_eq!(full.code, Code::Limit);
    assert_eq!(home.store.owned().unwrap()["s"]["K"].waiting.len(), 17);
    // Of other skills something can wait still, until the file would be more than can be read.
    let full = (0..100).find_map(|index| {
        let name = format!("K{index}");
        home.store.set(&name, None, large()).err()
    });
    assert_eq!(full.unwrap().code, Code::Limit);
    assert!(home.store.list().unwrap().len() > 20);
    assert!(home.store.remove("K", Some("s")).unwrap());
    home.store.set("L", None, large()).unwrap();
}

#[test]
fn redaction_gets_every_value() {
    let home = home();
    home.store.set("A", None, secret("1")).unwrap();
    home.store.set("A", Some("s"), secret("2")).unwrap();
    home.store.stage("A", "s", secret("3"), "ap-1").unwrap();
    let values = home.store.values().unwrap();
    let mut values: Vec<&str> = values.iter().map(ExposeSecret::expose_secret).collect();
    values.sort_unstable();
    assert_eq!(values, ["1", "2", "3"]);
}

#[test]
fn two_writers_lose_nothing() {
    let home = home();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = SecretStore::new(home.folder.path(), &[]);
            scope.spawn(move || {
                for index in 0..5 {
                    store
                        .set(&format!("K{writer}_{index}"), None, secret("v"))
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(home.store.list().unwrap().len(), 20);
}

#[test]
fn names_and_values_have_bounds() {
    let home = home();
    let long = "x".repeat(129);
    for name in ["", "a b", "a\nb", long.as_str()] {
        let failure = home.store.set(name, None, secret("v")).unwrap_err();
        assert_eq!(failure.code, Code::InvalidRequest, "{name:?}");
    }
    for value in [String::new(), "x".repeat(65_537)] {
        let failure = home.store.set("K", None, secret(&value)).unwrap_err();
        assert_eq!(failure.code, Code::InvalidRequest);
    }
    assert!(!home.path().exists());
}

#[test]
fn only_a_process_that_says_so_leaves_no_core_dump() {
    let limit = || rustix::process::getrlimit(Resource::Core);
    let before = limit();
    let home = home();
    home.store.set("K", None, secret("v")).unwrap();
    assert_eq!(limit(), before);
    forbid_core_dumps();
    let least = Some(before.maximum.map_or(1, |bytes| bytes.min(1)));
    assert_eq!((limit().current, limit().maximum), (least, least));
}
