use super::*;

fn read(text: &str) -> Result<Imports, NotAComponent> {
    imports(&wat::parse_str(text).unwrap())
}

/// A component that imports an instance with one function under each name.
fn importing(names: &[&str]) -> Imports {
    let import = |name| format!(r#"(import "{name}" (instance (export "f" (func))))"#);
    let imports: String = names.iter().map(import).collect();
    read(&format!("(component {imports})")).unwrap()
}

#[test]
fn each_interface_has_its_kind() {
    let pairs = HostInterface::ALL.map(|interface| (interface.name(), interface.kind()));
    assert_eq!(
        pairs,
        [
            ("fs-read", "fs.read"),
            ("fs-write", "fs.write"),
            ("fetch", "net.http"),
            ("process", "exec.safe")
        ]
    );
    for interface in HostInterface::ALL {
        let found = importing(&[&format!("hydrant:host/{}@0.1.0", interface.name())]);
        assert_eq!(found.host.into_iter().collect::<Vec<_>>(), [interface]);
        assert!(found.other.is_empty());
    }
}

#[test]
fn a_core_module_and_other_bytes_are_no_component() {
    assert_eq!(read("(module)"), Err(NotAComponent::CoreModule));
    assert_eq!(imports(b""), Err(NotAComponent::NotWasm));
    assert_eq!(imports(b"#!/bin/sh"), Err(NotAComponent::NotWasm));
    let whole = wat::parse_str(r#"(component (import "a" (func)))"#).unwrap();
    for end in 9..12 {
        let error = imports(&whole[..end]).unwrap_err();
        assert!(
            matches!(error, NotAComponent::Malformed(_)),
            "{end}: {error}"
        );
    }
    let mut broken = whole;
    broken[8] = 0xff;
    let error = imports(&broken).unwrap_err();
    assert!(matches!(error, NotAComponent::Malformed(_)), "{error}");
}

#[test]
fn the_empty_component_imports_nothing() {
    assert_eq!(imports(&crate::vectors::WASM), Ok(Imports::default()));
}

#[test]
fn inert_wasi_is_allowed() {
    let found = importing(&[
        "wasi:cli/environment@0.2.6",
        "wasi:io/streams@0.2.0",
        "wasi:clocks/wall-clock@0.2.10",
        "wasi:random/random@0.2.3",
        "wasi:filesystem/types@0.2.6",
    ]);
    assert_eq!(found, Imports::default());
}

#[test]
fn everything_else_is_not() {
    let names = [
        "wasi:sockets/tcp@0.2.6",
        "wasi:http/outgoing-handler@0.2.6",
        "wasi:cli/environment",
        "wasi:cli/environment@0.3.0",
        "wasi:cli/environment@0.2.0-rc-2023-11-10",
        "wasi:client/environment@0.2.6",
        "hydrant:host/fs-read",
        "hydrant:host/fs-read@0.1.1",
        "hydrant:host/fs-read@0.2.0",
        "hydrant:host/fs-delete@0.1.0",
        "hydrant:hosts/fs-read@0.1.0",
        "other:host/fs-read@0.1.0",
        "fs-read",
    ];
    let found = importing(&names);
    assert!(found.host.is_empty());
    assert_eq!(found.other, names);
}

#[test]
fn imports_that_are_no_instances_are_not_allowed() {
    let found = read(
        r#"(component
            (import "a" (func))
            (import "b" (core module))
            (import "c" (component))
            (import "d" (type (sub resource))))"#,
    );
    assert_eq!(found.unwrap().other, ["a", "b", "c", "d"]);
}

#[test]
fn a_name_for_a_known_type_grants_nothing_and_a_resource_may() {
    let named =
        read(r#"(component (type $e (enum "a")) (import "skill-error" (type (eq $e))))"#).unwrap();
    assert_eq!(named, Imports::default());
    let resource = read(r#"(component (import "socket" (type (sub resource))))"#).unwrap();
    assert_eq!(resource.other, ["socket"]);
}

#[test]
fn an_interface_of_the_package_without_functions_is_allowed() {
    let types =
        r#"(import "hydrant:host/types@0.1.0" (instance (export "t" (type (sub resource)))))"#;
    assert_eq!(
        read(&format!("(component {types})")).unwrap(),
        Imports::default()
    );
    // Types, aliases and exports before it must not be mistaken for it.
    let found = read(&format!(
        r#"(component
            (type $plain (instance (export "t" (type (sub resource)))))
            (import "hydrant:host/fetch@0.1.0" (instance $fetch (export "t" (type (sub resource))) (export "f" (func))))
            (alias export $fetch "t" (type $t))
            (export "t" (type $t))
            {types}
            (import "hydrant:host/more@0.1.0" (instance (export "f" (func)))))"#
    ))
    .unwrap();
    assert_eq!(
        found.host.into_iter().collect::<Vec<_>>(),
        [HostInterface::Fetch]
    );
    assert_eq!(found.other, ["hydrant:host/more@0.1.0"]);
}

#[test]
fn a_function_inside_an_inner_instance_is_a_function() {
    let found = read(
        r#"(component (import "hydrant:host/types@0.1.0"
            (instance (export "inner" (instance (export "f" (func)))))))"#,
    );
    assert_eq!(found.unwrap().other, ["hydrant:host/types@0.1.0"]);
}

