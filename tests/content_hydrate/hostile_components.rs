//! Components made to harm whoever compiles them. None may end the process, fill its memory or hold
//! it up, and each is answered like any other bad tool.

use crate::component::{described, returning};
use crate::os_root::{NONE, OsRoot, Payload, agent};

const FAILED: &str = "ERROR: EXECUTION_FAILED";

const PREAMBLE: &[u8] = &[0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];

/// An unsigned number as the format writes it.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// A component of one section.
fn section(id: u8, contents: &[u8]) -> Vec<u8> {
    [PREAMBLE, &[id], &leb(contents.len()), contents].concat()
}

/// Instance (42) or component (41) types, one within the other.
fn nested_types(kind: u8, depth: usize) -> Vec<u8> {
    let levels = [kind, 0x01, 0x01].repeat(depth);
    section(7, &[&[0x01], levels.as_slice(), &[kind, 0x00]].concat())
}

/// Components, one within the other.
fn nested_components(depth: usize) -> Vec<u8> {
    (0..depth).fold(PREAMBLE.to_vec(), |inner, _| section(4, &inner))
}

/// A core module in a component, with a function that `body` is the text of.
fn function(locals: usize, body: &str, repeat: usize) -> Vec<u8> {
    let (locals, body) = ("i64 ".repeat(locals), body.repeat(repeat));
    wat::parse_str(format!(
        "(component (core module (func (local {locals}) {body})))"
    ))
    .unwrap()
}

/// A function of loops that each take all the values of the one around them, for three bytes: 60 KB of it once
/// took 24 GB to compile.
fn carrying(values: usize, loops: usize) -> Vec<u8> {
    let (params, takes) = ("i32 ".repeat(values), "local.get 0 ".repeat(values));
    let (begin, end) = ("loop (type $t) ".repeat(loops), "end ".repeat(loops));
    let function = format!("(func (type $t) {takes} {begin} unreachable {end})");
    wat::parse_str(format!(
        "(component (core module (type $t (func (param {params}))) {function}))"
    ))
    .unwrap()
}

/// Instance types that each hold the one before: within every bound of ours, and past an assertion of the validator.
fn chained_types(length: usize) -> Vec<u8> {
    let mut types = vec![vec![0x42, 0x00]];
    for previous in 0..length {
        let alias = [&[0x02, 0x03, 0x02, 0x01], leb(previous).as_slice()].concat();
        types.push(
            [
                &[0x42, 0x02],
                alias.as_slice(),
                &[0x04, 0x00, 0x01, 0x61, 0x05, 0x00],
            ]
            .concat(),
        );
    }
    section(7, &[leb(types.len()), types.concat()].concat())
}

#[test]
fn no_component_ends_the_process_or_fills_its_memory() {
    let root = OsRoot::new();
    let many = wat::parse_str(format!(
        "(component (core module {}))",
        "(func)".repeat(200_000)
    ))
    .unwrap();
    let tools = [
        ("instance-types.wasm", nested_types(0x42, 100_000)),
        ("component-types.wasm", nested_types(0x41, 100_000)),
        ("components.wasm", nested_components(10_000)),
        ("functions.wasm", many),
        ("locals.wasm", function(40_000, "block end ", 40_000)),
        (
            "branches.wasm",
            function(1_000, "block local.get 0 i32.wrap_i64 br_if 0 end ", 40_000),
        ),
        ("chained.wasm", chained_types(2_000)),
        ("carried.wasm", carrying(250, 20_000)),
    ];
    for (name, bytes) in &tools {
        root.file(name, bytes);
    }
    root.file("fine.wasm", described("still here"));
    let mut names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
    names.push("fine.wasm");
    root.file("agent.md", agent(NONE, &names));

    let run = root.hydrate(&["agent.md"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, ""),
        "a bad tool is no news for stderr"
    );
    let payload = Payload::from(run);
    for (name, _) in &tools {
        assert_eq!(payload.tool(&format!("os://{name}")), FAILED, "{name}");
    }
    assert_eq!(payload.tool("os://fine.wasm"), "still here");
}

#[test]
fn a_description_does_not_depend_on_how_many_tools_ask_at_once() {
    let root = OsRoot::new();
    let names: Vec<String> = (0..40).map(|tool| format!("tool-{tool}.wasm")).collect();
    for (tool, name) in names.iter().enumerate() {
        // Half of them alike.
        let text = if tool % 2 == 0 {
            "alike".to_owned()
        } else {
            format!("tool {tool}")
        };
        root.file(name, returning(format!(r#"{{"description":"{text}"}}"#)));
    }
    root.file("agent.md", agent(NONE, &names));
    let payload = root.payload(&["agent.md"]);
    for (tool, name) in names.iter().enumerate() {
        let text = if tool % 2 == 0 {
            "alike".to_owned()
        } else {
            format!("tool {tool}")
        };
        assert_eq!(payload.tool(&format!("os://{name}")), text);
    }
}
