//! The parameters of a stage for people; `{NAME}` stands for an input or a secret, and for nothing else.

use serde_json::{Map, Value, json};

use super::text::{escaped, filled};
use crate::{
    Body, HttpStage, JsonNode, Media, MultipartPart, Pair, PartValue, PieceOut, Program,
    SandboxStage, Segments, Stage,
};

/// The parameters of a stage; what is empty is left out.
#[must_use]
pub fn params(stage: &Stage) -> Map<String, Value> {
    params_with(stage, &Map::new())
}

/// The same with values for some of the inputs.
pub(super) fn params_with(stage: &Stage, values: &Map<String, Value>) -> Map<String, Value> {
    let display = |segments: &Segments| filled(segments, values);
    let displayed = |words: &[Segments]| -> Value { words.iter().map(display).collect() };
    let mut params = Map::new();
    let mut put = |name: &str, value: Value| {
        params.insert(name.to_owned(), value);
    };
    match stage {
        Stage::Http(stage) => return http(stage, values),
        Stage::JsonFilter {
            program,
            options,
            args,
            json_args,
            stdin,
        } => {
            put("path", program.as_str().into());
            for option in options {
                put(option, true.into());
            }
            let mut named: Map<String, Value> = args
                .iter()
                .map(|(name, value)| (name.clone(), display(value).into()))
                .collect();
            named.extend(json_args.clone());
            if !named.is_empty() {
                put("args", named.into());
            }
            if let Some(stdin) = stdin {
                put("stdin", display(stdin).into());
            }
        }
        Stage::TextTransform { tool, args, stdin } => {
            put("tool", tool.as_str().into());
            put("args", displayed(args));
            if let Some(stdin) = stdin {
                put("stdin", display(stdin).into());
            }
        }
        Stage::Println { text } => put("text", display(text).into()),
        Stage::ReadFile(stage) => {
            match stage.paths.as_slice() {
                [path] => put("path", path.as_str().into()),
                paths => put("paths", json!(paths)),
            }
            if let Some(excerpt) = &stage.excerpt {
                let mut range = Map::new();
                range.insert(excerpt.unit.clone(), excerpt.count.into());
                if excerpt.mode != "only" {
                    range.insert("mode".to_owned(), excerpt.mode.as_str().into());
                }
                put(&excerpt.tool, range.into());
            }
        }
        Stage::Sandbox(stage) => return sandbox(stage, values),
    }
    params
}

fn sandbox(stage: &SandboxStage, values: &Map<String, Value>) -> Map<String, Value> {
    let displayed =
        |words: &[Segments]| -> Value { words.iter().map(|word| filled(word, values)).collect() };
    let mut params = Map::new();
    let mut put = |name: &str, value: Value| {
        params.insert(name.to_owned(), value);
    };
    match &stage.program {
        Program::Argv(argv) => put("command", displayed(argv)),
        Program::Code(code) => put("code", code.as_str().into()),
        Program::File { name, .. } => put("script", name.as_str().into()),
        Program::Module(name) => put("module", name.as_str().into()),
        Program::Script(text) => put("script", text.as_str().into()),
    }
    if !stage.args.is_empty() {
        put("args", displayed(&stage.args));
    }
    if let Some(stdin) = &stage.stdin {
        put("stdin", filled(stdin, values).into());
    }
    params
}

fn http(stage: &HttpStage, values: &Map<String, Value>) -> Map<String, Value> {
    let mut params = Map::new();
    let mut url = match &stage.url_input {
        Some(input) => format!("{{{input}}}"),
        None => filled(&stage.url, values),
    };
    for (index, pair) in stage.query.iter().enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(&shown(pair, values));
    }
    params.insert("url".to_owned(), url.into());
    params.insert("method".to_owned(), stage.method.as_str().into());
    let headers = headers(stage, values);
    if !headers.is_empty() {
        params.insert("headers".to_owned(), headers.into());
    }
    match &stage.body {
        Some(Body::Multipart(parts)) => {
            params.insert(
                "multipart".to_owned(),
                parts.iter().map(|each| part(each, values)).collect(),
            );
        }
        Some(other) => {
            let text = body(other, values);
            if !text.is_empty() {
                params.insert("body".to_owned(), text.into());
            }
        }
        None => {}
    }
    if let Some(file) = &stage.output_file {
        params.insert("output-file".to_owned(), filled(&file.path, values).into());
    }
    if !stage.removed_headers.is_empty() {
        params.insert("removed-headers".to_owned(), json!(stage.removed_headers));
    }
    if stage.follow {
        params.insert("follow".to_owned(), true.into());
    }
    params
}

