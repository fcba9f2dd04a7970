//! Content streams (ISO 32000-2, 7.8.2 and 9.4): which strings are shown, and where.

use std::collections::HashMap;
use std::rc::Rc;

use super::document::Document;
use super::font::Font;
use super::layout::{Layout, SPACE};
use super::lexer::{Lexer, Place, Token, is_space};
use super::matrix::Matrix;
use super::object::{Dict, Object, Stream};
use super::pages::Page;
use crate::output::Output;

/// Bytes of content that are read at most, a form as often as it is drawn: 32 MiB.
const MAX_CONTENT: usize = 33_554_432;

/// What drawing a form costs besides its bytes.
const FORM_COST: usize = 256;

/// Forms within each other at most.
const MAX_FORMS: u32 = 12;

/// Saved states at most.
const MAX_STATES: usize = 256;

/// Operands of one operator at most, and the values they consist of.
const MAX_OPERANDS: usize = 64;
const MAX_NODES: usize = 100_000;

/// Content streams of one page at most.
const MAX_STREAMS: usize = 10_000;

/// What tells fonts apart: the number of an object, or where in memory a direct one stands as long as the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FontKey {
    Number(u32),
    Address(usize),
}

/// Draws pages, of which only the text is kept.
pub(super) struct Painter<'d, 'o> {
    document: &'d Document<'d>,
    output: &'o mut Output,
    fonts: HashMap<FontKey, Rc<Font>>,
    content_left: usize,
    layout: Layout,
}

/// The part of the graphics state that text depends on.
#[derive(Debug, Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    /// Horizontal scale, 1 as a rule.
    scale: f64,
    leading: f64,
    rise: f64,
}

