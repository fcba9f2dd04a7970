//! K-172 to K-178: runtimes, downloads, installers and unknown tools.

use super::{filter, is_script, is_unknown_tool, packages, sandbox, texts};
use crate::draft::{Program, Trust};
use crate::model::Runtime;

#[test]
fn k_172_python() {
    let file = sandbox("python script.py a \"$B\"");
    assert!(matches!(&file.program, Program::File(found) if found.name == "script.py"));
    assert_eq!(texts(&file.args), ["a", "{B}"]);
    assert_eq!(
        (file.runtime, file.trust),
        (Runtime::Python, Trust::KnownRuntime)
    );
    let code = sandbox("python3 -c 'print(2)' x");
    assert!(matches!(&code.program, Program::Code(found) if found.text == "print(2)"));
    assert_eq!(texts(&code.args), ["x"]);
    assert!(matches!(&sandbox("python3 -m mod a").program, Program::Module(name) if name == "mod"));
    let here = sandbox("python3 - a <<'EOF'\nprint(\"$X\")\nEOF\n");
    assert!(matches!(&here.program, Program::Code(found) if found.text == "print(\"$X\")\n"));
    assert_eq!(here.stdin, None);
    assert_eq!(filter("python -m json.tool").program, ".");
    for text in [
        "python3 -c \"print($X)\"",
        "python $FILE",
        "jq . | python3 -",
        "python < a.py",
        "python3 *.py",
    ] {
        assert!(is_script(text), "{text}");
    }
    assert!(is_unknown_tool("python"));
    assert!(is_unknown_tool("python -i a.py"));
    assert_eq!(
        sandbox("python3 -m pip install requests").trust,
        Trust::Installer
    );
}

#[test]
fn k_173_uv() {
    assert_eq!(sandbox("uv run a.py x").trust, Trust::KnownRuntime);
    let with = sandbox("uv run --with requests --with=rich a.py");
    assert_eq!(with.trust, Trust::Installer);
    assert_eq!(with.packages, packages("python", &["requests", "rich"]));
    assert!(is_unknown_tool("uv run pytest"));
}

#[test]
fn k_174_node_and_go() {
    assert!(
        matches!(&sandbox("node script.js a").program, Program::File(file) if file.name == "script.js")
    );
    for option in ["-e", "--eval", "-p"] {
        let stage = sandbox(&format!("node {option} '1+1'"));
        assert!(matches!(&stage.program, Program::Code(code) if code.text == "1+1"));
    }
    let go = sandbox("go run main.go a");
    assert_eq!((go.runtime, go.trust), (Runtime::Go, Trust::KnownRuntime));
    assert!(is_unknown_tool("go build"));
    assert!(is_unknown_tool("node --inspect a.js"));
}

#[test]
fn k_175_downloads() {
    for (text, runtime, package) in [
        ("npx -y cowsay hi", Runtime::Node, ("node", "cowsay")),
        ("bunx cowsay", Runtime::Node, ("node", "cowsay")),
        ("uvx ruff check", Runtime::Python, ("python", "ruff")),
        ("pipx run black", Runtime::Python, ("python", "black")),
        (
            "go run example.org/x@v1",
            Runtime::Go,
            ("go", "example.org/x@v1"),
        ),
        (
            "deno run https://example.org/x.ts",
            Runtime::Shell,
            ("deno", "https://example.org/x.ts"),
        ),
    ] {
        let stage = sandbox(text);
        assert!(matches!(stage.trust, Trust::Download { .. }), "{text}");
        assert_eq!(stage.runtime, runtime, "{text}");
        assert_eq!(stage.packages, packages(package.0, &[package.1]), "{text}");
    }
}

#[test]
fn k_176_installers() {
    for (text, runtime, names) in [
        (
            "pip install -U requests 'x>=1'",
            "python",
            vec!["requests", "x>=1"],
        ),
        (
            "pip install -r requirements.txt",
            "python",
            vec!["-r requirements.txt"],
        ),
        ("uv add httpx", "python", vec!["httpx"]),
        ("uv pip install httpx", "python", vec!["httpx"]),
        ("npm i -g a b", "node", vec!["a", "b"]),
        ("npm install", "node", vec![]),
        ("yarn add a", "node", vec!["a"]),
        ("cargo install ripgrep", "rust", vec!["ripgrep"]),
        (
            "go install example.org/x@latest",
            "go",
            vec!["example.org/x@latest"],
        ),
        ("gem install a", "ruby", vec!["a"]),
        ("apt-get -y install curl jq", "system", vec!["curl", "jq"]),
        ("brew install ffmpeg", "system", vec!["ffmpeg"]),
    ] {
        let stage = sandbox(text);
        assert_eq!(
            (stage.runtime, stage.trust),
            (Runtime::Shell, Trust::Installer),
            "{text}"
        );
        assert_eq!(stage.packages, packages(runtime, &names), "{text}");
    }
    assert!(is_script("sudo apt install x"));
    assert!(is_unknown_tool("npm test"));
}

