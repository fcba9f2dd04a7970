//! What the info string of a fence says to machines: `skill:op=find`, `skill:tier=3`.
//!
//! An annotation names, restricts and requests; nothing in it grants, so that one from a stranger does no harm.

use super::info;
use crate::identifier::is_id;

/// The annotation of a fence; all of it is optional.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Annotation {
    /// The operation's id.
    pub(crate) op: Option<String>,
    pub(crate) secrets: Vec<String>,
    pub(crate) egress: Vec<String>,
    /// 1 to 3; only raises.
    pub(crate) tier: Option<u8>,
    pub(crate) ignore: bool,
    pub(crate) example: bool,
    /// Whether the fence is an output example.
    pub(crate) is_output: bool,
    /// JSON Pointers.
    pub(crate) returns_secret: Vec<String>,
}

impl Annotation {
    /// Returns the annotation of an info string; none without a word of one.
    ///
    /// # Errors
    ///
    /// Says which word cannot be used.
    pub(crate) fn read(info: &str) -> Result<Option<Self>, String> {
        let mut annotation = Self::default();
        let mut any = false;
        let (_, words) = info::split(info);
        for word in words.filter_map(|word| word.strip_prefix("skill:")) {
            any = true;
            match word.split_once('=') {
                Some(("op", id)) if is_id(id) => annotation.op = Some(id.to_owned()),
                Some(("secret", name)) if !name.is_empty() => {
                    annotation.secrets.push(name.to_owned());
                }
                Some(("egress", host)) if !host.is_empty() => {
                    annotation.egress.push(host.to_owned());
                }
                Some(("returns-secret", at)) if at.starts_with('/') => {
                    annotation.returns_secret.push(at.to_owned());
                }
                Some(("tier", "1")) => annotation.tier = Some(1),
                Some(("tier", "2")) => annotation.tier = Some(2),
                Some(("tier", "3")) => annotation.tier = Some(3),
                None if word == "ignore" => annotation.ignore = true,
                None if word == "example" => annotation.example = true,
                None if word == "output" => annotation.is_output = true,
                _ => {
                    let word: String = word.chars().take(40).collect();
                    return Err(format!("the annotation skill:{word} cannot be used"));
                }
            }
        }
        Ok(any.then_some(annotation))
    }
}
