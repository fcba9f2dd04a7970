"""The licences of everything that is in the program, with the texts that have to go with it."""

import pathlib
import re

NAMES = re.compile(r"(?i)(licen[cs]e|copying|notice|unlicense)([-._](?!rs$|c$|h$|html$).*)?$")
# A text of a licence; larger files of such names are something else.
LONGEST = 200_000


MUSL = """\
musl, the C library of the static program: MIT

Copyright © 2005-2020 Rich Felker, et al.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def third_party(crates, program):
    """One document: a list of the crates and their licences, then each text once, under the crates that bring it."""
    lines = ["Software of others that is part of hydrant", "=" * 42, ""]
    if program.static:
        lines += [MUSL, "-" * 100, ""]
    lines += ["The standard library of Rust: MIT OR Apache-2.0", ""]
    texts = {}
    for package in crates.foreign():
        label = f"{package['name']} {package['version']}"
        lines.append(f"{label}: {package['license'] or 'see its text below'}")
        # Below the crate too: C sources that it brings have a licence of their own.
        for path in sorted(pathlib.Path(package["manifest_path"]).parent.rglob("*")):
            if NAMES.match(path.name) and path.is_file() and path.stat().st_size <= LONGEST:
                text = path.read_text(errors="replace").replace("\r\n", "\n").strip()
                texts.setdefault(text, []).append(label)
    for text, labels in sorted(texts.items(), key=lambda item: item[1]):
        lines += ["", "-" * 100, ", ".join(dict.fromkeys(labels)), "-" * 100, "", text]
    return ("\n".join(lines) + "\n").encode()