impl State {
    fn new(matrix: Matrix) -> Self {
        Self {
            matrix,
            font: None,
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

/// One content stream that is being drawn.
struct Frame<'r> {
    resources: Option<&'r Dict>,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    forms: u32,
}

impl<'d, 'o> Painter<'d, 'o> {
    pub(super) fn new(document: &'d Document<'d>, output: &'o mut Output) -> Self {
        Self {
            document,
            output,
            fonts: HashMap::new(),
            content_left: MAX_CONTENT,
            layout: Layout::default(),
        }
    }

    /// The text so far.
    pub(super) fn output(&mut self) -> &mut Output {
        self.output
    }

    /// Draws a page.
    pub(super) fn page(&mut self, page: &Page) {
        self.layout = Layout::default();
        let Some(dict) = page.object.dict() else {
            return;
        };
        let content = self.contents(dict);
        self.content(
            &content,
            page.resources.dict(),
            State::new(Matrix::IDENTITY),
            0,
        );
    }

    /// The content of a page: its streams, one behind the other.
    fn contents(&self, page: &Dict) -> Rc<Vec<u8>> {
        let contents = self.document.get(page, "Contents");
        let bytes = |stream: &Stream| self.document.bytes(stream);
        match &*contents {
            Object::Stream(stream) => bytes(stream).unwrap_or_default(),
            Object::Array(streams) => {
                let mut parts = Vec::new();
                let mut length = 0_usize;
                for stream in streams.iter().take(MAX_STREAMS) {
                    let stream = self.document.resolve(stream);
                    if let Some(bytes) = stream.stream().and_then(bytes) {
                        length = length.saturating_add(bytes.len()).saturating_add(1);
                        parts.push(bytes);
                    }
                    if length > self.content_left {
                        self.document.exceed("content");
                        return Rc::default();
                    }
                }
                let mut content = Vec::with_capacity(length);
                for bytes in parts {
                    content.extend_from_slice(&bytes);
                    // No token goes on in the next stream.
                    content.push(b'\n');
                }
                Rc::new(content)
            }
            _ => Rc::default(),
        }
    }

    fn content(&mut self, content: &[u8], resources: Option<&Dict>, state: State, forms: u32) {
        let Some(left) = self
            .content_left
            .checked_sub(content.len().saturating_add(FORM_COST))
        else {
            return self.document.exceed("content");
        };
        self.content_left = left;
        let mut frame = Frame {
            resources,
            state,
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            forms,
        };
        let mut operands = Vec::new();
        let mut at = 0;
        loop {
            let mut lexer = Lexer::new(content, at, Place::Content, MAX_NODES);
            let token = lexer.token();
            at = lexer.position();
            match token {
                Some(Token::Object(object)) if operands.len() < MAX_OPERANDS => {
                    operands.push(object);
                }
                Some(Token::Object(_)) => {}
                Some(Token::Word(b"BI")) => {
                    at = behind_image(content, at);
                    operands.clear();
                }
                Some(Token::Word(operator)) => {
                    self.operator(operator, &operands, &mut frame);
                    operands.clear();
                }
                None if at < content.len() && lexer.nodes_left() == 0 => {}
                None if at >= content.len() => return,
                // Nested too deeply: what stands there is passed over.
                None => at = at.saturating_add(1),
            }
            if self.output.is_full() || self.document.is_exceeded() {
                return;
            }
        }
    }

    fn operator(&mut self, operator: &[u8], operands: &[Object], frame: &mut Frame<'_>) {
        let state = &mut frame.state;
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0);
        match operator {
            b"q" if frame.saved.len() < MAX_STATES => frame.saved.push(state.clone()),
            b"Q" => {
                if let Some(saved) = frame.saved.pop() {
                    frame.state = saved;
                }
            }
            b"cm" => state.matrix = matrix(operands).then(&state.matrix),
            b"BT" => {
                frame.text = Matrix::IDENTITY;
                frame.line = Matrix::IDENTITY;
            }
            b"Tc" => state.character_space = number(0),
            b"Tw" => state.word_space = number(0),
            b"Tz" => state.scale = number(0) / 100.0,
            b"TL" => state.leading = number(0),
            b"Ts" => state.rise = number(0),
            b"Tf" => {
                state.size = number(1);
                let name = operands.first().and_then(Object::name);
                frame.state.font = name.and_then(|name| self.font(frame.resources, name));
            }
            b"Td" => frame.move_line(number(0), number(1)),
            b"TD" => {
                state.leading = -number(1);
                frame.move_line(number(0), number(1));
            }
            b"Tm" => {
                frame.line = matrix(operands);
                frame.text = frame.line;
            }
            b"T*" => frame.next_line(),
            b"Tj" => self.show_first(operands, frame),
            b"'" => {
                frame.next_line();
                self.show_first(operands, frame);
            }
            b"\"" => {
                state.word_space = number(0);
                state.character_space = number(1);
                frame.next_line();
                self.show_first(operands.get(2..).unwrap_or_default(), frame);
            }
            b"TJ" => {
                let array = operands.first().and_then(Object::array);
                for item in array.unwrap_or_default() {
                    match item {
                        Object::String(string) => self.show(string, frame),
                        item => frame.adjust(item.number().unwrap_or(0.0)),
                    }
                }
            }
            b"Do" => {
                if let Some(name) = operands.first().and_then(Object::name) {
                    self.draw(name, frame);
                }
            }
            _ => {}
        }
    }

    fn font(&mut self, resources: Option<&Dict>, name: &[u8]) -> Option<Rc<Font>> {
        let fonts = self.document.get(resources?, "Font");
        let font = fonts.dict()?.get_bytes(name)?;
        let key = match font {
            Object::Reference(number) => FontKey::Number(*number),
            direct => FontKey::Address(std::ptr::from_ref(direct).addr()),
        };
        if let Some(font) = self.fonts.get(&key) {
            return Some(Rc::clone(font));
        }
        let object = self.document.resolve(font);
        let font = Rc::new(Font::read(self.document, object.dict()?));
        self.fonts.insert(key, Rc::clone(&font));
        Some(font)
    }

    fn show_first(&mut self, operands: &[Object], frame: &mut Frame<'_>) {
        if let Some(string) = operands.first().and_then(Object::string) {
            self.show(string, frame);
        }
    }

    /// Shows a string where the text matrix is, and moves it behind.
    fn show(&mut self, string: &[u8], frame: &mut Frame<'_>) {
        let state = &frame.state;
        let Some(font) = state.font.as_ref() else {
            return;
        };
        let mut text = String::new();
        // Some writers put glyphs of two words apart by this alone.
        let apart = state.character_space.abs() > SPACE * state.size.abs();
        let advance = font.read_string(string, apart, &mut text);
        let spaces = advance.glyphs * state.character_space + advance.spaces * state.word_space;
        let (x, y) = if font.vertical {
            (0.0, -advance.glyphs * state.size + spaces)
        } else {
            ((advance.units * state.size + spaces) * state.scale, 0.0)
        };
        let glyphs = Matrix([
            state.size * state.scale,
            0.0,
            0.0,
            state.size,
            0.0,
            state.rise,
        ]);
        let begin = glyphs.then(&frame.text).then(&state.matrix);
        let behind = Matrix::translation(x, y).then(&frame.text);
        let end = glyphs.then(&behind).then(&state.matrix);
        self.layout
            .place(&begin, &end, font.vertical, &text, self.output);
        frame.text = behind;
    }

    /// Draws a form; images have no text.
    fn draw(&mut self, name: &[u8], frame: &Frame<'_>) {
        if frame.forms >= MAX_FORMS {
            return;
        }
        let Some(resources) = frame.resources else {
            return;
        };
        let objects = self.document.get(resources, "XObject");
        let Some(object) = objects.dict().and_then(|dict| dict.get_bytes(name)) else {
            return;
        };
        let form = self.document.resolve(object);
        let Some(stream) = form
            .stream()
            .filter(|stream| stream.dict.is("Subtype", "Form"))
        else {
            return;
        };
        let Some(content) = self.document.bytes(stream) else {
            return;
        };
        let own = self.document.get(&stream.dict, "Resources");
        let placed = self.document.get(&stream.dict, "Matrix");
        let placed = placed.array().map_or(Matrix::IDENTITY, matrix);
        let mut state = frame.state.clone();
        state.matrix = placed.then(&state.matrix);
        let resources = own.dict().unwrap_or(resources);
        self.content(
            &content,
            Some(resources),
            state,
            frame.forms.saturating_add(1),
        );
    }
}

impl Frame<'_> {
    fn move_line(&mut self, x: f64, y: f64) {
        self.line = Matrix::translation(x, y).then(&self.line);
        self.text = self.line;
    }

