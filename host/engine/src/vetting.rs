//! What code may consist of before the compiler sees it.
//!
//! A tool that is a component is untrusted down to its last byte, and of a bundle a signature says no more than who
//! made it. A compiler is no sandbox: nested types make it recurse, and a few kilobytes of branches over many locals
//! make it allocate gigabytes, neither of which a budget of the guest can stop. So the bytes are walked first, section by
//! section, without recursion and in linear time, and what no ordinary component holds is refused. The bounds are on what
//! costs the compiler memory, not on what a component may do.

use hydrant_trust::{MAX_NESTED_TYPES, nested_types};
use wasmparser::{
    BinaryReaderError, BlockType, FunctionBody, Operator, Parser, Payload, TypeSectionReader,
};

/// Components and modules within a component, nested or side by side.
const MAX_PARTS: usize = 64;
/// Parameters of a function.
const MAX_PARAMETERS: usize = 256;
/// Results of a function or a block; a block may take as many values as a function has parameters.
const MAX_RESULTS: usize = 16;
/// Bytes of one function's code.
const MAX_BODY: usize = 512 * 1024;
/// Blocks and branches of one function.
const MAX_JOINS: usize = 20_000;
/// Points where control flow meets, times the values that may be alive there, over all functions: what the
/// compiler's own tables grow with; and the blocks that are open there. An ordinary component of 1 MiB needs a quarter.
const MAX_JOINED_VALUES: usize = 8_000_000;

/// What may grow with the code as a whole. What a single function may cost is the same for all.
struct Bounds {
    /// Bytes of the component or module.
    bytes: usize,
    /// Function types of all modules.
    types: usize,
    /// Functions of all modules, and those that components make of others.
    functions: usize,
    /// As [`MAX_JOINED_VALUES`], over all functions.
    joined_values: usize,
}

/// A tool that is a component.
const TOOL: Bounds = Bounds {
    bytes: 4 * 1024 * 1024,
    types: 5_000,
    functions: 20_000,
    joined_values: MAX_JOINED_VALUES,
};

/// A component or core module of a bundle: as large as bundles may hold one, and as dense as a tool.
const BUNDLE: Bounds = Bounds {
    bytes: 16 * 1024 * 1024,
    types: 20_000,
    functions: 80_000,
    joined_values: 4 * MAX_JOINED_VALUES,
};

