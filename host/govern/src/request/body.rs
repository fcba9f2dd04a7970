//! Bodies of requests.

use hydrant_canonical::Json;
use zeroize::Zeroizing;

use super::encode;
use super::multipart::{Multipart, PartHead};
use super::text::{of_input, scalar};
use super::{Fill, json, target};
use crate::failure::{Code, Failure};
use hydrant_plan::{Body, Encoding, FileUse, Media, MultipartPart, PartValue, PieceOut};

/// The most that is sent, in bytes.
const BODY_BYTES: usize = 10 << 20;

/// A body as it is sent.
pub(super) struct FilledBody {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    /// Whether a secret is in it.
    pub(super) secret: bool,
    /// What replaces or becomes the content type: a boundary stands in it.
    pub(super) content_type: Option<String>,
}

impl FilledBody {
    fn plain(bytes: Vec<u8>) -> Self {
        Self {
            bytes: Zeroizing::new(bytes),
            secret: false,
            content_type: None,
        }
    }
}

/// The body; none if there is none, because an input that it consists of is absent.
pub(super) fn body(body: &Body, fill: Fill<'_>) -> Result<Option<FilledBody>, Failure> {
    let filled = match body {
        Body::Text(segments) => fill.text(segments)?.map(|filled| FilledBody {
            secret: filled.secret,
            ..FilledBody::plain(filled.text.as_bytes().to_vec())
        }),
        Body::Json(node) => {
            let mut filled = FilledBody::plain(Vec::new());
            json::write(node, fill, &mut filled.bytes, &mut filled.secret)?.then_some(filled)
        }
        Body::Form(pairs) => {
            let mut filled = FilledBody::plain(Vec::new());
            for pair in pairs {
                let (texts, secret) = target::filled_pairs(pair, Encoding::Form, fill)?;
                filled.secret |= secret;
                for text in texts {
                    let text = Zeroizing::new(text);
                    if !filled.bytes.is_empty() {
                        filled.bytes.push(b'&');
                    }
                    filled.bytes.extend_from_slice(text.as_bytes());
                }
            }
            Some(filled)
        }
        Body::Multipart(parts) => Some(multipart(parts, fill)?),
        Body::Pieces(pieces) => Some(self::pieces(pieces, fill)?),
        Body::Input { name, media } => match fill.inputs.get(name) {
            Some(value) => Some(input(name, value, *media, fill)?),
            None => None,
        },
    };
    if filled
        .as_ref()
        .is_some_and(|filled| filled.bytes.len() > BODY_BYTES)
    {
        return Err(Failure::new(Code::Limit, "a request sends at most 10 MiB"));
    }
    Ok(filled)
}

fn multipart(parts: &[MultipartPart], fill: Fill<'_>) -> Result<FilledBody, Failure> {
    let mut multipart = Multipart::new()?;
    let mut secret = false;
    for part in parts {
        let mut head = PartHead {
            name: &part.name,
            filename: part.filename.as_deref(),
            content_type: part.content_type.as_deref(),
        };
        match &part.value {
            PartValue::Text(segments) => {
                if let Some(filled) = fill.text(segments)? {
                    secret |= filled.secret;
                    multipart.part(&head, filled.text.as_bytes())?;
                }
            }
            PartValue::File(name) => {
                head.filename = head.filename.or_else(|| name.rsplit('/').next());
                multipart.part(&head, fill.files.get(name)?)?;
            }
            PartValue::TextOfFile(name) => {
                multipart.part(&head, fill.files.get(name)?)?;
            }
            PartValue::Previous(_) => {
                head.filename = head.filename.or(Some("-"));
                multipart.part(&head, fill.previous)?;
            }
        }
    }
    Ok(FilledBody {
        secret,
        ..multipart.finish()
    })
}

fn pieces(pieces: &[PieceOut], fill: Fill<'_>) -> Result<FilledBody, Failure> {
    let mut filled = FilledBody::plain(Vec::new());
    for piece in pieces {
        let (bytes, how) = match piece {
            PieceOut::Text(segments) => {
                if let Some(text) = fill.text(segments)? {
                    filled.secret |= text.secret;
                    filled.bytes.extend_from_slice(text.text.as_bytes());
                }
                continue;
            }
            PieceOut::File { name, r#use } => (fill.files.get(name)?, *r#use),
            PieceOut::Previous { r#use } => (fill.previous, *r#use),
        };
        match how {
            FileUse::Verbatim => filled.bytes.extend_from_slice(bytes),
            FileUse::Stripped => {
                let kept = bytes.iter().filter(|byte| !b"\r\n\0".contains(byte));
                filled.bytes.extend(kept);
            }
            FileUse::Encoded => filled
                .bytes
                .extend_from_slice(encode::form(bytes).as_bytes()),
        }
    }
    Ok(filled)
}

/// One input that is the whole body.
fn input(name: &str, value: &Json, media: Media, fill: Fill<'_>) -> Result<FilledBody, Failure> {
    match (media, value) {
        (Media::Json, value) => Ok(FilledBody::plain(value.to_string().into_bytes())),
        (Media::Form, Json::Object(members)) => {
            let pair = |(key, item): (&str, &Json)| {
                let key = encode::form(key.as_bytes());
                format!("{key}={}", encode::form(plain(item).as_bytes()))
            };
            let pairs: Vec<String> = items(members).map(pair).collect();
            Ok(FilledBody::plain(pairs.join("&").into_bytes()))
        }
        (Media::Multipart, Json::Object(members)) => {
            let mut multipart = Multipart::new()?;
            for (name, item) in items(members) {
                let is_json = matches!(item, Json::Object(_) | Json::Array(_));
                let head = PartHead {
                    name,
                    filename: None,
                    content_type: is_json.then_some("application/json"),
                };
                multipart.part(&head, plain(item).as_bytes())?;
            }
            Ok(multipart.finish())
        }
        (Media::File, Json::Null | Json::Object(_)) => {
            Ok(FilledBody::plain(fill.files.get(name)?.to_vec()))
        }
        (Media::Form | Media::Multipart, _) => Err(of_input(name, "an object is wanted there")),
        (Media::Text | Media::File, value) => {
            scalar(name, value, Encoding::None).map(|text| FilledBody::plain(text.into_bytes()))
        }
    }
}

/// Each member with its name; of an array each item. What is `null` is left out.
fn items(members: &[(String, Json)]) -> impl Iterator<Item = (&str, &Json)> {
    members
        .iter()
        .flat_map(|(name, member)| {
            let items = match member {
                Json::Array(items) => items.as_slice(),
                other => std::slice::from_ref(other),
            };
            items.iter().map(|item| (name.as_str(), item))
        })
        .filter(|(_, item)| **item != Json::Null)
}

/// A string as it is, anything else as JSON.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
