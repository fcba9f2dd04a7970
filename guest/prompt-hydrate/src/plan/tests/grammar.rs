//! The grammar of a plan, read by a parser that knows nothing of the code that writes it.

/// What the Markdown of a plan says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) intent: String,
    pub(super) workflow: String,
    pub(super) gate: String,
    pub(super) guardrails: Vec<String>,
    pub(super) context: Vec<String>,
    /// content and activeForm
    pub(super) items: Vec<(String, String)>,
}

/// `plan`, from the first byte to the last.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    let mut p = Parser { rest: text };
    p.eat("## Prompt Hydration\n\n**Intent**: ")?;
    let intent = p.line()?;
    p.eat("**Workflow**: ")?;
    let workflow = p.id()?;
    p.eat(" (")?;
    let gate = p.line()?;
    let gate = gate
        .strip_suffix(')')
        .ok_or("no ) after the gate")?
        .to_owned();
    if gate.is_empty() {
        return Err("empty gate".to_owned());
    }
    p.eat("**Guardrails**: ")?;
    let names = p.line()?;
    let guardrails: Vec<String> = if names == "none" {
        Vec::new()
    } else {
        names.split(", ").map(str::to_owned).collect()
    };
    for name in &guardrails {
        is_name(name)?;
    }
    p.eat("\n### Relevant Context\n\n")?;
    let mut context = Vec::new();
    while p.rest.starts_with("- ") {
        p.eat("- ")?;
        context.push(p.line()?);
    }
    if context.is_empty() {
        return Err("no context".to_owned());
    }
    p.eat("\n### TodoWrite Plan\n\n```javascript\nTodoWrite(todos=[\n")?;
    let mut items = vec![p.item()?];
    while p.rest.starts_with(",\n") {
        p.eat(",\n")?;
        items.push(p.item()?);
    }
    p.eat("\n])\n```\n")?;
    if !p.rest.is_empty() {
        return Err(format!("something follows: {:?}", p.rest));
    }
    Ok(Parsed {
        intent,
        workflow,
        gate,
        guardrails,
        context,
        items,
    })
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn eat(&mut self, literal: &str) -> Result<(), String> {
        self.rest = self
            .rest
            .strip_prefix(literal)
            .ok_or_else(|| format!("expected {literal:?} at {:?}", head(self.rest)))?;
        Ok(())
    }

    fn line(&mut self) -> Result<String, String> {
        let (line, rest) = self.rest.split_once('\n').ok_or("no line end")?;
        if line.is_empty() || line.contains("```") || line.chars().any(char::is_control) {
            return Err(format!("not a line: {line:?}"));
        }
        self.rest = rest;
        Ok(line.to_owned())
    }

    fn id(&mut self) -> Result<String, String> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
            .ok_or("no id")?;
        let (id, rest) = self.rest.split_at(end);
        if !id.starts_with(|c: char| c.is_ascii_lowercase()) || id.len() > 40 {
            return Err(format!("not an id: {id:?}"));
        }
        self.rest = rest;
        Ok(id.to_owned())
    }

    fn item(&mut self) -> Result<(String, String), String> {
        self.eat("  {content: ")?;
        let content = self.string()?;
        self.eat(", status: \"pending\", activeForm: ")?;
        let form = self.string()?;
        self.eat("}")?;
        Ok((content, form))
    }

    /// A JSON string (RFC 8259) without a run of three backticks, non-ASCII unescaped.
    fn string(&mut self) -> Result<String, String> {
        self.eat("\"")?;
        let mut value = String::new();
        let mut chars = self.rest.char_indices();
        loop {
            let (at, c) = chars.next().ok_or("the string does not end")?;
            match c {
                '"' => {
                    let (raw, rest) = self.rest.split_at(at);
                    if raw.contains("```") {
                        return Err("three backticks".to_owned());
                    }
                    self.rest = rest.strip_prefix('"').unwrap();
                    return Ok(value);
                }
                '\\' => match chars.next().ok_or("nothing is escaped")?.1 {
                    c @ ('"' | '\\' | '/') => value.push(c),
                    other => return Err(format!("escape {other:?}")),
                },
                c if c.is_control() => return Err(format!("control character {c:?}")),
                c => value.push(c),
            }
        }
    }
}

fn is_name(name: &str) -> Result<(), String> {
    let (name, parameter) = name.split_once(':').unwrap_or((name, "x"));
    let name_ok = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let parameter_ok = !parameter.is_empty()
        && parameter
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c));
    if name_ok && parameter_ok {
        Ok(())
    } else {
        Err(format!("not a guardrail: {name:?} {parameter:?}"))
    }
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The items of the Markdown with quoted keys: JSON.
pub(super) fn items_as_json(text: &str) -> serde_json::Value {
    let (_, block) = text.split_once("TodoWrite(todos=[\n").unwrap();
    let block = block.strip_suffix("\n])\n```\n").unwrap();
    let quoted: Vec<String> = block
        .lines()
        .map(|line| {
            let line = line.replacen("{content: ", "{\"content\": ", 1);
            let (before, form) = line.rsplit_once(", activeForm: ").unwrap();
            let (before, status) = before.rsplit_once(", status: ").unwrap();
            format!("{before}, \"status\": {status}, \"activeForm\": {form}")
        })
        .collect();
    serde_json::from_str(&format!("[{}]", quoted.join("\n"))).unwrap()
}

#[test]
fn the_parser_refuses_what_is_not_the_grammar() {
    let good = "## Prompt Hydration\n\n**Intent**: x\n**Workflow**: a-b (G (h))\n**Guardrails**: none\n\n### Relevant Context\n\n- c\n\n### TodoWrite Plan\n\n```javascript\nTodoWrite(todos=[\n  {content: \"a \\\" b\", status: \"pending\", activeForm: \"W\"}\n])\n```\n";
    let parsed = parse(good).unwrap();
    assert_eq!(
        (parsed.gate.as_str(), parsed.workflow.as_str()),
        ("G (h)", "a-b")
    );
    assert_eq!(parsed.items, [("a \" b".to_owned(), "W".to_owned())]);
    assert_eq!(items_as_json(good)[0]["content"], "a \" b");
    for (from, to) in [
        ("## Prompt", "# Prompt"),
        ("**Intent**: x", "**Intent**: "),
        ("a-b", "A-b"),
        ("(G (h))", "()"),
        (": none", ": none, a"),
        ("- c\n", ""),
        ("pending", "done"),
        ("\"W\"}", "\"W\"},"),
        ("a \\\"", "a \\u0041"),
        ("a \\\"", "a ```"),
        ("```\n", "```\n\n"),
    ] {
        let bad = good.replacen(from, to, 1);
        // `none` beside another name is a name too; the plan's own check refuses that.
        if to != ": none, a" {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }
}
