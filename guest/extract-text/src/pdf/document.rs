//! The objects of a PDF, read when they are asked for, each once, and within budgets of the whole document.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use kit::SkillError;

use super::filter::Failure;
use super::lexer::{Lexer, Place};
use super::object::{Dict, Object, Stream};
use super::streams;
use super::xref::{Entry, Xref};
use crate::error::too_large;

/// TS-139: decoded bytes of streams at most, 64 MiB.
const MAX_DECODED: usize = 67_108_864;

/// Values of all objects at most.
const MAX_NODES: usize = 1_000_000;

/// Bytes that are read as objects at most.
const MAX_READ: usize = 134_217_728;

/// References that lead to references at most.
const MAX_STEPS: usize = 16;

/// A value that references were followed to.
#[derive(Debug)]
pub(super) enum Value<'o> {
    Here(&'o Object),
    Elsewhere(Rc<Object>),
}

impl Deref for Value<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        match self {
            Self::Here(object) => object,
            Self::Elsewhere(object) => object,
        }
    }
}

impl Value<'_> {
    /// The value, to be kept.
    pub(super) fn shared(self) -> Rc<Object> {
        match self {
            Self::Here(object) => Rc::new(object.clone()),
            Self::Elsewhere(object) => object,
        }
    }
}

/// An object stream: its decoded bytes, and where in them objects begin.
#[derive(Debug)]
struct ObjectStream {
    bytes: Rc<Vec<u8>>,
    offsets: HashMap<u32, usize>,
}

/// A document.
#[derive(Debug)]
pub(super) struct Document<'a> {
    file: &'a [u8],
    xref: Xref,
    objects: RefCell<HashMap<u32, Rc<Object>>>,
    object_streams: RefCell<HashMap<u32, Option<Rc<ObjectStream>>>>,
    decoded: RefCell<HashMap<usize, Option<Rc<Vec<u8>>>>>,
    bytes_left: Cell<usize>,
    nodes_left: Cell<usize>,
    read_left: Cell<usize>,
    /// The first budget that was passed.
    exceeded: Cell<Option<&'static str>>,
}

impl<'a> Document<'a> {
    /// Reads where the objects of a file stand.
    ///
    /// # Errors
    /// `too_large`
    pub(super) fn open(file: &'a [u8]) -> Result<Self, SkillError> {
        let mut budget = MAX_DECODED;
        let xref = Xref::read(file, &mut budget).map_err(|_| exceeded("decoded"))?;
        Ok(Self::with_xref(file, xref, budget))
    }

    /// The same file, read without its cross-reference.
    pub(super) fn rebuilt(self) -> Self {
        let xref = Xref::rebuilt(self.file, Some(&self.xref.trailer));
        let numbers: Vec<u32> = xref.entries.keys().copied().collect();
        let mut document = Self::with_xref(self.file, xref, self.bytes_left.get());
        // What object streams hold has no place of its own.
        for number in numbers {
            let object = document.object(number);
            if let Some(dict) = object.dict()
                && dict.is("Type", "ObjStm")
                && let Some(stream) = document.object_stream(number)
            {
                for inner in stream.offsets.keys() {
                    document
                        .xref
                        .entries
                        .entry(*inner)
                        .or_insert(Entry::In(number));
                }
            }
        }
        document.find_root();
        document
    }

    fn with_xref(file: &'a [u8], xref: Xref, bytes_left: usize) -> Self {
        Self {
            file,
            xref,
            objects: RefCell::default(),
            object_streams: RefCell::default(),
            decoded: RefCell::default(),
            bytes_left: Cell::new(bytes_left),
            nodes_left: Cell::new(MAX_NODES),
            read_left: Cell::new(MAX_READ),
            exceeded: Cell::new(None),
        }
    }

    /// Looks for the catalog among all objects where no trailer leads to it.
    fn find_root(&mut self) {
        let root = self.get(&self.xref.trailer, "Root");
        if root.dict().is_some_and(|dict| dict.get("Pages").is_some()) {
            return;
        }
        drop(root);
        let mut numbers: Vec<u32> = self.xref.entries.keys().copied().collect();
        numbers.sort_unstable();
        let catalog = numbers.into_iter().rev().find(|number| {
            let object = self.object(*number);
            object.dict().is_some_and(|dict| dict.is("Type", "Catalog"))
        });
        if let Some(number) = catalog {
            self.xref
                .trailer
                .insert((*b"Root").into(), Object::Reference(number));
        }
    }

