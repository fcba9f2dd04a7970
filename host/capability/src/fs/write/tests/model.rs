//! Random lists of changes against a model in memory.

use proptest::prelude::*;

use super::*;

/// Files by path; directories follow from them and stay once made.
type Model = BTreeMap<String, (Vec<u8>, bool)>;

const PATHS: [&str; 6] = ["a", "b", "d/a", "d/e/b", "f", "f/g"];

#[derive(Debug, Clone)]
struct Ask {
    path: usize,
    /// Expect what the model holds, or something else.
    right: bool,
    content: Option<(u8, bool)>,
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let ask = (
        0..PATHS.len(),
        proptest::bool::weighted(0.9),
        proptest::option::of((0_u8..3, any::<bool>())),
    )
        .prop_map(|(path, right, content)| Ask {
            path,
            right,
            content,
        });
    proptest::collection::vec(ask, 1..5)
}

/// The list as asked, and what the model is after it if it can be done.
fn planned(model: &Model, directories: &[&str], asks: &[Ask]) -> (Vec<Change>, Option<Model>) {
    let mut after = Some(model.clone());
    let mut changes = Vec::new();
    for (number, ask) in asks.iter().enumerate() {
        let path = PATHS[ask.path];
        let held = model.get(path);
        let expected = match (held, ask.right) {
            (Some((bytes, _)), true) => sha256(bytes),
            (Some(_), false) | (None, true) => Expected::Absent,
            (None, false) => sha256(b"other"),
        };
        let content = ask.content.map(|(byte, executable)| Content {
            bytes: vec![byte; 3],
            executable,
        });
        changes.push(change(path, expected, content.clone()));
        let others = asks.iter().take(number).map(|other| PATHS[other.path]);
        let below = |one: &str, other: &str| one == other || one.starts_with(&format!("{other}/"));
        let collides = others
            .into_iter()
            .any(|other| below(path, other) || below(other, path));
        let in_the_way = directories.contains(&path)
            || content.is_some()
                && model
                    .keys()
                    .any(|other| other != path && below(path, other))
            || model
                .keys()
                .any(|other| other != path && below(other, path));
        if !ask.right || collides || in_the_way {
            after = None;
        }
        if let Some(after) = &mut after {
            match content {
                Some(content) => after.insert(path.to_owned(), (content.bytes, content.executable)),
                None => after.remove(path),
            };
        }
    }
    (changes, after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is asked for, all of it happens or nothing.
    #[test]
    fn a_list_happens_whole_or_not_at_all(lists in proptest::collection::vec(asks(), 1..6)) {
        let site = Site::new();
        let call = site.writer("");
        let mut model = Model::new();
        for list in lists {
            let before = contents(&site.work());
            let directories: Vec<_> = before
                .iter()
                .filter(|(_, (_, bytes))| bytes.is_none())
                .map(|(path, _)| path.as_str())
                .collect();
            let (changes, after) = planned(&model, &directories, &list);
            let answer = apply(&call, changes).unwrap();
            prop_assert_eq!(answer.is_ok(), after.is_some(), "{:?} {:?}", answer, list);
            let now = contents(&site.work());
            match after {
                Some(after) => model = after,
                None => prop_assert_eq!(&now, &before),
            }
            let files: Model = now
                .into_iter()
                .filter_map(|(path, (mode, bytes))| Some((path, (bytes?, mode & 0o100 != 0))))
                .collect();
            prop_assert_eq!(&files, &model);
            prop_assert_eq!(journals(&site), Vec::<String>::new());
        }
    }
}
