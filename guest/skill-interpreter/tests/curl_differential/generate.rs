//! Commands with options of every kind that is read, mixed.

use super::command::{Command, Piece, Word};
use super::line::{Group, written};
use super::random::Random;

/// Texts that a body, a header or a cookie takes as they are.
pub(crate) const TEXTS: [&str; 12] = [
    "",
    "x",
    "hello world",
    "a=b",
    "q=1&r=2",
    "é ü",
    "50%",
    "%41",
    "\"quoted\"",
    "tab\there",
    "a+b",
    "semi;colon",
];
/// Texts that have to be encoded wherever they go.
pub(crate) const RAW: [&str; 10] = [
    "",
    "x y",
    "a&b=c",
    "é",
    "100%",
    "#hash",
    "~*-._",
    "line\nfeed",
    "日本",
    "+/?:@",
];
/// Values of variables that no place has to encode.
pub(crate) const SAFE: [&str; 4] = ["v1", "A-b_c.d~e", "42", "deadbeef"];
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"];
/// Files of the folder that commands run in.
pub(crate) const FILES: [(&str, &[u8]); 6] = [
    ("f.bin", b"l1\r\nl2\n\0x\xc3\xa9&=+%"),
    ("f.txt", b"hello\n"),
    ("doc.pdf", b"%PDF-1.4\n"),
    ("a picture.PNG", b"\x89PNG"),
    ("noext", b""),
    ("data.json", b"{\"a\": [1,\r\n2]}\n"),
];

/// What commands are generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// Each variable has a value of its own.
    Drafts,
    /// All variables of a command have one value, and credentials are variables: a literal one is dropped.
    Operations,
}

/// Makes one command after the other.
pub(crate) struct Generator {
    what: For,
    pub(crate) random: Random,
    port: u16,
    pub(crate) command: Command,
    groups: Vec<Group>,
}

impl Generator {
    pub(crate) fn new(what: For, seed: u64, port: u16) -> Self {
        Self {
            what,
            random: Random::new(seed),
            port,
            command: Command::default(),
            groups: Vec::new(),
        }
    }

    pub(crate) fn next(&mut self) -> Command {
        self.command = Command::default();
        self.groups.clear();
        let kind = self.random.below(8);
        let mut head = false;
        let mut body = true;
        match kind {
            0 | 1 => body = false,
            2 | 3 => self.data(),
            4 => self.json(),
            5 => self.form(),
            6 => {
                self.query_data();
                self.flag("-G", "--get");
                body = false;
                head = self.random.chance(1, 6);
            }
            _ => {
                head = true;
                body = false;
            }
        }
        if head {
            self.flag("-I", "--head");
        }
        let is_form = kind == 5;
        if self.random.chance(1, 3) {
            let method = *self.random.pick(&METHODS);
            self.option(Some("-X"), "--request", Word::text(method));
        }
        self.headers(is_form);
        self.credentials();
        if !body && self.random.chance(1, 8) {
            let range = *self.random.pick(&["0-99", "100", "5-", "1-2,4-5"]);
            self.option(Some("-r"), "--range", Word::text(range));
        }
        if kind != 6 && self.random.chance(1, 6) {
            for _ in 0..=self.random.below(2) {
                let value = self.url_query();
                self.option(None, "--url-query", value);
            }
        }
        self.without_effect();
        let urls = self.urls();
        written(
            std::mem::take(&mut self.command),
            std::mem::take(&mut self.groups),
            urls,
            &mut self.random,
        )
    }

    pub(crate) fn option(&mut self, short: Option<&'static str>, long: &'static str, value: Word) {
        self.groups.push(Group {
            letter: None,
            short,
            long,
            value: Some(value),
        });
    }

    fn flag(&mut self, short: &'static str, long: &'static str) {
        self.groups.push(Group {
            letter: short.chars().nth(1),
            short: Some(short),
            long,
            value: None,
        });
    }

    fn long_flag(&mut self, long: &'static str) {
        self.groups.push(Group {
            letter: None,
            short: None,
            long,
            value: None,
        });
    }

