//! Small PDF files, written object by object.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The objects of a file that is being made; the first is the catalog, the second the page tree.
pub(crate) struct Pdf {
    objects: Vec<Vec<u8>>,
    pages: Vec<usize>,
    /// Further entries of the catalog and of the trailer.
    pub(crate) catalog: String,
    pub(crate) trailer: String,
}

const CATALOG: usize = 1;
const TREE: usize = 2;
const FONT: usize = 3;

impl Pdf {
    pub(crate) fn new() -> Self {
        let mut pdf = Self {
            objects: vec![Vec::new(), Vec::new()],
            pages: Vec::new(),
            catalog: String::new(),
            trailer: String::new(),
        };
        pdf.add(
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        );
        pdf
    }

    /// One page for each text.
    pub(crate) fn of(texts: &[&str]) -> Self {
        let mut pdf = Self::new();
        for text in texts {
            pdf.page(text);
        }
        pdf
    }

    /// Adds an object: its number.
    pub(crate) fn add(&mut self, object: impl AsRef<[u8]>) -> usize {
        self.objects.push(object.as_ref().to_vec());
        self.objects.len()
    }

    /// Adds a stream with these further entries of its dictionary: its number.
    pub(crate) fn stream(&mut self, entries: &str, bytes: &[u8]) -> usize {
        let head = format!("<< /Length {} {entries} >>\nstream\n", bytes.len());
        self.add([head.as_bytes(), bytes, b"\nendstream"].concat())
    }

    /// Adds a page that shows this line: the number of its object.
    pub(crate) fn page(&mut self, text: &str) -> usize {
        let escaped = text
            .replace('\\', "\\\\")
            .replace('(', "\\(")
            .replace(')', "\\)");
        let content = if text.is_empty() {
            "0 0 10 10 re f".to_owned()
        } else {
            format!("BT /F1 12 Tf 72 720 Td ({escaped}) Tj ET")
        };
        self.page_with(content.as_bytes(), FONT)
    }

    /// Adds a page with this content, set in this font.
    pub(crate) fn page_with(&mut self, content: &[u8], font: usize) -> usize {
        let content = self.stream("", content);
        self.page_of(content, font)
    }

    /// Adds a page whose content is this object.
    pub(crate) fn page_of(&mut self, content: usize, font: usize) -> usize {
        let page = self.add(format!(
            "<< /Type /Page /Parent {TREE} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R \
             /Resources << /Font << /F1 {font} 0 R >> >> >>"
        ));
        self.pages.push(page);
        page
    }

    /// The document information.
    pub(crate) fn information(&mut self, entries: &str) {
        let number = self.add(format!("<< {entries} >>"));
        self.trailer.push_str(&format!(" /Info {number} 0 R"));
    }

    /// An outline: level from 1, title, the object of the page (0: one that does not exist).
    pub(crate) fn outline(&mut self, entries: &[(usize, &str, usize)]) {
        let root = self.objects.len() + 1;
        self.catalog.push_str(&format!(" /Outlines {root} 0 R"));
        let number = |index: usize| root + 1 + index;
        // The next entry of the same level before a higher one, and what lies between.
        let next = |index: usize| {
            let level = entries[index].0;
            let rest = entries.iter().enumerate().skip(index + 1);
            let mut inside = rest.take_while(|(_, entry)| entry.0 >= level);
            inside
                .find(|(_, entry)| entry.0 == level)
                .map(|(index, _)| index)
        };
        let last_of = |first: usize| {
            let mut last = first;
            while let Some(after) = next(last) {
                last = after;
            }
            last
        };
        let last = number(last_of(0));
        self.add(format!(
            "<< /Type /Outlines /First {} 0 R /Last {last} 0 R /Count {} >>",
            number(0),
            entries.len()
        ));
        let mut parents = vec![root];
        for (index, (level, title, page)) in entries.iter().enumerate() {
            parents.truncate(*level);
            let parent = parents[level - 1];
            parents.push(number(index));
            let mut entry =
                format!("<< /Title ({title}) /Parent {parent} 0 R /Dest [{page} 0 R /Fit]");
            if let Some(next) = next(index) {
                entry.push_str(&format!(" /Next {} 0 R", number(next)));
            }
            if entries.get(index + 1).is_some_and(|child| child.0 > *level) {
                let last = number(last_of(index + 1));
                entry.push_str(&format!(
                    " /First {} 0 R /Last {last} 0 R /Count 1",
                    number(index + 1)
                ));
            }
            entry.push_str(" >>");
            self.add(entry);
        }
    }

    pub(crate) fn bytes(mut self) -> Vec<u8> {
        let kids: Vec<String> = self
            .pages
            .iter()
            .map(|page| format!("{page} 0 R"))
            .collect();
        self.objects[TREE - 1] = format!(
            "<< /Type /Pages /Kids [{}] /Count {} >>",
            kids.join(" "),
            kids.len()
        )
        .into();
        self.objects[CATALOG - 1] =
            format!("<< /Type /Catalog /Pages {TREE} 0 R{} >>", self.catalog).into();
        let mut file = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut offsets = Vec::new();
        for (index, object) in self.objects.iter().enumerate() {
            offsets.push(file.len());
            file.extend(format!("{} 0 obj\n", index + 1).bytes());
            file.extend(object);
            file.extend(b"\nendobj\n");
        }
        let start = file.len();
        let count = self.objects.len() + 1;
        file.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
        for offset in offsets {
            file.extend(format!("{offset:010} 00000 n \n").bytes());
        }
        let trailer = &self.trailer;
        file.extend(
            format!("trailer\n<< /Size {count} /Root {CATALOG} 0 R{trailer} >>\nstartxref\n{start}\n%%EOF\n").bytes(),
        );
        file
    }
}

/// For `/FlateDecode`.
pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
