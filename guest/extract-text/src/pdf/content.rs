//! Content streams (ISO 32000-2, 7.8.2 and 9.4): which strings are shown, and where.

use std::rc::Rc;

use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use hayro_syntax::page::{Page, Resources};
use kurbo::{Affine, Vec2};

use super::font::{Font, Fonts};
use super::layout::Layout;
use crate::output::Output;

/// Bytes of content that are read at most, a form as often as it is drawn: 64 MiB.
const MAX_CONTENT: usize = 67_108_864;

/// What drawing a form costs besides its bytes.
const FORM_COST: usize = 256;

/// Forms within each other at most.
const MAX_FORMS: u32 = 12;

/// The flag of annotations that are not shown (ISO 32000-2, 12.5.3).
const HIDDEN: u32 = 2;

/// Bytes that nothing may be compressed to.
const EMPTY_STREAM: usize = 16;

/// Draws pages, of which only the text is kept.
pub(super) struct Painter<'o> {
    output: &'o mut Output,
    fonts: Fonts,
    content_left: usize,
    layout: Layout,
}

/// The part of the graphics state that text depends on.
#[derive(Clone)]
struct State {
    matrix: Affine,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    /// Horizontal scale, 1 as a rule.
    scale: f64,
    leading: f64,
    rise: f64,
}

/// One content stream that is being drawn.
struct Frame<'a, 'r> {
    resources: &'r Resources<'a>,
    state: State,
    saved: Vec<State>,
    text: Affine,
    line: Affine,
    forms: u32,
}

impl<'o> Painter<'o> {
    pub(super) fn new(output: &'o mut Output) -> Self {
        Self {
            output,
            fonts: Fonts::default(),
            content_left: MAX_CONTENT,
            layout: Layout::default(),
        }
    }

    /// The text so far.
    pub(super) fn output(&mut self) -> &mut Output {
        self.output
    }

    /// Whether no more is drawn: the text is full, or all content was read that may be.
    pub(super) fn is_done(&self) -> bool {
        self.output.is_full() || self.content_left == 0
    }