#[test]
fn k_177_anything_else_is_an_unknown_tool() {
    // K-434
    let stage = sandbox("ffmpeg -i input.mp4 -c:v libx264 output.mp4");
    assert_eq!(
        stage.trust,
        Trust::Tool {
            name: "ffmpeg".to_owned()
        }
    );
    assert!(matches!(&stage.program, Program::Argv(argv) if texts(argv)
        == ["ffmpeg", "-i", "input.mp4", "-c:v", "libx264", "output.mp4"]));
    for text in [
        "perl -e 1",
        "ruby x",
        "docker run x",
        "git clone https://example.org/x",
    ] {
        assert!(is_unknown_tool(text), "{text}");
    }
}

#[test]
fn k_178_code_files() {
    for (text, name) in [
        ("bash run.sh a", "run.sh"),
        ("./run.sh a", "./run.sh"),
        ("scripts/x a", "scripts/x"),
    ] {
        let stage = sandbox(text);
        assert!(
            matches!(&stage.program, Program::File(file) if file.name == name),
            "{text}"
        );
        assert_eq!(texts(&stage.args), ["a"]);
        assert_ne!(stage.trust, Trust::KnownRuntime);
    }
    for text in [
        "bash",
        "bash -c x",
        "bash -x run.sh",
        "bash < run.sh",
        "bash <<< x",
        "jq . | bash run.sh",
        "bash $X",
        "sh ~/x",
    ] {
        assert!(is_script(text), "{text}");
    }
}

/// The inputs of a command.
fn inputs(text: &str) -> Vec<String> {
    let mapped = crate::run(
        serde_json::json!({"op": "map", "command": text})
            .to_string()
            .as_bytes(),
    );
    let answer: serde_json::Value = serde_json::from_slice(&mapped.unwrap()).unwrap();
    let properties = answer["input-schema"]["properties"].as_object();
    assert!(answer["input-schema"].is_object(), "{answer:#}");
    properties
        .into_iter()
        .flat_map(|properties| properties.keys().cloned())
        .collect()
}

#[test]
fn k_130_code_in_a_command_line_is_never_an_input() {
    let none: [&str; 0] = [];
    for text in [
        "awk '{print}' f g",
        "awk -i inplace '{print}' f",
        "gawk --include x '{print}' f",
        "gawk -e '{print}' f g",
        "sed -i 's/{a}/{b}/' f",
        "sed -i -e 's/{a}/b/' -ne '{p}' f",
        "sed --expression='{p}' f g",
        "python3 -c 'print(f\"{x}\")'",
        "python3 -W ignore -c 'print(f\"{x}\")'",
        "node -e 'f({x})'",
        "node --input-type=module --eval='f({x})'",
        "perl -lane 'print {x}' f",
        "perl -e'print {x}'",
        "/usr/bin/ruby -e 'puts \"#{x}\"'",
        "php -r 'echo {x};'",
        "uv run python3.12 -c 'print(f\"{x}\")'",
        "npx tsx -e 'f({x})'",
        "ruby <<'E'\nputs \"#{x}\"\nE",
    ] {
        assert_eq!(inputs(text), none, "{text}");
    }
    for (text, name) in [
        ("awk '{print}' {file} g", "file"),
        ("awk -v a={a} '{print}' f g", "a"),
        ("sed -i s/a/b/ {file}", "file"),
        ("perl -e 'print {x}' {word}", "word"),
        ("perl p.pl --each={word}", "word"),
        ("mystery -e {word}", "word"),
        ("apt install gawk {word}", "word"),
    ] {
        assert_eq!(inputs(text), [name], "{text}");
    }
    for text in [
        "awk \"{print $X}\" f g",
        "perl -e \"print $X\"",
        "sed -i \"s/a/$X/\" f",
    ] {
        assert!(is_script(text), "{text}");
    }
}