fn headers(stage: &HttpStage, values: &Map<String, Value>) -> Map<String, Value> {
    let mut headers: Map<String, Value> = Map::new();
    let mut add = |name: &str, value: String| {
        // Of several headers of one name none may be hidden from the approver.
        let joined = match headers.get(name).and_then(Value::as_str) {
            Some(first) => format!("{first}, {value}"),
            None => value,
        };
        headers.insert(name.to_owned(), joined.into());
    };
    for header in &stage.headers {
        add(&header.name, filled(&header.value, values));
    }
    if let Some(basic) = &stage.basic {
        let (user, password) = (filled(&basic.user, values), filled(&basic.password, values));
        add("Authorization", format!("Basic {user}:{password}"));
    }
    if !stage.cookies.is_empty() {
        let cookies: Vec<String> = stage
            .cookies
            .iter()
            .map(|pair| shown(pair, values))
            .collect();
        add("Cookie", cookies.join("; "));
    }
    headers
}

fn shown(pair: &Pair, values: &Map<String, Value>) -> String {
    match &pair.value {
        Some(value) => format!("{}={}", filled(&pair.name, values), filled(value, values)),
        None => filled(&pair.name, values),
    }
}

fn body(body: &Body, values: &Map<String, Value>) -> String {
    match body {
        Body::Text(text) => filled(text, values),
        Body::Json(node) if values.is_empty() && is_input(node) => "input-json".to_owned(),
        Body::Json(node) => {
            let mut text = String::new();
            write(node, values, &mut text);
            text
        }
        Body::Form(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|pair| shown(pair, values)).collect();
            pairs.join("&")
        }
        // Shown in a member of its own.
        Body::Multipart(_) => String::new(),
        Body::Pieces(pieces) => pieces.iter().map(|each| piece(each, values)).collect(),
        Body::Input {
            media: Media::File,
            name,
        } => format!("@{{{name}}}"),
        Body::Input { name, .. } => format!("{{{name}}}"),
    }
}

/// The seed's `:body (json-stringify input)`: each member is the input of its name.
fn is_input(node: &JsonNode) -> bool {
    matches!(node, JsonNode::Object(members) if !members.is_empty() && members.iter().all(|member|
        matches!(&member.value, JsonNode::Input(name) if *name == member.key)))
}

fn write(node: &JsonNode, values: &Map<String, Value>, text: &mut String) {
    match node {
        JsonNode::Value(value) => text.push_str(&escaped(&value.to_string(), true)),
        JsonNode::Input(name) => match values.get(name) {
            Some(value) => text.push_str(&escaped(&value.to_string(), true)),
            None => text.push_str(&format!("{{{name}}}")),
        },
        JsonNode::Text(segments) => text.push_str(&format!("\"{}\"", filled(segments, values))),
        JsonNode::Object(members) => {
            text.push('{');
            for (index, member) in members.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&escaped(
                    &Value::from(member.key.as_str()).to_string(),
                    true,
                ));
                text.push(':');
                write(&member.value, values, text);
            }
            text.push('}');
        }
        JsonNode::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, values, text);
            }
            text.push(']');
        }
        JsonNode::TextOfFile(file) => text.push_str(&format!("\"@{file}\"")),
        JsonNode::JsonOfFile(file) => text.push_str(&format!("@{file}")),
    }
}

fn piece(piece: &PieceOut, values: &Map<String, Value>) -> String {
    match piece {
        PieceOut::Text(text) => filled(text, values),
        PieceOut::File { name, .. } => format!("@{name}"),
        PieceOut::Previous { .. } => "@-".to_owned(),
    }
}

fn part(part: &MultipartPart, values: &Map<String, Value>) -> Value {
    let (member, value) = match &part.value {
        PartValue::Text(text) => ("value", filled(text, values)),
        PartValue::File(file) => ("file", file.clone()),
        PartValue::TextOfFile(file) => ("value", format!("@{file}")),
        PartValue::Previous(_) => ("file", "-".to_owned()),
    };
    let mut shown = json!({"name": part.name, member: value});
    // Both are sent, whatever the file is.
    for (member, given) in [("filename", &part.filename), ("type", &part.content_type)] {
        if let (Some(given), Value::Object(shown)) = (given, &mut shown) {
            shown.insert(member.to_owned(), given.as_str().into());
        }
    }
    shown
}
