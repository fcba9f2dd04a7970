#!/usr/bin/env python3
"""Checks that the threat model says which test holds each row of its tables, and that each of these tests is there.

    scripts/threat_model.py [CHAPTER]     scripts/threat_model.py --self-test

The last column of a table is `held by`: one name or several, separated by commas, each in backticks. The table of the
attackers promises nothing and has no such column. A name in the text between the tables is checked as well.

* `serve/hostile::a_test` is the test `a_test` in tests/serve/hostile.rs.
* `host/hydrant/src/hook/run::a_test` is the one in host/hydrant/src/hook/run.rs; a file `mod.rs` is written as `mod`.

A test is a function with `#[test]`, or a row of the tables of tests/escape. The exit status is 1 if anything is missing.
"""
import pathlib
import re
import sys
import tempfile

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
CHAPTER = CHECKOUT / "docs/src/threat-model.md"
COLUMN = "held by"
NAME = re.compile(r"([a-z0-9_-]+(?:/[a-z0-9_-]+)*)::([a-z0-9_]+)")
CODE = re.compile(r"`([^`]+)`")


def file_of(path, checkout):
    """The one file that a path of a name means, or what is wrong with it."""
    found = [at for at in (checkout / f"tests/{path}.rs", checkout / f"{path}.rs") if at.is_file()]
    if len(found) == 1:
        return found[0], None
    return None, f"{path} is {'two files' if found else 'no file'}"


def has_test(file, name):
    """Whether a test of this name stands in the file."""
    text = file.read_text()
    # Other attributes and comments may stand between.
    function = rf"#\[test\]\s*(?:(?:#\[[^\]]*\]|//[^\n]*)\s*)*fn {name}\b"
    row = rf'^ +{name}: "'
    return bool(re.search(function, text) or ("jail_escape" in file.parts and re.search(row, text, re.MULTILINE)))


def wrong_with(name, checkout):
    """What is wrong with a name, if anything is."""
    match = NAME.fullmatch(name)
    if not match:
        return f"`{name}` is no name of a test"
    file, wrong = file_of(match[1], checkout)
    if wrong or not has_test(file, match[2]):
        return f"`{name}`: {wrong or f'no such test in {file.relative_to(checkout)}'}"
    return None


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def findings(text, checkout):
    """What is wrong with a chapter, as lines of text, and how many rows it has whose test is named."""
    wrong, rows, header = [], 0, None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            header = None
            names = [code for code in CODE.findall(line) if "::" in code]
        elif header is None:
            header, names = cells(line), []
            if header[0] != "attacker" and header[-1] != COLUMN:
                wrong.append(f"{number}: a table without the column `{COLUMN}`")
        elif header[-1] != COLUMN or re.fullmatch(r"[-| :]+", line):
            continue
        else:
            rows += 1
            row = cells(line)
            names = CODE.findall(row[-1])
            if len(row) != len(header):
                wrong.append(f"{number}: {len(row)} cells, {len(header)} columns")
            elif not names or CODE.sub("", row[-1]).strip(" ,"):
                wrong.append(f"{number}: no test holds this row: {row[0]}")
        wrong += [f"{number}: {what}" for what in (wrong_with(name, checkout) for name in names) if what]
    if not rows:
        wrong.append("no row names a test")
    return wrong, rows


def table(*rows, head="attempt | what stops it | held by"):
    return "\n".join([f"| {head} |", "|---" * (head.count("|") + 1) + "|", *(f"| {row} |" for row in rows), ""])


HOLD = {
    "a test below tests/": table("a | b | `area/file::one_holds`"),
    "several": table("a | b | `area/file::one_holds`, `crate/src/unit::two_holds`"),
    "a test with other attributes": table("a | b | `crate/src/unit::two_holds`"),
    "a row of the escapes": table("a | b | `tests/escape/tests/jail_escape/files::a_row`"),
    "several tables": table("a | b | `area/file::one_holds`") + "\ntext\n\n" + table("c | d | `area/file::one_holds`"),
    "a name in the text": table("a | b | `area/file::one_holds`") + "\nIt holds (`crate/src/unit::two_holds`).\n",
    "the attackers": table("a | b", head="attacker | controls") + "\n" + table("a | b | `area/file::one_holds`"),
    "code that is no name": table("a | `b::c` | `area/file::one_holds`") + "\n`other`\n",
}
FAIL = {
    "no table": "text\n",
    "a table without the column": table("a | b", head="attempt | what stops it"),
    "a second table without the column": HOLD["several"] + "\n" + table("a | b", head="attempt | what stops it"),
    "an empty cell": table("a | b | "),
    "one empty cell of several": table("a | b | `area/file::one_holds`", "c | d | "),
    "no cell": table("a | b"),
    "words in place of a test": table("a | b | TODO"),
    "words beside a test": table("a | b | `area/file::one_holds` and more"),
    "a test that is not there": table("a | b | `area/file::one_held`"),
    "the beginning of a name": table("a | b | `area/file::one`"),
    "a function that is no test": table("a | b | `area/file::helper`"),
    "a file that is not there": table("a | b | `area/other::one_holds`"),
    "a path with its folder": table("a | b | `tests/area/file.rs::one_holds`"),
    "a path that is two files": table("a | b | `both::one_holds`"),
    "a row of another kind": table("a | b | `area/file::a_row`"),
    "a name in the text that is not there": HOLD["several"] + "\nIt holds (`area/file::three`).\n",
}
FILES = {
    "tests/area/file.rs": '#[test]\nfn one_holds() {}\n\nfn helper() {}\nmacro! {\n    a_row: "x";\n}\n',
    "crate/src/unit.rs": "mod tests {\n    #[test]\n    #[ignore = \"slow\"]\n    // Slow.\n    fn two_holds() {}\n}\n",
    "tests/escape/tests/jail_escape/files.rs": 'escapes! {\n    a_row: "read {secret}" in Plain;\n}\n',
    "tests/both.rs": "#[test]\nfn one_holds() {}\n",
    "both.rs": "#[test]\nfn one_holds() {}\n",
}


def self_test():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder)
        for path, text in FILES.items():
            (checkout / path).parent.mkdir(parents=True, exist_ok=True)
            (checkout / path).write_text(text)
        wrong += [f"must hold: {name}: {found}" for name, text in HOLD.items() if (found := findings(text, checkout)[0])]
        wrong += [f"must fail: {name}" for name, text in FAIL.items() if not findings(text, checkout)[0]]
    for failure in wrong:
        print(failure)
    print(f"{len(HOLD) + len(FAIL)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    chapter = pathlib.Path(sys.argv[1]) if sys.argv[1:] else CHAPTER
    wrong, rows = findings(chapter.read_text(), CHECKOUT)
    for line in wrong:
        print(f"{chapter.name}:{line}")
    print(f"{rows} rows, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