/// Why a component is not compiled.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// It does not parse.
    #[error("{0}")]
    Malformed(#[from] BinaryReaderError),
    /// It is larger than anything ordinary.
    #[error("{what}: at most {limit}")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}

/// Walks a component and refuses what would cost the compiler too much.
pub(super) fn vet(component: &[u8]) -> Result<(), Refused> {
    vet_within(component, &TOOL)
}

/// As [`vet`], for a component or core module of a bundle.
pub(super) fn vet_bundle(module: &[u8]) -> Result<(), Refused> {
    vet_within(module, &BUNDLE)
}

fn vet_within(code: &[u8], bounds: &'static Bounds) -> Result<(), Refused> {
    within("bytes", code.len(), bounds.bytes)?;
    let mut tally = Tally::new(bounds);
    for payload in Parser::new(0).parse_all(code) {
        tally.take(payload?, code)?;
    }
    Ok(())
}

struct Tally {
    bounds: &'static Bounds,
    parts: usize,
    types: usize,
    functions: usize,
    joined_values: usize,
    /// The modules and components that have begun and not ended. Of a component nothing is noted here.
    open: Vec<Module>,
}

/// What is known of a module so far.
#[derive(Default)]
struct Module {
    /// Parameters of each of its types.
    types: Vec<usize>,
    /// Parameters of each of its functions, in the order of the code.
    functions: Vec<usize>,
    /// Functions whose code was seen.
    seen: usize,
}

impl Tally {
    fn new(bounds: &'static Bounds) -> Self {
        Self {
            bounds,
            parts: 0,
            types: 0,
            functions: 0,
            joined_values: 0,
            open: Vec::new(),
        }
    }

    fn take(&mut self, payload: Payload<'_>, component: &[u8]) -> Result<(), Refused> {
        match payload {
            Payload::Version { .. } => {
                self.parts = self.parts.saturating_add(1);
                within("components and modules", self.parts, MAX_PARTS)?;
                self.open.push(Module::default());
            }
            Payload::End(_) => {
                self.open.pop();
            }
            Payload::ComponentTypeSection(section) => {
                let bytes = component.get(section.range()).unwrap_or_default();
                within("types within types", nested_types(bytes), MAX_NESTED_TYPES)?;
            }
            Payload::ComponentCanonicalSection(section) => self.functions(section.count())?,
            Payload::TypeSection(section) => self.types(section)?,
            Payload::FunctionSection(section) => {
                self.functions(section.count())?;
                let Some(module) = self.open.last_mut() else {
                    return Ok(());
                };
                for index in section {
                    let parameters = module.types.get(usize_of(index?)).copied();
                    module.functions.push(parameters.unwrap_or_default());
                }
            }
            Payload::CodeSectionEntry(body) => self.body(&body)?,
            _ => {}
        }
        Ok(())
    }

    fn functions(&mut self, more: u32) -> Result<(), Refused> {
        self.functions = self.functions.saturating_add(usize_of(more));
        within("functions", self.functions, self.bounds.functions)
    }

    fn types(&mut self, section: TypeSectionReader<'_>) -> Result<(), Refused> {
        self.types = self.types.saturating_add(usize_of(section.count()));
        within("function types", self.types, self.bounds.types)?;
        for function in section.into_iter_err_on_gc_types() {
            let function = function?;
            within("parameters", function.params().len(), MAX_PARAMETERS)?;
            within("results", function.results().len(), MAX_RESULTS)?;
            if let Some(module) = self.open.last_mut() {
                module.types.push(function.params().len());
            }
        }
        Ok(())
    }

    fn body(&mut self, body: &FunctionBody<'_>) -> Result<(), Refused> {
        within("bytes of a function", body.range().len(), MAX_BODY)?;
        let mut values = MAX_RESULTS;
        if let Some(module) = self.open.last_mut() {
            values = values.saturating_add(
                module
                    .functions
                    .get(module.seen)
                    .copied()
                    .unwrap_or_default(),
            );
            module.seen = module.seen.saturating_add(1);
        }
        for locals in body.get_locals_reader()? {
            values = values.saturating_add(usize_of(locals?.0));
        }
        let mut joins = 1_usize;
        // What all blocks take from the stack, over and over from the same few bytes.
        let mut taken = 0_usize;
        // How deep each block and branch lies: what is open around it costs time each time.
        let (mut depth, mut depths) = (0_usize, 0_usize);
        for operator in body.get_operators_reader()? {
            let more = match operator? {
                Operator::BrTable { targets } => usize_of(targets.len()).saturating_add(1),
                Operator::Block { blockty }
                | Operator::Loop { blockty }
                | Operator::If { blockty } => {
                    depth = depth.saturating_add(1);
                    taken = taken.saturating_add(self.taken_by(blockty));
                    1
                }
                Operator::End => {
                    depth = depth.saturating_sub(1);
                    0
                }
                Operator::Else | Operator::Br { .. } | Operator::BrIf { .. } => 1,
                _ => 0,
            };
            joins = joins.saturating_add(more);
            depths = depths.saturating_add(more.saturating_mul(depth));
        }
        within("branches of a function", joins, MAX_JOINS)?;
        let values = values.saturating_add(taken);
        let joined = joins.saturating_mul(values).saturating_add(depths);
        within("values at branches", joined, MAX_JOINED_VALUES)?;
        self.joined_values = self.joined_values.saturating_add(joined);
        within(
            "values at branches",
            self.joined_values,
            self.bounds.joined_values,
        )
    }

    /// The values that a block takes from the stack.
    fn taken_by(&self, block: BlockType) -> usize {
        let types = self.open.last().map(|module| &module.types);
        match block {
            BlockType::FuncType(index) => types
                .and_then(|types| types.get(usize_of(index)))
                .copied()
                .unwrap_or_default(),
            BlockType::Empty | BlockType::Type(_) => 0,
        }
    }
}

fn within(what: &'static str, amount: usize, limit: usize) -> Result<(), Refused> {
    if amount > limit {
        Err(Refused::TooMuch { what, limit })
    } else {
        Ok(())
    }
}

fn usize_of(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let bytes = wat::parse_str(text).unwrap();
        vet(&bytes).expect_err("refused").to_string()
    }

    const LOWERING: &str = r#"(component (import "i" (func $f))"#;

    fn many(item: &str, count: usize) -> String {
        item.repeat(count)
    }

    #[test]
    fn an_ordinary_component_passes_with_room_to_spare() {
        let component = std::fs::read("../../skills/content.hydrate/0.1.0/skill.wasm").unwrap();
        let mut tally = Tally::new(&TOOL);
        for payload in Parser::new(0).parse_all(&component) {
            tally.take(payload.unwrap(), &component).unwrap();
        }
        assert!(
            tally.joined_values < MAX_JOINED_VALUES / 3,
            "{}",
            tally.joined_values
        );
        assert!(tally.functions < TOOL.functions / 3, "{}", tally.functions);
    }

    #[test]
    fn types_nested_in_types_never_reach_the_recursive_parser() {
        // A component whose one type section nests instance types 100,000 deep.
        let depth = 100_000;
        let mut types = vec![0x01];
        types.extend([0x42, 0x01, 0x01].repeat(depth));
        types.extend([0x42, 0x00]);
        let mut component = vec![0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00, 0x07];
        let mut length = types.len();
        while length > 127 {
            component.push(u8::try_from(length & 127).unwrap() | 128);
            length >>= 7;
        }
        component.push(u8::try_from(length).unwrap());
        component.extend(types);
        assert_eq!(
            vet(&component).unwrap_err().to_string(),
            "types within types: at most 100"
        );
    }

    #[test]
    fn what_costs_the_compiler_memory_is_bounded() {
        let module = |inside: &str| format!("(component (core module {inside}))");
        let cases = [
            (
                format!("(component {})", many("(component)", 64)),
                "components and modules: at most 64",
            ),
            (module(&many("(func)", 20_001)), "functions: at most 20000"),
            (
                format!(
                    "{LOWERING} {})",
                    many("(core func (canon lower (func $f)))", 20_001)
                ),
                "functions: at most 20000",
            ),
            (
                module(&many("(type (func))", 5_001)),
                "function types: at most 5000",
            ),
            (
                // Each loop takes all the values of the one around it, for three bytes.
                module(&format!(
                    "(type $t (func (param {}))) (func (type $t) {} unreachable {})",
                    many("i32 ", 250),
                    many("local.get 0 ", 250) + &many("loop (type $t) ", 200),
                    many("end ", 200)
                )),
                "values at branches: at most 8000000",
            ),
            (
                module(&format!("(func (param {}))", many("i32 ", 257))),
                "parameters: at most 256",
            ),
            (
                module(&format!("(func (result {}) unreachable)", many("i32 ", 17))),
                "results: at most 16",
            ),
            (
                module(&format!("(func {})", many("nop ", 600_000))),
                "bytes of a function: at most 524288",
            ),
            (
                module(&format!(
                    "(func (local {}) {})",
                    many("i64 ", 20_000),
                    many("block end ", 500)
                )),
                "values at branches: at most 8000000",
            ),
            (
                module(&format!(
                    "(func {} {})",
                    many("loop i32.const 0 br_if 0 ", 4_000),
                    many("end ", 4_000)
                )),
                "values at branches: at most 8000000",
            ),
            (
                module(&format!("(func {})", many("block end ", 20_000))),
                "branches of a function: at most 20000",
            ),
        ];
        for (text, reason) in cases {
            assert_eq!(refused(&text), reason);
        }
    }

    #[test]
    fn a_core_module_may_be_four_times_as_large_and_no_denser() {
        let module = |inside: &str| wat::parse_str(format!("(module {inside})")).unwrap();
        let functions = module(&many("(func)", 20_001));
        assert!(vet(&functions).is_err());
        assert!(vet_bundle(&functions).is_ok());
        assert!(vet_bundle(&module(&many("(func)", 80_001))).is_err());
        let dense = format!(
            "(func (local {}) {})",
            many("i64 ", 20_000),
            many("block end ", 500)
        );
        let refused = vet_bundle(&module(&dense)).unwrap_err();
        assert_eq!(refused.to_string(), "values at branches: at most 8000000");
    }

    #[test]
    fn what_does_not_parse_is_refused() {
        for bytes in [&b""[..], b"\0asm", b"\0asm\x0d\0\x01\0\x07\xff", b"MZ"] {
            assert!(
                matches!(vet(bytes), Err(Refused::Malformed(_))),
                "{bytes:?}"
            );
        }
    }
}
