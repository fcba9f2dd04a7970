//! Data, JSON and forms of generated commands.

use super::command::Word;
use super::generate::{FILES, Generator, RAW, SAFE, TEXTS};

impl Generator {
    pub(crate) fn data(&mut self) {
        for index in 0..=self.random.below(3) {
            // Whether `&` follows an empty first piece is one thing in curl 7 and another in curl 8.
            let first_empty = index > 0;
            match self.random.below(7) {
                0 | 1 => {
                    let mut value = self.text(&TEXTS);
                    if value.is_empty() && !first_empty {
                        value = Word::text("k=v");
                    }
                    let long = *self.random.pick(&["--data", "--data-ascii"]);
                    let short = (long == "--data").then_some("-d");
                    self.option(short, long, value);
                }
                2 => {
                    let value = Word::text(*self.random.pick(&["@f.txt", "a=@b", "raw text"]));
                    self.option(None, "--data-raw", value);
                }
                3 => {
                    let file = self.file();
                    self.option(None, "--data-binary", Word::text(format!("@{file}")));
                }
                4 => {
                    // curl 7 drops what follows a NUL, too, up to the end of its line.
                    let file = *self.random.pick(&["@f.txt", "@data.json", "@noext"]);
                    self.option(Some("-d"), "--data", Word::text(file));
                }
                5 if self.command.stdin.is_none() => {
                    self.command.stdin = Some("in\r\nput & more\n".to_owned());
                    let long = *self.random.pick(&["--data", "--data-binary"]);
                    self.option(None, long, Word::text("@-"));
                }
                _ => {
                    let value = self.encoded(true);
                    self.option(None, "--data-urlencode", value);
                }
            }
        }
    }

    /// A value of `--data-urlencode` that is not empty.
    fn encoded(&mut self, files: bool) -> Word {
        let content = if self.random.chance(1, 3) {
            self.variable(&RAW[1..])
        } else {
            Word::text(RAW[1 + self.random.below(RAW.len() - 1)])
        };
        match self.random.below(if files { 6 } else { 4 }) {
            // Without a name `=` and `@` in the content would be read as marks.
            0 => Word::text("just text"),
            1 => Word::text("=").then(content),
            2 | 3 => {
                Word::text(*self.random.pick(&["name=", "n%20m=", "a.b=", "x[0]="])).then(content)
            }
            // Of an empty file curl drops the name too, which only who reads the file can do.
            4 => Word::text(*self.random.pick(&["@f.bin", "@f.txt"])),
            _ => Word::text(*self.random.pick(&["field@f.bin", "field@data.json"])),
        }
    }

    pub(crate) fn query_data(&mut self) {
        for _ in 0..=self.random.below(3) {
            if self.random.chance(1, 2) {
                let value = self.encoded(false);
                self.option(None, "--data-urlencode", value);
            } else {
                let value =
                    self.text(&["a=1", "b=%20x", "c", "é=ü", "d=1&e=2", "f=a+b", "g=\"q\""]);
                self.option(Some("-d"), "--data", value);
            }
        }
    }

    pub(crate) fn url_query(&mut self) -> Word {
        if self.random.chance(1, 3) {
            return Word::text(*self.random.pick(&["+raw=%20x", "+flag", "+a=1&b=2"]));
        }
        self.encoded(false)
    }

    pub(crate) fn json(&mut self) {
        let texts = [
            "{\"a\":1,\"b\":\"x\"}",
            "[1, 2]",
            "{ \"nested\": {\"é\": null} }",
            "\"text\"",
        ];
        if self.random.chance(1, 4) {
            let value = Word::text("{\"v\":\"")
                .then(self.variable(&SAFE))
                .then(Word::text("\"}"));
            self.option(None, "--json", value);
        } else if self.random.chance(1, 5) {
            self.option(None, "--json", Word::text("@data.json"));
        } else {
            let value = Word::text(*self.random.pick(&texts));
            self.option(None, "--json", value);
        }
        if self.random.chance(1, 5) {
            let more = *self.random.pick(&["--json", "--data", "--data-binary"]);
            self.option(None, more, Word::text(" "));
        }
    }

    pub(crate) fn form(&mut self) {
        for _ in 0..=self.random.below(3) {
            let name = *self.random.pick(&["a", "field 1", "é", "q\"q", "x[0]"]);
            let name = Word::text(format!("{name}="));
            if self.random.chance(1, 6) {
                let value = self.text(&["", "@f.txt", "a;type=b", "<x", "\"q\""]);
                self.option(None, "--form-string", name.then(value));
                continue;
            }
            let content = match self.random.below(6) {
                0 | 1 => {
                    let values = [
                        "",
                        "plain text",
                        "a=b&c",
                        "é",
                        " padded ",
                        "\"in; quotes\\\"\"",
                        "cut;off",
                    ];
                    self.text(&values)
                }
                2 => Word::text(format!("<{}", self.file())),
                3 if self.command.stdin.is_none() => {
                    self.command.stdin = Some("from stdin\r\n".to_owned());
                    Word::text(*self.random.pick(&["@-", "<-"]))
                }
                _ => Word::text(match self.file() {
                    file if self.random.chance(1, 4) => format!("@\"{file}\""),
                    file => format!("@{file}"),
                }),
            };
            let more = *self.random.pick(&[
                "",
                "",
                "",
                ";type=text/x",
                ";type=text/plain",
                ";type=text/plain; charset=utf-8",
                ";filename=n.html",
                ";filename=\"a;b.zip\"",
                "; type=a/b ;filename=z",
            ]);
            self.option(
                Some("-F"),
                "--form",
                name.then(content).then(Word::text(more)),
            );
        }
    }

    fn file(&mut self) -> &'static str {
        self.random.pick(&FILES).0
    }
}
