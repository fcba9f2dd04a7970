use toml::Table;

use super::*;

fn read(text: &str) -> (Settings, Vec<Problem>) {
    let table: Table = toml::from_str(text).unwrap();
    Settings::read(table.get("hydrate"), Path::new("/home/u/hydrant.toml"))
}

fn keys(problems: &[Problem]) -> Vec<(&str, bool)> {
    problems
        .iter()
        .map(|problem| (problem.key.as_str(), problem.unknown))
        .collect()
}

#[test]
fn without_a_table_everything_is_the_default() {
    let (settings, problems) = read("policy = \"p.yaml\"");
    assert!(problems.is_empty());
    assert!(settings.enabled);
    assert_eq!(settings.mode, Mode::Inline);
    assert_eq!(settings.tmp_dir, default_tmp_dir());
    assert_eq!(
        (settings.model.as_str(), settings.tracker.as_str()),
        ("haiku", "none")
    );
    assert_eq!((settings.budget_ms, settings.max_todos), (15_000, 12));
    assert_eq!(settings.memory, MemorySettings::Notes(None));
    assert_eq!(settings.llm, None);
}

#[test]
fn every_key_of_the_chapter_is_known() {
    let (settings, problems) = read(
        "[hydrate]\nenabled = false\nmode = \"inline\"\ntmp_dir = \"/t\"\nmodel = \"opus/4.1\"\n\
         tracker = \"none\"\ntask_tool = \"update_plan\"\nbudget_ms = 1000\nmax_todos = 1\n\
         catalog = \"flows\"\npacks = [\"extended\"]\n\
         budgets = { memory = 0, codebase = 4000, session = 1 }\n\
         templates = { context = \"c.md\", instruction = \"/i.md\" }\n\
         [hydrate.memory]\nkind = \"http\"\nurl = \"https://notes.example/find\"\ndir = \"n\"\n\
         [hydrate.llm]\nenabled = true\nwhen = \"always\"\ndialect = \"anthropic\"\n\
         base_url = \"http://127.0.0.1:8000\"\nmodel = \"m-1\"\napi_key_env = \"KEY\"\n\
         max_output_tokens = 5\ntemperature = \"omit\"\njson_schema = true\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    assert!(!settings.enabled);
    assert_eq!(settings.mode, Mode::Inline);
    assert_eq!(
        settings.catalog.as_deref(),
        Some(Path::new("/home/u/flows"))
    );
    assert_eq!(
        settings.templates.context.as_deref(),
        Some(Path::new("/home/u/c.md"))
    );
    assert_eq!(
        settings.templates.instruction.as_deref(),
        Some(Path::new("/i.md"))
    );
    assert!(matches!(settings.memory, MemorySettings::Http(_)));
    let llm = settings.llm.unwrap();
    assert!(llm.enabled && llm.json_schema);
    assert_eq!((llm.when, llm.dialect), (When::Always, Dialect::Anthropic));
    assert_eq!((llm.temperature, llm.max_output_tokens), (None, 5));
}

#[test]
fn a_wrong_value_names_key_and_file_and_leaves_the_default() {
    for (text, key) in [
        ("enabled = 1", "enabled"),
        ("mode = \"both\"", "mode"),
        ("tmp_dir = \"relative\"", "tmp_dir"),
        ("model = \"a b\"", "model"),
        ("model = \"\"", "model"),
        ("tracker = \"a\\nb\"", "tracker"),
        ("task_tool = 3", "task_tool"),
        ("budget_ms = 999", "budget_ms"),
        ("budget_ms = 15001", "budget_ms"),
        ("budget_ms = \"1000\"", "budget_ms"),
        ("max_todos = 0", "max_todos"),
        ("max_todos = 13", "max_todos"),
        ("catalog = \"\"", "catalog"),
        ("packs = [\"../x\"]", "packs"),
        ("budgets = { memory = 4001 }", "budgets.memory"),
        ("budgets = { session = -1 }", "budgets.session"),
        ("budgets = 3", "budgets"),
        ("templates = { context = true }", "templates.context"),
        ("memory = { kind = \"sql\" }", "memory.kind"),
        ("memory = { url = \"http://notes.example/\" }", "memory.url"),
        (
            "memory = { url = \"https://u:p@notes.example/\" }",
            "memory.url",
        ),
        ("memory = { kind = \"http\" }", "memory.kind"),
        ("llm = { enabled = true }", "llm.enabled"),
        ("llm = { base_url = \"http://10.0.0.1/\" }", "llm.base_url"),
        ("llm = { api_key_env = \"A B\" }", "llm.api_key_env"),
        ("llm = { temperature = 3 }", "llm.temperature"),
    ] {
        let (settings, problems) = read(&format!("[hydrate]\n{text}"));
        let key = format!("hydrate.{key}");
        assert_eq!(keys(&problems), [(key.as_str(), false)], "{text}");
        let message = &problems.first().unwrap().message;
        assert!(message.starts_with("/home/u/hydrant.toml: "), "{message}");
        assert!(message.contains(&key), "{message}");
        let default = Settings::default();
        assert_eq!(settings.tmp_dir, default.tmp_dir);
        assert_eq!(settings.budgets, default.budgets);
        assert_eq!(settings.max_todos, default.max_todos);
    }
}

#[test]
fn a_key_that_is_not_known_is_told_as_such() {
    let (_, problems) = read(
        "[hydrate]\nmodle = \"x\"\n[hydrate.memory]\npath = \"x\"\n[hydrate.llm]\nkey = \"x\"\n",
    );
    let mut found = keys(&problems);
    found.sort();
    assert_eq!(
        found,
        [
            ("hydrate.llm.key", true),
            ("hydrate.memory.path", true),
            ("hydrate.modle", true)
        ]
    );
    assert!(problems.iter().all(|problem| !problem.stops_the_hook()));
}

#[test]
fn only_a_wrong_place_or_template_stops_the_hook() {
    let (_, problems) = read(
        "[hydrate]\ntmp_dir = 1\nmodel = 1\ntemplates = { context = 1 }\nbudgets = { memory = \"x\" }\n",
    );
    let mut stopping: Vec<_> = problems
        .iter()
        .filter(|problem| problem.stops_the_hook())
        .map(|problem| problem.key.as_str())
        .collect();
    stopping.sort_unstable();
    assert_eq!(stopping, ["hydrate.templates.context", "hydrate.tmp_dir"]);
    let (_, problems) = read("hydrate = 3");
    assert_eq!(keys(&problems), [("hydrate", false)]);
}

#[test]
fn to_name_a_server_is_to_ask_it() {
    let kind = |text: &str| read(&format!("[hydrate.memory]\n{text}")).0.memory;
    let url = "url = \"https://notes.example/\"\n";
    assert!(matches!(kind(url), MemorySettings::Http(_)));
    assert_eq!(
        kind(&format!("{url}kind = \"notes\"")),
        MemorySettings::Notes(None)
    );
    assert_eq!(kind(&format!("{url}kind = \"off\"")), MemorySettings::Off);
    assert_eq!(
        kind("dir = \"n\""),
        MemorySettings::Notes(Some("/home/u/n".into()))
    );
}

/// Each key of a schema, from `hydrate` on, with what is said of it.
fn keys_of(schema: &serde_json::Value, name: &str) -> Vec<(String, serde_json::Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .flat_map(|(key, value)| {
            let name = format!("{name}.{key}");
            let mut keys = keys_of(value, &name);
            keys.push((name, value.clone()));
            keys
        })
        .collect()
}

/// What the reader says of one value.
fn problems_of(key: &str, value: &str) -> Vec<Problem> {
    let (table, key) = key.rsplit_once('.').unwrap();
    read(&format!("[{table}]\n{key} = {value}")).1
}

#[test]
fn the_schema_for_editors_has_the_keys_bounds_and_words_of_the_reader() {
    let schema = crate::schema::for_toml::<Settings>("");
    let keys = keys_of(&schema, "hydrate");
    let mut notes = Notes::default();
    let tables: Table =
        toml::from_str("budgets = {}\ntemplates = {}\nmemory = {}\nllm = {}").unwrap();
    Settings::read_noting(&Value::Table(tables), Path::new("x"), &mut notes);
    let named: std::collections::BTreeSet<_> = keys.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(named, notes.known);

    let (mut bounds, mut words) = (0, 0);
    for (key, value) in &keys {
        assert!(value["description"].is_string(), "{key}");
        // The words and numbers of a value that may be one or the other stand side by side, as do words with a text each.
        let either = ["anyOf", "oneOf"].into_iter();
        let either = either.filter_map(|name| value[name].as_array()).flatten();
        for choice in either.chain([value]) {
            let numbers = [("minimum", -1), ("maximum", 1)];
            for (bound, beyond) in numbers {
                let Some(number) = choice[bound].as_f64() else {
                    continue;
                };
                bounds += 1;
                assert!(problems_of(key, &format!("{number}")).is_empty(), "{key}");
                let beyond = number + f64::from(beyond);
                assert_eq!(problems_of(key, &format!("{beyond}")).len(), 1, "{key}");
            }
            let listed = choice["enum"].as_array().into_iter().flatten();
            for word in listed
                .chain([&choice["const"]])
                .filter(|word| word.is_string())
            {
                words += 1;
                let problems = problems_of(key, &word.to_string());
                // `http` alone lacks its URL, which is another matter.
                let refused = problems
                    .iter()
                    .any(|problem| problem.message.contains("must be"));
                assert!(!refused, "{key} {word}: {problems:?}");
            }
        }
    }
    assert!(
        bounds >= 12 && words >= 10,
        "{bounds} bounds, {words} words"
    );
}
