//! What of a child's output a guest sees: virtual paths in the place of real ones.

use std::path::Path;

/// Real directories, and what stands for them in what a guest sees.
#[derive(Debug, Clone, Default)]
pub(super) struct Disguise(Vec<(Vec<u8>, Vec<u8>)>);

impl Disguise {
    /// Shows `real` as `shown`. The root directory is no secret and stays as it is.
    pub(super) fn add(&mut self, real: &Path, shown: &str) {
        let real = real.as_os_str().as_encoded_bytes();
        if real.len() > 1 {
            self.0.push((real.to_owned(), shown.as_bytes().to_owned()));
            // One directory may lie in another: the longer one goes first.
            self.0
                .sort_by_key(|(real, _)| std::cmp::Reverse(real.len()));
        }
    }

    /// Bytes beyond a cap that have to be known, so that no part of a real path stays at its end.
    pub(super) fn look_ahead(&self) -> usize {
        self.0.first().map_or(0, |(real, _)| real.len())
    }

    /// The first `keep` bytes of what was `written`, disguised, and never more than `keep` bytes; and
    /// whether anything was left out.
    pub(super) fn apply(&self, written: &[u8], keep: usize) -> (Vec<u8>, bool) {
        let mut shown = Vec::with_capacity(written.len().min(keep));
        let mut rest = written;
        while written.len().saturating_sub(rest.len()) < keep {
            let Some((first, after)) = rest.split_first() else {
                break;
            };
            let hit = (*first == b'/')
                .then(|| {
                    self.0.iter().find_map(|(real, shown)| {
                        Some((rest.strip_prefix(real.as_slice())?, shown))
                    })
                })
                .flatten();
            match hit {
                Some((after, replacement)) => {
                    shown.extend_from_slice(replacement);
                    rest = after;
                }
                None => {
                    shown.push(*first);
                    rest = after;
                }
            }
        }
        let cut = !rest.is_empty() || shown.len() > keep;
        shown.truncate(keep);
        (shown, cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disguise() -> Disguise {
        let mut disguise = Disguise::default();
        disguise.add(Path::new("/home/ann/os"), "/os");
        disguise.add(Path::new("/home/ann/os/tmp/x"), "/scratch");
        disguise.add(Path::new("/"), "/root");
        disguise
    }

    #[test]
    fn real_directories_are_replaced_and_the_longest_goes_first() {
        let written = b"usage: /home/ann/os/t.sh, in /home/ann/os/tmp/x/y and /etc";
        let (shown, cut) = disguise().apply(written, 1000);
        assert_eq!(shown, b"usage: /os/t.sh, in /scratch/y and /etc");
        assert!(!cut);
    }

    #[test]
    fn a_cap_in_the_middle_of_a_real_path_shows_nothing_of_it() {
        let written = b"at /home/ann/os/t.sh";
        for keep in 4..written.len() {
            let (shown, cut) = disguise().apply(written, keep);
            assert!(b"at /os/t.sh".starts_with(&shown), "{keep}: {shown:?}");
            assert!(shown.len() <= keep);
            assert!(cut || keep >= written.len());
        }
    }

    #[test]
    fn what_is_over_the_cap_is_dropped_and_said() {
        assert_eq!(
            Disguise::default().apply(b"abcdef", 4),
            (b"abcd".to_vec(), true)
        );
        assert_eq!(
            Disguise::default().apply(b"abcd", 4),
            (b"abcd".to_vec(), false)
        );
        assert_eq!(Disguise::default().apply(b"a", 0), (Vec::new(), true));
        assert_eq!(Disguise::default().apply(b"", 0), (Vec::new(), false));
    }
}