    /// A variable, with one of these values.
    pub(crate) fn variable(&mut self, values: &[&str]) -> Word {
        let name = format!("V{}", self.command.values.len());
        let value = match self.command.values.values().next() {
            Some(value) if self.what == For::Operations => value.clone(),
            None if self.what == For::Operations => (*self.random.pick(&SAFE)).to_owned(),
            _ => (*self.random.pick(values)).to_owned(),
        };
        self.command.values.insert(name.clone(), value);
        Word(vec![Piece::Variable(name)])
    }

    /// Text, at times with a variable at its end that no place has to encode.
    pub(crate) fn text(&mut self, texts: &[&str]) -> Word {
        let text = Word::text(*self.random.pick(texts));
        if self.random.chance(1, 4) {
            return text.then(self.variable(&SAFE));
        }
        text
    }

    /// A value that operations carry as a secret only.
    fn credential(&mut self, texts: &[&str]) -> Word {
        match self.what {
            For::Drafts => self.text(texts),
            For::Operations => self.variable(&SAFE),
        }
    }

    fn headers(&mut self, is_form: bool) {
        for _ in 0..self.random.below(4) {
            let header = *self.random.pick(&[
                "X-Plain: one",
                "X-Plain:two",
                "x-blank:   padded  ",
                "X-Utf: é",
                "X-Quote: \"a\" 'b'",
                "X-Empty;",
                "X-None:",
                "Accept: text/html",
                "Accept:",
                "User-Agent: own/1",
                "User-Agent:",
                "Referer: http://r/",
                "Accept-Language: de, en;q=0.5",
                "If-None-Match: \"e\"",
                "X-Colon: a:b;c",
            ]);
            let mut value = Word::text(header);
            if header.starts_with("X-Plain") && self.random.chance(1, 2) {
                value = value.then(self.variable(&["v1", "with blank", "é;x"]));
            }
            self.option(Some("-H"), "--header", value);
        }
        if self.random.chance(1, 5) {
            let types: &[&str] = if is_form {
                &["Content-Type: multipart/form-data"]
            } else {
                &[
                    "Content-Type: application/json",
                    "content-type: text/plain; charset=utf-8",
                    "Content-Type:",
                    "Content-Type;",
                ]
            };
            let value = Word::text(*self.random.pick(types));
            self.option(Some("-H"), "--header", value);
        }
    }

    fn credentials(&mut self) {
        match self.random.below(10) {
            0 => {
                let user = self.credential(&["user", "é", "u ser"]);
                let password = self.credential(&["", "pa:ss", "ü"]);
                let halves = user.then(Word::text(":")).then(password);
                self.option(Some("-u"), "--user", halves);
                if self.random.chance(1, 2) {
                    self.long_flag("--basic");
                }
            }
            1 => {
                let token = self.credential(&["tok", "a.b.c"]);
                self.option(None, "--oauth2-bearer", token);
            }
            2 => {
                let value = Word::text("Authorization: Bearer ").then(self.variable(&SAFE));
                self.option(Some("-H"), "--header", value);
            }
            _ => {}
        }
        if self.random.chance(1, 6) {
            for _ in 0..=self.random.below(2) {
                let name = *self.random.pick(&["a=", "b=x; c=", "é=", "d="]);
                let name = if self.what == For::Operations {
                    name.replace("=x", "=")
                } else {
                    name.to_owned()
                };
                let cookie = Word::text(name).then(self.credential(&["1", "", "y; z=2", "ü"]));
                self.option(Some("-b"), "--cookie", cookie);
            }
        }
        if self.random.chance(1, 6) {
            let agent = self.text(&["", "agent/1 (x; y)", "é"]);
            self.option(Some("-A"), "--user-agent", agent);
        }
        if self.random.chance(1, 8) {
            let referer = self.text(&["", "http://ref.example/a?b", "x"]);
            self.option(Some("-e"), "--referer", referer);
        }
        if self.random.chance(1, 8) {
            self.long_flag("--compressed");
        }
    }