    /// Draws a page.
    pub(super) fn page<'a>(&mut self, page: &Page<'a>) {
        self.layout = Layout::default();
        let content = self.contents(page.raw());
        let state = State::new(Affine::IDENTITY);
        self.content(&content, page.resources(), state, 0);
        let annotations = page.raw().get::<Array<'a>>("Annots").unwrap_or_default();
        for annotation in annotations.iter::<Dict<'a>>() {
            self.annotation(&annotation, page.resources());
        }
        self.layout.end_line(self.output);
    }

    /// Draws what an annotation looks like: the text of a filled form is there.
    fn annotation<'a>(&mut self, annotation: &Dict<'a>, resources: &Resources<'a>) {
        let flags = annotation.get::<u32>("F").unwrap_or(0);
        let subtype = annotation.get::<Name<'_>>("Subtype");
        if flags & HIDDEN != 0 || subtype.as_deref() == Some(b"Popup") {
            return;
        }
        let appearance = annotation.get::<Dict<'a>>("AP").unwrap_or_default();
        let normal = appearance.get::<Stream<'a>>("N").or_else(|| {
            let state = annotation.get::<Name<'_>>("AS")?;
            appearance.get::<Dict<'a>>("N")?.get::<Stream<'a>>(&*state)
        });
        if let Some(form) = normal {
            let [left, bottom, ..] = annotation.get::<[f64; 4]>("Rect").unwrap_or_default();
            let state = State::new(Affine::translate((left, bottom)));
            self.form(&form, resources, state, 1);
        }
    }

    /// The content of a page: its streams, one behind the other.
    fn contents<'a>(&mut self, page: &Dict<'a>) -> Vec<u8> {
        if let Some(stream) = page.get::<Stream<'_>>("Contents") {
            return self.decoded(&stream);
        }
        let streams = page.get::<Array<'_>>("Contents").unwrap_or_default();
        let mut content = Vec::new();
        for stream in streams.iter::<Stream<'_>>() {
            content.extend(self.decoded(&stream));
            // No token goes on in the next stream.
            content.push(b'\n');
            if content.len() > self.content_left {
                break;
            }
        }
        content
    }

    fn content<'a>(&mut self, content: &[u8], resources: &Resources<'a>, state: State, forms: u32) {
        let cost = content.len().saturating_add(FORM_COST);
        let Some(left) = self.content_left.checked_sub(cost) else {
            self.content_left = 0;
            self.output.end_early(
                "the pages draw more than 67108864 bytes of content: what is behind was not read",
            );
            return;
        };
        self.content_left = left;
        let mut frame = Frame {
            resources,
            state,
            saved: Vec::new(),
            text: Affine::IDENTITY,
            line: Affine::IDENTITY,
            forms,
        };
        let mut instructions = UntypedIter::new(content);
        while let Some(instruction) = instructions.next() {
            self.instruction(&instruction, &mut frame);
            if self.is_done() {
                return;
            }
        }
    }

    fn instruction<'a>(&mut self, instruction: &Instruction<'_, '_>, frame: &mut Frame<'a, '_>) {
        let state = &mut frame.state;
        let operand = |index: usize| instruction.operands().nth(index);
        let number = |index: usize| operand(index).and_then(number).unwrap_or(0.0);
        let matrix = || Affine::new([0, 1, 2, 3, 4, 5].map(number));
        match &**instruction.operator {
            b"q" => frame.saved.push(state.clone()),
            b"Q" => {
                if let Some(saved) = frame.saved.pop() {
                    frame.state = saved;
                }
            }
            b"cm" => state.matrix *= matrix(),
            b"BT" => {
                frame.text = Affine::IDENTITY;
                frame.line = Affine::IDENTITY;
            }
            b"Tc" => state.character_space = number(0),
            b"Tw" => state.word_space = number(0),
            b"Tz" => state.scale = number(0) / 100.0,
            b"TL" => state.leading = number(0),
            b"Ts" => state.rise = number(0),
            b"Tf" => {
                if let Some(Object::Name(name)) = operand(0) {
                    state.size = number(1);
                    let font = frame.resources.get_font(name);
                    state.font = font.map(|font| self.fonts.get(&font));
                }
            }
            b"Td" => frame.move_line(number(0), number(1)),
            b"TD" => {
                state.leading = -number(1);
                frame.move_line(number(0), number(1));
            }
            b"Tm" => {
                frame.line = matrix();
                frame.text = frame.line;
            }
            b"T*" => frame.next_line(),
            b"Tj" => self.show(operand(0), frame),
            b"'" => {
                frame.next_line();
                self.show(operand(0), frame);
            }
            b"\"" => {
                state.word_space = number(0);
                state.character_space = number(1);
                frame.next_line();
                self.show(operand(2), frame);
            }
            b"TJ" => {
                if let Some(Object::Array(items)) = operand(0) {
                    for item in items.iter::<Object<'_>>() {
                        self.show(Some(&item), frame);
                    }
                }
            }
            b"Do" => {
                if let Some(Object::Name(name)) = operand(0) {
                    self.draw(name, frame);
                }
            }
            _ => {}
        }
    }

    /// Shows a string where the text matrix is and moves the matrix behind it. A number, in `TJ`, only moves the matrix.
    fn show<'a>(&mut self, item: Option<&Object<'_>>, frame: &mut Frame<'a, '_>) {
        let Some(font) = frame.state.font.clone() else {
            return;
        };
        match item {
            Some(Object::String(string)) => self.show_string(string, &font, frame),
            Some(Object::Number(thousandths)) => {
                let back = -0.001 * thousandths.as_f64();
                frame.advance(&font, Vec2::new(back, back), 0.0);
            }
            _ => {}
        }
    }

    fn show_string<'a>(&mut self, string: &[u8], font: &Font, frame: &mut Frame<'a, '_>) {
        let vertical = font.is_vertical();
        let mut rest = string;
        while let Some(shown) = font.next(rest) {
            rest = shown.rest;
            let state = &frame.state;
            let mut space = state.character_space;
            if shown.is_single_space {
                space += state.word_space;
            }
            let begin = frame.glyph_matrix();
            frame.advance(font, shown.glyph.advance, 0.0);
            let end = frame.glyph_matrix();
            frame.advance(font, Vec2::ZERO, space);
            let spaced = frame.glyph_matrix();
            if shown.glyph.is_silent {
                self.layout.extend([end, spaced]);
                continue;
            }
            self.layout.place(
                [begin, end, spaced],
                vertical,
                shown.glyph.text.as_deref(),
                self.output,
            );
        }
    }

    /// Draws a form; images have no text.
    fn draw<'a>(&mut self, name: &Name<'_>, frame: &Frame<'a, '_>) {
        if frame.forms >= MAX_FORMS {
            return;
        }
        let Some(form) = frame.resources.get_x_object(name) else {
            return;
        };
        if form.dict().get::<Name<'_>>("Subtype").as_deref() != Some(b"Form") {
            return;
        }
        let forms = frame.forms.saturating_add(1);
        self.form(&form, frame.resources, frame.state.clone(), forms);
    }

    fn form<'a>(
        &mut self,
        form: &Stream<'a>,
        resources: &Resources<'a>,
        mut state: State,
        forms: u32,
    ) {
        let dict = form.dict();
        if let Some(placed) = dict.get::<[f64; 6]>("Matrix") {
            state.matrix *= Affine::new(placed);
        }
        let own = dict.get::<Dict<'a>>("Resources").map(Resources::new);
        let resources = own.as_ref().unwrap_or(resources);
        let content = self.decoded(form);
        self.content(&content, resources, state, forms);
    }

    /// The bytes of a stream; none, and a note, of one that cannot be decoded.
    fn decoded(&mut self, stream: &Stream<'_>) -> Vec<u8> {
        let content = stream.decoded_data().unwrap_or_default();
        if content.is_empty() && stream.raw_data().len() > EMPTY_STREAM {
            self.output
                .note("content of the PDF is damaged or in an unknown form: its text is missing");
        }
        content.into_owned()
    }
}

impl State {
    fn new(matrix: Affine) -> Self {
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

impl Frame<'_, '_> {
    fn move_line(&mut self, x: f64, y: f64) {
        self.line *= Affine::translate((x, y));
        self.text = self.line;
    }

    fn next_line(&mut self) {
        self.move_line(0.0, -self.state.leading);
    }

    /// The matrix of a glyph that is as large as a unit.
    fn glyph_matrix(&self) -> Affine {
        let State {
            size, scale, rise, ..
        } = self.state;
        let glyph = Affine::new([size * scale, 0.0, 0.0, size, 0.0, rise]);
        self.state.matrix * self.text * glyph
    }

    /// Moves the text matrix by units of the font size and by a space, along the direction of the font.
    fn advance(&mut self, font: &Font, units: Vec2, space: f64) {
        let way = units * self.state.size;
        let step = if font.is_vertical() {
            Vec2::new(0.0, way.y + space)
        } else {
            Vec2::new((way.x + space) * self.state.scale, 0.0)
        };
        self.text *= Affine::translate(step);
    }
}

fn number(object: &Object<'_>) -> Option<f64> {
    match object {
        Object::Number(number) => Some(number.as_f64()),
        _ => None,
    }
}