    pub(super) fn trailer(&self) -> &Dict {
        &self.xref.trailer
    }

    /// `too_large` if a budget was passed anywhere.
    ///
    /// # Errors
    /// `too_large`
    pub(super) fn check(&self) -> Result<(), SkillError> {
        self.exceeded
            .get()
            .map_or(Ok(()), |budget| Err(exceeded(budget)))
    }

    /// An object that is no reference.
    pub(super) fn resolve<'o>(&self, object: &'o Object) -> Value<'o> {
        match object {
            Object::Reference(number) => Value::Elsewhere(self.follow(*number)),
            object => Value::Here(object),
        }
    }

    /// The value of a key, with references followed; `Null` if it is not there.
    pub(super) fn get<'o>(&self, dict: &'o Dict, key: &str) -> Value<'o> {
        dict.get(key)
            .map_or(Value::Here(&Object::Null), |object| self.resolve(object))
    }

    fn follow(&self, mut number: u32) -> Rc<Object> {
        for _ in 0..MAX_STEPS {
            let object = self.object(number);
            match &*object {
                Object::Reference(next) => number = *next,
                _ => return object,
            }
        }
        Rc::new(Object::Null)
    }

    /// The object of a number, `Null` if there is none.
    fn object(&self, number: u32) -> Rc<Object> {
        if let Some(object) = self.objects.borrow().get(&number) {
            return Rc::clone(object);
        }
        let object = match self.xref.entries.get(&number) {
            Some(Entry::At(at)) => self.read_at(*at, number),
            Some(Entry::In(stream)) => self.read_in(*stream, number),
            Some(Entry::Free) | None => None,
        };
        let object = Rc::new(object.unwrap_or(Object::Null));
        self.objects.borrow_mut().insert(number, Rc::clone(&object));
        object
    }

    fn read_at(&self, at: usize, number: u32) -> Option<Object> {
        let mut lexer = self.lexer(self.file, at)?;
        let object = self.read_indirect(&mut lexer, number);
        self.spent(&lexer, at);
        object
    }

    fn read_indirect(&self, lexer: &mut Lexer<'_>, number: u32) -> Option<Object> {
        if lexer.unsigned()? != number {
            return None;
        }
        lexer.unsigned()?;
        if !lexer.eat(b"obj") {
            return None;
        }
        match lexer.object()? {
            Object::Dict(dict) => {
                let length = self.length(&dict);
                let mut behind = Lexer::new(self.file, lexer.position(), Place::File, 0);
                if !behind.eat(b"stream") {
                    return Some(Object::Dict(dict));
                }
                let found = streams::read_behind(self.file, lexer, dict, length);
                if let Some(stream) = &found
                    && length.is_none_or(|length| {
                        usize::try_from(length).ok() != Some(stream.bytes.len())
                    })
                {
                    // Its end had to be looked for.
                    self.count_read(stream.bytes.len());
                }
                found.map(Object::Stream)
            }
            object => Some(object),
        }
    }

    /// The length of a stream. A reference is followed to a plain number only: nothing leads back to streams.
    fn length(&self, dict: &Dict) -> Option<i64> {
        match dict.get("Length")? {
            Object::Reference(number) => {
                let Some(Entry::At(at)) = self.xref.entries.get(number) else {
                    return None;
                };
                let mut lexer = Lexer::new(self.file, *at, Place::File, 1);
                lexer.unsigned().filter(|found| found == number)?;
                lexer.unsigned()?;
                lexer.eat(b"obj").then(|| lexer.unsigned())?.map(i64::from)
            }
            length => length.integer(),
        }
    }

    fn read_in(&self, stream: u32, number: u32) -> Option<Object> {
        let stream = self.object_stream(stream)?;
        let at = *stream.offsets.get(&number)?;
        let mut lexer = self.lexer(&stream.bytes, at)?;
        let object = lexer.object();
        self.spent(&lexer, at);
        object
    }

    /// An object stream; only one that stands in the file itself (7.5.7).
    fn object_stream(&self, number: u32) -> Option<Rc<ObjectStream>> {
        if let Some(stream) = self.object_streams.borrow().get(&number) {
            return stream.clone();
        }
        let stream = match self.xref.entries.get(&number) {
            Some(Entry::At(_)) => self.read_object_stream(number).map(Rc::new),
            _ => None,
        };
        self.object_streams
            .borrow_mut()
            .insert(number, stream.clone());
        stream
    }

    fn read_object_stream(&self, number: u32) -> Option<ObjectStream> {
        let object = self.object(number);
        let stream = object.stream()?;
        // No object inside of it may be needed to read it.
        let direct = |key| match stream.dict.get(key) {
            Some(Object::Reference(number)) => {
                matches!(self.xref.entries.get(number), Some(Entry::At(_)))
            }
            _ => true,
        };
        if !(direct("Filter") && direct("DecodeParms") && direct("N") && direct("First")) {
            return None;
        }
        let bytes = self.bytes(stream)?;
        let number = |key| usize::try_from(self.get(&stream.dict, key).integer()?).ok();
        let (count, first) = (number("N")?, number("First")?);
        let mut lexer = Lexer::new(&bytes, 0, Place::File, 0);
        let mut offsets = HashMap::new();
        for _ in 0..count {
            let (Some(number), Some(offset)) = (lexer.unsigned(), lexer.unsigned()) else {
                break;
            };
            if !self.count_nodes(1) {
                return None;
            }
            offsets.insert(number, first.saturating_add(usize::try_from(offset).ok()?));
        }
        Some(ObjectStream { bytes, offsets })
    }

    /// The decoded bytes of a stream; none if a filter is not known or the budget is spent.
    pub(super) fn bytes(&self, stream: &Stream) -> Option<Rc<Vec<u8>>> {
        let begin = stream.bytes.start;
        if let Some(bytes) = self.decoded.borrow().get(&begin) {
            return bytes.clone();
        }
        let resolve = |object: &Object| (*self.resolve(object)).clone();
        let mut left = self.bytes_left.get();
        let decoded = streams::decode(self.file, stream, resolve, &mut left);
        self.bytes_left.set(left);
        let bytes = match decoded {
            Ok(bytes) => Some(Rc::new(bytes)),
            Err(Failure::TooLarge) => {
                self.exceed("decoded");
                None
            }
            Err(Failure::Unknown) => None,
        };
        self.decoded.borrow_mut().insert(begin, bytes.clone());
        bytes
    }

    /// A lexer that makes no more values than the document may still have.
    pub(super) fn lexer<'b>(&self, bytes: &'b [u8], at: usize) -> Option<Lexer<'b>> {
        if self.exceeded.get().is_some() {
            return None;
        }
        Some(Lexer::new(bytes, at, Place::File, self.nodes_left.get()))
    }

    fn spent(&self, lexer: &Lexer<'_>, begin: usize) {
        self.nodes_left.set(lexer.nodes_left());
        if lexer.nodes_left() == 0 {
            self.exceed("objects");
        }
        self.count_read(lexer.position().saturating_sub(begin));
    }

    /// Counts bytes that are read as objects, or work that costs as much.
    pub(super) fn count_read(&self, bytes: usize) {
        match self.read_left.get().checked_sub(bytes) {
            Some(left) => self.read_left.set(left),
            None => self.exceed("objects"),
        }
    }

    /// Counts values that are kept; whether there may be so many.
    pub(super) fn count_nodes(&self, nodes: usize) -> bool {
        match self.nodes_left.get().checked_sub(nodes) {
            Some(left) => {
                self.nodes_left.set(left);
                true
            }
            None => {
                self.exceed("objects");
                false
            }
        }
    }

    /// Notes that a budget is spent: what is read from here on is not complete.
    pub(super) fn exceed(&self, budget: &'static str) {
        if self.exceeded.get().is_none() {
            self.exceeded.set(Some(budget));
        }
    }

    /// Whether a budget is spent.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.get().is_some()
    }
}

fn exceeded(budget: &str) -> SkillError {
    let message = match budget {
        "decoded" => "the streams of the PDF decode to more than 64 MiB",
        "content" => "the pages of the PDF draw more than 32 MiB of content",
        _ => "the PDF has more than a million values",
    };
    too_large(budget, message)
}
