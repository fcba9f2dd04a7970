//! Hebrew and Arabic: pages draw a line as it looks, and it is read from right to left.

/// Whether a character is written from right to left.
pub(super) fn is_rtl(c: char) -> bool {
    let block =
        matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}');
    block && !c.is_numeric()
}

fn is_ltr(c: char) -> bool {
    c.is_alphabetic() && !is_rtl(c)
}

/// Whether a character is a point or accent of a letter.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{591}'..='\u{5C7}' | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{670}')
}

/// Returns a line in the order in which it is read, given from left to right.
pub(super) fn logical(line: &str) -> String {
    let count = |is: fn(char) -> bool| line.chars().filter(|c| is(*c)).count();
    let chars: Vec<char> = line.chars().collect();
    if count(is_rtl) > count(is_ltr) {
        return reversed(&chars);
    }
    parts_reversed(&chars)
}

/// Returns the text of one glyph as it looks, given in the order in which it is read.
pub(super) fn visual(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.iter().any(|c| is_ltr(*c)) {
        parts_reversed(&chars)
    } else {
        chars.into_iter().rev().collect()
    }
}

/// Turns round the parts of a text that are read from right to left.
fn parts_reversed(chars: &[char]) -> String {
    let mut text = String::new();
    let mut rest = chars;
    while let Some(begin) = rest.iter().position(|c| is_rtl(*c)) {
        let (before, behind) = rest.split_at(begin);
        let end = behind.iter().position(|c| is_ltr(*c));
        let (part, _) = behind.split_at(end.unwrap_or(behind.len()));
        let last = part.iter().rposition(|c| is_rtl(*c)).unwrap_or(0);
        let (part, behind) = behind.split_at(last.saturating_add(1));
        text.extend(before);
        text.push_str(&reversed(part));
        rest = behind;
    }
    text.extend(rest);
    text
}

/// A text that is read from right to left. Numbers and words of other scripts in it keep their order.
fn reversed(chars: &[char]) -> String {
    let mut text: Vec<char> = chars.iter().rev().copied().collect();
    for part in text.split_mut(|c| is_rtl(*c)) {
        // Numbers that stand beside each other are read one by one, words are not.
        if part.iter().any(|c| is_ltr(*c)) {
            turn_round(part);
        } else {
            part.split_mut(|c| c.is_whitespace()).for_each(turn_round);
        }
    }
    text.into_iter().collect()
}

/// Turns round a text from its first to its last letter or digit.
fn turn_round(part: &mut [char]) {
    let leads = |c: &char| is_ltr(*c) || c.is_numeric();
    if let Some(first) = part.iter().position(leads)
        && let Some(last) = part.iter().rposition(leads)
        && let Some(part) = part.get_mut(first..=last)
    {
        part.reverse();
    }
}

/// The letters that a form of Arabic stands for, which depends on its neighbours; none if it is no such form.
pub(super) fn letters(form: char) -> Option<String> {
    /// From U+FE80 on.
    const LETTERS: &str = "ءآآأأؤؤإإئئئئااببببةةتتتتثثثثججججححححخخخخددذذررززسسسسششششصصصصضضضضططططظظظظععععغغغغففففققققككككللللممممننننههههووىىيييي";
    const LAM: [&str; 4] = ["لآ", "لأ", "لإ", "لا"];
    let at = usize::try_from(u32::from(form).checked_sub(0xFE80)?).ok()?;
    match at.checked_sub(0xFEF5 - 0xFE80) {
        None => LETTERS.chars().nth(at).map(String::from),
        Some(at) => LAM.get(at / 2).map(|text| (*text).to_owned()),
    }
}