    fn next_line(&mut self) {
        self.move_line(0.0, -self.state.leading);
    }

    /// A number of `TJ`: thousandths of the font size to go back.
    fn adjust(&mut self, thousandths: f64) {
        let back = -thousandths * 0.001 * self.state.size;
        let vertical = self.state.font.as_ref().is_some_and(|font| font.vertical);
        let (x, y) = if vertical {
            (0.0, back)
        } else {
            (back * self.state.scale, 0.0)
        };
        self.text = Matrix::translation(x, y).then(&self.text);
    }
}

/// Six operands; what is not there is that of the identity.
fn matrix(operands: &[Object]) -> Matrix {
    let mut matrix = Matrix::IDENTITY;
    for (place, operand) in matrix.0.iter_mut().zip(operands) {
        *place = operand.number().unwrap_or(*place);
    }
    matrix
}

/// Where an image in the content ends: behind `EI` that stands by itself.
fn behind_image(content: &[u8], begin: usize) -> usize {
    let rest = content.get(begin..).unwrap_or_default();
    let data = rest
        .windows(3)
        .position(|window| matches!(window, [b'I', b'D', space] if is_space(*space)));
    // Without data it is no image, and nothing behind it can be told apart.
    let Some(data) = data else {
        return content.len();
    };
    let ends = |window: &[u8]| matches!(window, [before, b'E', b'I', after] if is_space(*before) && is_space(*after));
    match rest
        .get(data..)
        .and_then(|data| data.windows(4).position(ends))
    {
        Some(at) => begin
            .saturating_add(data)
            .saturating_add(at)
            .saturating_add(3),
        None => content.len(),
    }
}