#[test]
fn what_an_inner_component_imports_is_not_asked_of_the_host() {
    let found = read(
        r#"(component
            (component (import "wasi:sockets/tcp@0.2.6" (instance (export "f" (func)))))
            (import "hydrant:host/process@0.1.0" (instance (export "f" (func)))))"#,
    )
    .unwrap();
    assert_eq!(
        found.host.into_iter().collect::<Vec<_>>(),
        [HostInterface::Process]
    );
    assert!(found.other.is_empty());
}

#[test]
fn types_that_nest_without_end_are_refused_before_they_are_read() {
    // `41 01 01` opens a component type with one declaration, a type.
    let nested = |depth: usize| {
        let section = [&[1], &[0x41, 1, 1].repeat(depth)[..], &[0x41, 0]].concat();
        let mut component = crate::vectors::WASM.to_vec();
        component.push(7);
        let mut length = section.len();
        while length > 0x7f {
            component.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        component.push(u8::try_from(length).unwrap());
        component.extend(section);
        imports(&component)
    };
    assert_eq!(nested(99), Ok(Imports::default()));
    assert_eq!(nested(100), Err(NotAComponent::NestedTypes));
    assert_eq!(nested(1_000_000), Err(NotAComponent::NestedTypes));
}

#[test]
fn names_are_shown_escaped() {
    // The text format allows no such name, so it is put into the bytes.
    let mut bytes = wat::parse_str(r#"(component (import "abc" (func)))"#).unwrap();
    let at = bytes.windows(3).position(|name| name == b"abc").unwrap();
    bytes[at + 1] = b'\n';
    assert_eq!(imports(&bytes).unwrap().other, [r"a\u{a}c"]);
}

/// An inner component is compiled with the outer one.
#[test]
fn types_that_nest_within_an_inner_component_are_refused_too() {
    let length = |mut length: usize| {
        let mut bytes = Vec::new();
        while length > 127 {
            bytes.push(u8::try_from(length & 127).unwrap() | 128);
            length >>= 7;
        }
        bytes.push(u8::try_from(length).unwrap());
        bytes
    };
    let section = |id: u8, content: &[u8]| [&[id][..], &length(content.len()), content].concat();
    let preamble = crate::vectors::WASM;
    let nested = [
        &[0x01][..],
        &[0x41, 0x01, 0x01].repeat(5_000),
        &[0x41, 0x00],
    ]
    .concat();
    let inner = [&preamble[..], &section(7, &nested)].concat();
    let outer = [&preamble[..], &section(4, &inner)].concat();
    assert_eq!(imports(&outer), Err(NotAComponent::NestedTypes));
}
