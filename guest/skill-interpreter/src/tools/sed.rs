//! K-453: whether a program of sed does nothing but edit its stream. `w`, `r`, `R`, `W`, `e`, `F`, the flags `w` and `e` of `s`,
//! and whatever this does not understand, are more than that.

/// Reads a program.
pub(super) fn is_stream_only(program: &str) -> bool {
    let mut reader = Reader {
        rest: program,
        open: 0,
    };
    while !reader.at_end() {
        if reader.command().is_none() {
            return false;
        }
    }
    reader.open == 0
}

struct Reader<'a> {
    rest: &'a str,
    open: usize,
}

impl<'a> Reader<'a> {
    fn at_end(&mut self) -> bool {
        self.rest = self
            .rest
            .trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
        self.rest.is_empty()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn digits(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at_checked(end).unwrap_or(("", self.rest));
        self.rest = rest;
        digits
    }

    /// Up to an unescaped delimiter.
    fn delimited(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\n' => return None,
                '\\' => {
                    self.next()?;
                }
                '[' => self.bracket(delimiter)?,
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// Within a bracket expression a delimiter may or may not end the pattern: implementations differ, so it is refused.
    fn bracket(&mut self, delimiter: char) -> Option<()> {
        // Bounded, so that a program of nothing but `[` is not read again and again.
        const LONGEST: usize = 128;
        let mut inside = self.rest.chars().take(LONGEST);
        let first = inside.next()?;
        let ambiguous = |c: char| c == delimiter || matches!(c, '\n' | '\\');
        if ambiguous(first) {
            return None;
        }
        for c in inside {
            if c == ']' {
                return Some(());
            }
            if ambiguous(c) {
                return None;
            }
        }
        None
    }

    fn address(&mut self) -> Option<bool> {
        if !self.digits().is_empty() {
            if self.eat('~') && self.digits().is_empty() {
                return None;
            }
            return Some(true);
        }
        if self.eat('$') {
            return Some(true);
        }
        if self.eat('/') {
            self.delimited('/')?;
            while self.eat('I') || self.eat('M') {}
            return Some(true);
        }
        Some(false)
    }

    fn command(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.eat(',') {
                self.blanks();
                if self.eat('+') || self.eat('~') {
                    (!self.digits().is_empty()).then_some(())?;
                } else {
                    self.address()?.then_some(())?;
                }
            }
        }
        self.blanks();
        while self.eat('!') {
            self.blanks();
        }
        match self.next()? {
            '{' => {
                self.open += 1;
                return Some(());
            }
            '}' => self.open = self.open.checked_sub(1)?,
            's' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter)?;
                self.replacement(delimiter)?;
                while self
                    .rest
                    .starts_with(|c: char| matches!(c, 'g' | 'p' | 'i' | 'I' | '0'..='9'))
                {
                    self.next();
                }
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
            }
            'd' | 'D' | 'p' | 'P' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' => {}
            'q' => {
                self.digits();
            }
            _ => return None,
        }
        self.blanks();
        match self.rest.chars().next() {
            None | Some(';' | '\n' | '}') => Some(()),
            _ => None,
        }
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next()
            .filter(|c| c.is_ascii_punctuation() && *c != '\\' && *c != '[')
    }

    fn replacement(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }
}
