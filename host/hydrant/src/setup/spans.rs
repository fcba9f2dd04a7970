//! Where the parts of a JSON text stand, so that it can be changed in one place and stay as it is in all others.
//!
//! Only for text that `serde_json` has accepted before: nothing is checked twice, and nothing else is understood.

use std::ops::Range;

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name.
    pub(super) name: String,
    /// From the name to the end of the value.
    pub(super) whole: Range<usize>,
    /// The value.
    pub(super) value: Range<usize>,
}

/// The value at the top.
pub(super) fn root(text: &str) -> Option<Range<usize>> {
    let start = past_space(text, 0)?;
    Some(start..end_of_value(text, start)?)
}

/// The members of the object at `object`.
pub(super) fn members(text: &str, object: &Range<usize>) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    for whole in parts(text, object, b'{')? {
        let name_end = end_of_value(text, whole.start)?;
        let colon = past_space(text, name_end)?;
        let start = past_space(text, colon.checked_add(1)?)?;
        members.push(Member {
            name: serde_json::from_str(text.get(whole.start..name_end)?).ok()?,
            value: start..end_of_value(text, start)?,
            whole,
        });
    }
    Some(members)
}

/// The elements of the array at `array`.
pub(super) fn elements(text: &str, array: &Range<usize>) -> Option<Vec<Range<usize>>> {
    parts(text, array, b'[')
}

/// What stands between the commas of a container.
fn parts(text: &str, container: &Range<usize>, opening: u8) -> Option<Vec<Range<usize>>> {
    let byte = |at: usize| text.as_bytes().get(at).copied();
    if byte(container.start)? != opening {
        return None;
    }
    let last = container.end.checked_sub(1)?;
    let mut parts = Vec::new();
    let mut at = past_space(text, container.start.checked_add(1)?)?;
    while at < last {
        let start = at;
        let mut end = end_of_value(text, start)?;
        at = past_space(text, end)?;
        if opening == b'{' {
            let value = past_space(text, at.checked_add(1)?)?;
            end = end_of_value(text, value)?;
            at = past_space(text, end)?;
        }
        parts.push(start..end);
        if byte(at)? == b',' {
            at = past_space(text, at.checked_add(1)?)?;
        }
    }
    Some(parts)
}

fn past_space(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    let space = rest
        .iter()
        .take_while(|byte| b" \t\r\n".contains(byte))
        .count();
    from.checked_add(space)
}

fn end_of_value(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes().get(start..)?;
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (index, byte) in bytes.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => depth = depth.checked_add(1)?,
                // The end of what holds a number or a word.
                b'}' | b']' if depth == 0 => return start.checked_add(index),
                b'}' | b']' => depth = depth.checked_sub(1)?,
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => {
                    return start.checked_add(index);
                }
                _ => continue,
            }
        }
        if depth == 0 && !in_string && matches!(byte, b'"' | b'}' | b']') {
            return start.checked_add(index)?.checked_add(1);
        }
    }
    start.checked_add(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_text_are_found_where_they_stand() {
        let text = r#" { "a" : [1, "x]},", {"b":[]} ,true ] ,"\u0063":{}, "d":-1.5e3 } "#;
        let root = root(text).unwrap();
        let members = members(text, &root).unwrap();
        let shown: Vec<_> = members
            .iter()
            .map(|member| {
                (
                    member.name.as_str(),
                    text.get(member.value.clone()).unwrap(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("a", r#"[1, "x]},", {"b":[]} ,true ]"#),
                ("c", "{}"),
                ("d", "-1.5e3")
            ]
        );
        let elements = elements(text, &members[0].value).unwrap();
        let shown: Vec<_> = elements
            .iter()
            .map(|one| text.get(one.clone()).unwrap())
            .collect();
        assert_eq!(shown, ["1", r#""x]},""#, r#"{"b":[]}"#, "true"]);
        assert_eq!(text.get(members[2].whole.clone()), Some(r#""d":-1.5e3"#));
        assert!(super::elements("[]", &(0..2)).unwrap().is_empty());
        assert!(super::elements("{}", &(0..2)).is_none());
    }
}
