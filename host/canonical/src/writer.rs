//! What `serde_json` tells while it serialises, put in order.

use std::io::{self, Write};
use std::ops::Range;

use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use crate::Integers;

/// Every whole number up to this is a double.
const EXACT: u64 = 1 << 53;

/// The bytes so far, and the members of the objects that have not ended.
pub(crate) struct Members {
    out: Vec<u8>,
    integers: Integers,
    /// Where each open object began, and how many members were known then.
    objects: Vec<(usize, usize)>,
    members: Vec<Member>,
    /// Members on their way to another place.
    moving: Vec<u8>,
}

#[derive(Clone)]
struct Member {
    start: usize,
    /// Behind the quotation mark that ends its name.
    colon: usize,
    /// Behind its value.
    end: usize,
}

impl Members {
    pub(crate) fn new(integers: Integers) -> Self {
        Self {
            out: Vec::with_capacity(128),
            integers,
            objects: Vec::new(),
            members: Vec::new(),
            moving: Vec::new(),
        }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.out.get(range).unwrap_or_default()
    }

    /// Puts the members of the object that ends in order.
    fn end(&mut self) -> io::Result<()> {
        let Some((start, first)) = self.objects.pop() else {
            return Ok(());
        };
        let own = self.members.get(first..).unwrap_or_default();
        let name = |member: &Member| {
            self.bytes(member.start.saturating_add(1)..member.colon.saturating_sub(1))
        };
        let in_order = if own.iter().all(|member| is_plain(name(member))) {
            if own.is_sorted_by(|one, other| name(one) < name(other)) {
                None
            } else {
                let mut sorted = own.to_vec();
                sorted.sort_by(|one, other| name(one).cmp(name(other)));
                Some(sorted)
            }
        } else {
            let mut sorted = own.to_vec();
            sorted.sort_by_cached_key(|member| units(self.bytes(member.start..member.colon)));
            Some(sorted)
        };
        if let Some(sorted) = in_order {
            // The text of a name tells it: there is one way to write each.
            let twice = |two: &[Member]| matches!(two, [one, other] if name(one) == name(other));
            if sorted.windows(2).any(twice) {
                let message = "an object has two members of one name";
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            self.arrange(start, &sorted);
        }
        self.members.truncate(first);
        Ok(())
    }

    fn arrange(&mut self, start: usize, sorted: &[Member]) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        for member in sorted {
            if !moving.is_empty() {
                moving.push(b',');
            }
            moving.extend_from_slice(self.bytes(member.start..member.end));
        }
        self.out.truncate(start);
        self.out.extend_from_slice(&moving);
        self.moving = moving;
    }

    fn integer(&mut self, magnitude: u64, value: impl std::fmt::Display) -> io::Result<()> {
        if self.integers == Integers::Exact || magnitude <= EXACT {
            return write!(self.out, "{value}");
        }
        // Read as everybody reads a double.
        let nearest = value.to_string().parse().unwrap_or(f64::NAN);
        self.fraction(nearest);
        Ok(())
    }

    fn fraction(&mut self, value: f64) {
        let mut buffer = ryu_js::Buffer::new();
        self.out
            .extend_from_slice(buffer.format_finite(value).as_bytes());
    }
}

/// Whether the bytes of a name are in the order of its UTF-16 units.
fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii() && *byte != b'\\')
}

/// The UTF-16 units of a name that is written so, in quotation marks.
fn units(name: &[u8]) -> Vec<u16> {
    let name: String = serde_json::from_slice(name).unwrap_or_default();
    name.encode_utf16().collect()
}

/// Of JSON that nobody has read, and whose members are in no order.
fn not_read() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "raw JSON has no canonical form")
}

/// Writes into [`Members`], whatever it is given to write to.
pub(crate) struct Writer<'a>(pub(crate) &'a mut Members);

impl Formatter for Writer<'_> {
    fn write_null<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.write_null(&mut self.0.out)
    }

    fn write_bool<W: ?Sized + Write>(&mut self, _: &mut W, value: bool) -> io::Result<()> {
        CompactFormatter.write_bool(&mut self.0.out, value)
    }

    fn write_i8<W: ?Sized + Write>(&mut self, writer: &mut W, value: i8) -> io::Result<()> {
        self.write_i64(writer, value.into())
    }

    fn write_i16<W: ?Sized + Write>(&mut self, writer: &mut W, value: i16) -> io::Result<()> {
        self.write_i64(writer, value.into())
    }

    fn write_i32<W: ?Sized + Write>(&mut self, writer: &mut W, value: i32) -> io::Result<()> {
        self.write_i64(writer, value.into())
    }

    fn write_i64<W: ?Sized + Write>(&mut self, _: &mut W, value: i64) -> io::Result<()> {
        self.0.integer(value.unsigned_abs(), value)
    }

    fn write_i128<W: ?Sized + Write>(&mut self, _: &mut W, value: i128) -> io::Result<()> {
        let magnitude = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
        self.0.integer(magnitude, value)
    }

    fn write_u8<W: ?Sized + Write>(&mut self, writer: &mut W, value: u8) -> io::Result<()> {
        self.write_u64(writer, value.into())
    }

    fn write_u16<W: ?Sized + Write>(&mut self, writer: &mut W, value: u16) -> io::Result<()> {
        self.write_u64(writer, value.into())
    }

    fn write_u32<W: ?Sized + Write>(&mut self, writer: &mut W, value: u32) -> io::Result<()> {
        self.write_u64(writer, value.into())
    }

    fn write_u64<W: ?Sized + Write>(&mut self, _: &mut W, value: u64) -> io::Result<()> {
        self.0.integer(value, value)
    }

    fn write_u128<W: ?Sized + Write>(&mut self, _: &mut W, value: u128) -> io::Result<()> {
        self.0
            .integer(u64::try_from(value).unwrap_or(u64::MAX), value)
    }

    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, value.into())
    }

    fn write_f64<W: ?Sized + Write>(&mut self, _: &mut W, value: f64) -> io::Result<()> {
        self.0.fraction(value);
        Ok(())
    }

    fn write_number_str<W: ?Sized + Write>(&mut self, _: &mut W, _: &str) -> io::Result<()> {
        Err(not_read())
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, _: &mut W, _: &str) -> io::Result<()> {
        Err(not_read())
    }

    fn begin_string<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_string(&mut self.0.out)
    }

    fn end_string<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.end_string(&mut self.0.out)
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        CompactFormatter.write_string_fragment(&mut self.0.out, fragment)
    }

    /// Those of RFC 8785.
    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        CompactFormatter.write_char_escape(&mut self.0.out, escape)
    }

    fn write_byte_array<W: ?Sized + Write>(&mut self, _: &mut W, value: &[u8]) -> io::Result<()> {
        CompactFormatter.write_byte_array(&mut self.0.out, value)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_array(&mut self.0.out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.end_array(&mut self.0.out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_array_value(&mut self.0.out, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_object(&mut self.0.out)?;
        let members = &mut *self.0;
        members
            .objects
            .push((members.out.len(), members.members.len()));
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.end()?;
        CompactFormatter.end_object(&mut self.0.out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_object_key(&mut self.0.out, first)?;
        let at = self.0.out.len();
        self.0.members.push(Member {
            start: at,
            colon: at,
            end: at,
        });
        Ok(())
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let at = self.0.out.len();
        if let Some(member) = self.0.members.last_mut() {
            member.colon = at;
        }
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_object_value(&mut self.0.out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        let at = self.0.out.len();
        if let Some(member) = self.0.members.last_mut() {
            member.end = at;
        }
        Ok(())
    }
}
