#!/usr/bin/env python3
"""Checks that no Rust source cites a numbered row of a document that nobody has: a rule is said in words.

    scripts/row_numbers.py     scripts/row_numbers.py --self-test

Such a number is one or two capital letters (or V2, or CLI), a hyphen and one to three digits. It is looked for in comments and
strings and, spelled `k_205_`, at the beginning of names of functions. The ids of findings, which `hydrant verify` and `hydrant
lock` print, are none.

Each number is printed with its file and line. The exit status is 1 if there are any.
"""
import pathlib
import re
import subprocess
import sys

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
# Comments, then strings, raw ones first, then characters, so that a quote among those begins no string.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?<!\w)[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\[^\n][^'\n]*|[^\\'\n])'""",
    re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w-])(?:[A-Z]{1,2}|V2|CLI)-\d{1,3}[a-z]?(?![\w-])")
# A range was spelled `k_51_to_k_58_`; some names kept the end of it alone.
FUNCTION = re.compile(r"\bfn\s+((?:(?:to|and)_)?(?:[a-z]{1,2}|v2|cli)_\d+[a-z]?_\w+)")
# What `hydrant verify` and `hydrant lock` call their findings, and the beginning of such a name.
NAME = re.compile(r"T[VWL]-\d\d?")


def numbers(text):
    """The line and the text of each number of a source."""
    found = [(match.start(1), match[1]) for match in FUNCTION.finditer(text)]
    for token in TOKEN.finditer(text):
        if token[0].startswith("'"):
            continue
        found += [
            (token.start() + match.start(), match[0])
            for match in NUMBER.finditer(token[0])
            if not NAME.fullmatch(match[0])
        ]
    return [(text.count("\n", 0, at) + 1, number) for at, number in sorted(found)]


def self_test():
    for text, expected in [
        ("// K-145: a rule\n", [(1, "K-145")]),
        ("\n/// Y-02, H-12a.\n", [(2, "Y-02"), (2, "H-12a")]),
        ("/* a\nV2-01 */", [(2, "V2-01")]),
        ('("TP-03 four spaces", 1)', [(1, "TP-03")]),
        ('r#"a "TP-1""#', [(1, "TP-1")]),
        ("fn k_205_a_rule() {}", [(1, "k_205_a_rule")]),
        ("    fn ts_41_ts_42_x() {}", [(1, "ts_41_ts_42_x")]),
        ("fn to_y_29_a_name() {}", [(1, "to_y_29_a_name")]),
        ("fn v2_01_x() {} // CLI-04", [(1, "v2_01_x"), (1, "CLI-04")]),
        ("let a = b'\"'; // K-1", [(1, "K-1")]),
        ("fn f<'a>(x: &'a str) {} // K-1", [(1, "K-1")]),
        # Not numbers of rows.
        ("// TV-07, TW-02, UTF-8, SHA-256, RFC-8785, ISO-8859-1, 1E-10, X-1-2", []),
        ("let a = N-1;", []),
        ("fn a_lock_of_120_seconds() {}", []),
        ('r"\\"; let a = K-1;', []),
        ("let a = '\"'; let b = K-1; let c = '\"';", []),
        ('"// K"; K-1', []),
    ]:
        assert numbers(text) == expected, (text, numbers(text))
    print("OK self-test")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        sys.exit(__doc__)
    listed = subprocess.run(["git", "ls-files", "-z", "*.rs"], cwd=CHECKOUT, check=True, capture_output=True, text=True)
    files = [name for name in listed.stdout.split("\0") if name]
    found = [(name, *number) for name in files for number in numbers((CHECKOUT / name).read_text())]
    for name, line, number in found:
        print(f"{name}:{line}: {number}")
    print(f"{len(files)} files, {len(found)} numbers of rows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
