//! wc.

use super::flags;

/// `-l`, `-w`, `-c`, in whatever order; without any, all three.
pub(super) fn wc(args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut chosen = String::new();
    for arg in args {
        chosen.push_str(match *arg {
            "--lines" => "l",
            "--words" => "w",
            "--bytes" => "c",
            other => {
                flags(&[other], "lwc")?;
                other
            }
        });
    }
    let all = chosen.is_empty();
    let mut counts = Vec::new();
    if all || chosen.contains('l') {
        counts.push(input.iter().filter(|byte| **byte == b'\n').count());
    }
    if all || chosen.contains('w') {
        counts.push(words(input));
    }
    if all || chosen.contains('c') {
        counts.push(input.len());
    }
    let text = match counts.as_slice() {
        [only] => only.to_string(),
        // What is no file is written in seven columns.
        several => several
            .iter()
            .map(|count| format!("{count:7}"))
            .collect::<Vec<_>>()
            .join(" "),
    };
    Some(format!("{text}\n").into_bytes())
}

/// Runs of what is no blank. (GNU's before 9.5 do not count one of nothing but unprintable bytes, against POSIX.)
fn words(input: &[u8]) -> usize {
    let mut count = 0;
    let mut within = false;
    for byte in input {
        match byte {
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => within = false,
            _ => {
                count += usize::from(!within);
                within = true;
            }
        }
    }
    count
}