    fn without_effect(&mut self) {
        let flags = [
            ("-s", "--silent"),
            ("-S", "--show-error"),
            ("-f", "--fail"),
            ("-N", "--no-buffer"),
            ("-g", "--globoff"),
            ("-#", "--progress-bar"),
            ("-Z", "--parallel"),
            ("-0", "--http1.0"),
            ("-4", "--ipv4"),
            ("-j", "--junk-session-cookies"),
            ("-L", "--location"),
            ("-i", "--include"),
            ("-v", "--verbose"),
            ("-q", "--disable"),
        ];
        for _ in 0..self.random.below(4) {
            let (short, long) = *self.random.pick(&flags);
            self.flag(short, long);
        }
        let long = [
            "--no-progress-meter",
            "--fail-early",
            "--http1.1",
            "--http2",
            "--tlsv1.2",
            "--tlsv1.3",
            "--tcp-nodelay",
            "--retry-connrefused",
            "--retry-all-errors",
            "--create-dirs",
            "--remove-on-error",
            "--trace-time",
            "--ssl-reqd",
        ];
        for _ in 0..self.random.below(3) {
            let flag = *self.random.pick(&long);
            self.long_flag(flag);
        }
        let valued: [(Option<&'static str>, &'static str, &[&str]); 15] = [
            (Some("-m"), "--max-time", &["90", "89.5"]),
            (None, "--connect-timeout", &["60", "59.5"]),
            (None, "--max-filesize", &["1000", "10k"]),
            (None, "--max-redirs", &["0", "3", "-1"]),
            (None, "--retry", &["0"]),
            (None, "--retry-delay", &["1"]),
            (None, "--retry-max-time", &["2"]),
            (None, "--limit-rate", &["10M"]),
            (None, "--proto", &["=http,https", "-ftp"]),
            (None, "--proto-default", &["http"]),
            (None, "--proto-redir", &["=https"]),
            (Some("-w"), "--write-out", &["%{http_code}\\n", ""]),
            (Some("-D"), "--dump-header", &["-"]),
            (None, "--trace-ascii", &["-"]),
            (None, "--output-dir", &["out"]),
        ];
        for _ in 0..self.random.below(3) {
            let (short, long, values) = *self.random.pick(&valued);
            let value = Word::text(*self.random.pick(values));
            self.option(short, long, value);
        }
        match self.random.below(8) {
            0 => {
                let name = *self.random.pick(&["-", "/dev/null", "saved.txt", "out 1"]);
                self.option(Some("-o"), "--output", Word::text(name));
            }
            1 => self.flag("-O", "--remote-name"),
            _ => {}
        }
    }

    fn urls(&mut self) -> Vec<Word> {
        // curl cannot read standard input a second time for a part, and with `-Z` sends no part to a second URL.
        let has_parts = |group: &Group| group.long.starts_with("--form");
        let several = self.random.chance(1, 12)
            && self.command.stdin.is_none()
            && !self.groups.iter().any(has_parts);
        (0..=usize::from(several))
            .map(|index| {
                let scheme = *self
                    .random
                    .pick(&["http://", "http://", "http://", "HTTP://", ""]);
                let host = *self.random.pick(&["127.0.0.1", "localhost", "LocalHost"]);
                let mut url = Word::text(format!("{scheme}{host}:{}/u{index}", self.port));
                for _ in 0..self.random.below(4) {
                    let segments = [
                        "/a", "/v1", "/%41%2Fb", "/é", "/x.y", "/.", "/..", "/a;b=c", "/~u", "/(p)",
                    ];
                    url = url.then(Word::text(*self.random.pick(&segments)));
                }
                if self.random.chance(1, 3) {
                    url = url.then(Word::text("/")).then(self.variable(&SAFE));
                }
                // With a name at its end, which `-O` needs.
                url = url.then(Word::text("/end"));
                if self.random.chance(1, 3) {
                    let query = *self.random.pick(&[
                        "?",
                        "?a=1",
                        "?a=1&b",
                        "?q=%20x&é=ü",
                        "?x=a+b&&y=",
                        "?a=b?c=d/e",
                    ]);
                    url = url.then(Word::text(query));
                    if query == "?a=1" && self.random.chance(1, 2) {
                        url = url.then(Word::text("&v=")).then(self.variable(&SAFE));
                    }
                }
                if self.random.chance(1, 10) {
                    url = url.then(Word::text("#frag"));
                }
                url
            })
            .collect()
    }
}
