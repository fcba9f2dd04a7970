//! Arguments: commands that read, without the options that do more.

use std::ffi::OsString;

/// Options before the command. None of them has a value.
const GLOBAL: [&str; 8] = [
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
];

/// Neither the repository's diff programs nor what lies in a submodule.
const PLAIN_DIFF: &[&str] = &[
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "--submodule=short",
];

const NO_TEXTCONV: &[&str] = &["--no-textconv"];

/// Commands that read, and the options that each gets before its own.
const COMMANDS: [(&str, &[&str]); 19] = [
    ("blame", NO_TEXTCONV),
    ("cat-file", &[]),
    ("diff", PLAIN_DIFF),
    ("diff-files", PLAIN_DIFF),
    ("diff-index", PLAIN_DIFF),
    ("diff-tree", PLAIN_DIFF),
    ("for-each-ref", &[]),
    ("grep", NO_TEXTCONV),
    ("log", PLAIN_DIFF),
    ("ls-files", &[]),
    ("ls-tree", &[]),
    ("merge-base", &[]),
    ("name-rev", &[]),
    ("rev-list", &[]),
    ("rev-parse", &[]),
    ("shortlog", &[]),
    ("show", PLAIN_DIFF),
    ("show-ref", &[]),
    ("status", &["--ignore-submodules=dirty"]),
];

/// Long options that are refused wherever they stand, even behind `--`: what looks like the end of the options may be
/// the value of one. Git takes the beginning of a name for the name, so the beginnings are refused as well.
const REFUSED: [&str; 17] = [
    // Start a program.
    "ext-diff",
    "help",
    "open-files-in-pager",
    "textconv",
    // Merge again, with a configured driver, which writes objects; `on` and `m` mean what is configured.
    "diff-merges",
    "remerge-diff",
    // Enter submodules.
    "ignore-submodules",
    "recurse-submodules",
    "submodule",
    // Write a file, or read one that is not the repository's.
    "contents",
    "exclude-from",
    "exclude-per-directory",
    "ignore-revs-file",
    "no-index",
    "output",
    // Look at a directory elsewhere.
    "resolve-git-dir",
    "show-superproject-working-tree",
];

/// Names of options that are the beginning of a refused one. Git takes the whole name first.
const WHOLE: [&str; 2] = ["exclude", "ignore-rev"];

/// What begins like a refused option and is harmless.
const ALLOWED: [&str; 14] = [
    "--diff-merges=1",
    "--diff-merges=c",
    "--diff-merges=cc",
    "--diff-merges=combined",
    "--diff-merges=dense-combined",
    "--diff-merges=first-parent",
    "--diff-merges=none",
    "--diff-merges=off",
    "--diff-merges=separate",
    "--ignore-submodules",
    "--ignore-submodules=all",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--text",
];

/// Where the command stands in arguments that passed, and what it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) struct Checked {
    name: &'static str,
    at: usize,
    added: &'static [&'static str],
}

impl Checked {
    /// Checks `argv[1..]`; none if they are refused.
    pub(in crate::process) fn of(arguments: &[String]) -> Option<Self> {
        let at = arguments
            .iter()
            .position(|argument| !GLOBAL.contains(&argument.as_str()))?;
        let (asked, options) = arguments.get(at..)?.split_first()?;
        let (name, added) = COMMANDS.iter().find(|(name, _)| name == asked)?;
        let refused = options.iter().any(|option| is_refused(name, option));
        (!refused).then_some(Self { name, at, added })
    }

    /// Puts in what the command gets.
    pub(super) fn complete(self, arguments: &mut Vec<OsString>) {
        let behind = self.at.saturating_add(1).min(arguments.len());
        let added = self.added.iter().map(OsString::from);
        drop(arguments.splice(behind..behind, added));
    }

    /// Whether the command writes refreshed times to the index, whatever `GIT_OPTIONAL_LOCKS` says.
    pub(super) fn refreshes_the_index(self) -> bool {
        self.name == "diff"
    }

    /// Whether `git diff` is given a path outside of the work tree, from `depth` directories below its top level: of
    /// two such paths it compares the files, whatever they are.
    pub(super) fn leaves(self, arguments: &[OsString], depth: usize) -> bool {
        self.name == "diff"
            && arguments
                .iter()
                .skip(self.at)
                .any(|argument| leaves(argument.as_encoded_bytes(), depth))
    }
}

fn is_refused(command: &str, argument: &str) -> bool {
    if ALLOWED.contains(&argument) {
        return false;
    }
    match argument.strip_prefix("--") {
        Some(option) => {
            let name = option.split('=').next().unwrap_or_default();
            !name.is_empty()
                && !WHOLE.contains(&name)
                && REFUSED.iter().any(|refused| refused.starts_with(name))
        }
        None => argument
            .strip_prefix('-')
            .is_some_and(|letters| names_a_file(command, letters)),
    }
}

/// Whether one of the `letters` behind a dash, each of which may be an option, has the name of a file or of a program
/// behind it. Letters that begin with an option that has another value are that value.
fn names_a_file(command: &str, letters: &str) -> bool {
    let (refused, valued): (&[char], &[char]) = match command {
        // What git was told to have happened, and `-O` of a diff.
        "blame" => (&['S', 'O'], &['L']),
        // Patterns, and the pager.
        "grep" => (&['f', 'O'], &['e']),
        // Patterns to exclude.
        "ls-files" => (&['X', 'O'], &['x']),
        "log" | "show" => (&['O'], &['G', 'I', 'L', 'S']),
        // The order of a diff.
        _ => (&['O'], &['G', 'I', 'S']),
    };
    !letters.starts_with(valued) && letters.contains(refused)
}

/// Whether a path climbs above its first directory, `depth` levels up, or does not begin there.
fn leaves(path: &[u8], depth: usize) -> bool {
    let climb = |depth: usize, segment: &[u8]| match segment {
        b"" | b"." => Some(depth),
        b".." => depth.checked_sub(1),
        _ => depth.checked_add(1),
    };
    path.starts_with(b"/")
        || path
            .split(|byte| *byte == b'/')
            .try_fold(depth, climb)
            .is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn commands_that_read_pass() {
        for line in [
            "--no-pager status --porcelain=v2 --branch -z --untracked-files=all --ignore-submodules=dirty",
            "-P diff --no-ext-diff --submodule=short --cached --text --",
            "--no-pager diff-tree -p -r --root --diff-merges=first-parent HEAD",
            "--no-pager rev-parse --verify --end-of-options HEAD^{commit}",
            "log --follow --oneline --output-indicator-new=> --not HEAD~3 -- Output",
            "show HEAD:file",
            "grep -n -e fOo",
            "blame -L 1,2 file",
            "blame -fn -L:Some: --ignore-rev HEAD file",
            "grep -efOo",
            "ls-files -o -xX --exclude=X",
            "log -SOld -m -L:Of:file --exclude=x --all",
            "diff -GOld --diff-merges=cc HEAD",
            "rev-parse --git-path index",
        ] {
            assert!(Checked::of(&words(line)).is_some(), "{line}");
        }
    }

    #[test]
    fn whatever_configures_writes_or_starts_something_is_refused() {
        for line in [
            "",
            "--no-pager",
            "-c core.fsmonitor=x status",
            "-ccore.fsmonitor=x status",
            "--config-env=core.fsmonitor=X status",
            "--exec-path=/x status",
            "--git-dir=/x status",
            "--work-tree /x status",
            "-C /x status",
            "--namespace=x log",
            "--bare log",
            "-p log",
            "--paginate log",
            "--help",
            "--no-pager help status",
            "status --help",
            "commit -m x",
            "fetch",
            "ls-remote --upload-pack=x .",
            "archive --remote=x HEAD",
            "submodule update",
            "config --get x",
            "st",
            "Status",
            "log --ext-diff",
            "log --ext",
            "diff --ext-diff",
            "show --textconv",
            "cat-file --textconv HEAD:a",
            "diff --output=x",
            "diff --output x",
            "log --outp=x",
            "shortlog --output=x HEAD",
            "diff --no-index a b",
            "diff -- --no-index",
            "log --grep -- --output=x",
            "diff --ignore-submodules=none",
            "status --ignore-submodules=untracked",
            "diff --submodule",
            "diff --submodule=diff",
            "grep -Ox y",
            "grep -nOx y",
            "grep --open-files-in-pager=x y",
            "grep --open=x y",
            "grep -e --end-of-options -Ox",
            "grep --recurse-submodules x",
            "ls-files --recurse-submodules",
            "blame --contents /etc/passwd a",
            "blame --cont=/etc/passwd a",
            "blame -S /etc/passwd a",
            "blame -S/etc/passwd a",
            "blame -bS/etc/passwd a",
            "blame -wCS/etc/passwd a",
            "blame -O/etc/passwd a",
            "blame --ignore-revs-file /etc/passwd a",
            "blame --ignore-revs=/etc/passwd a",
            "grep -f /etc/passwd",
            "grep -nf/etc/passwd",
            "grep -Lf /etc/passwd",
            "ls-files -X /etc/passwd",
            "ls-files -oX/etc/passwd",
            "ls-files --exclude-from=/etc/passwd",
            "ls-files --exclude-f /etc/passwd",
            "ls-files --exclude-per-directory=../x",
            "ls-files --exclude-p=../x",
            "diff -O/etc/passwd",
            "diff -wO/etc/passwd",
            "diff-files -O /etc/passwd",
            "diff-index -O/etc/passwd HEAD",
            "diff-tree -O/etc/passwd HEAD",
            "log -O/etc/passwd",
            "log -pO/etc/passwd",
            "rev-list -O/etc/passwd HEAD",
            "shortlog -O/etc/passwd HEAD",
            "show -O/etc/passwd",
            "status -O/etc/passwd",
            "rev-parse --resolve-git-dir /x",
            "rev-parse --show-superproject-working-tree",
            "log -p --remerge-diff",
            "log -p --diff-merges=remerge",
            "log -p --diff-merges=r",
            "log -p --diff-merges=on",
            "log -p --diff-merges=m",
            "log -p --diff-merges r",
        ] {
            assert_eq!(Checked::of(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn options_go_right_behind_the_command() {
        let line = words("--no-pager status -- --ignore-submodules");
        let mut arguments: Vec<OsString> = line.iter().map(OsString::from).collect();
        Checked::of(&line).unwrap().complete(&mut arguments);
        let expected = words("--no-pager status --ignore-submodules=dirty -- --ignore-submodules");
        assert_eq!(
            arguments,
            expected.iter().map(OsString::from).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_diff_of_files_elsewhere_is_recognised() {
        for (path, depth, expected) in [
            ("/etc/passwd", 9, true),
            ("..", 0, true),
            ("../x", 1, false),
            ("../../x", 1, true),
            ("a/../../x", 0, true),
            ("a/./b//../../x", 0, false),
            ("HEAD..main", 0, false),
            ("HEAD:../x", 0, false),
            ("--cached", 0, false),
        ] {
            assert_eq!(leaves(path.as_bytes(), depth), expected, "{path} {depth}");
        }
    }

    proptest! {
        #[test]
        fn no_beginning_of_a_refused_option_passes(
            name in proptest::sample::select(REFUSED.to_vec()),
            end in 1..20_usize,
            value in "(=[a-zA-Z]{0,9})?",
            at in 0..3_usize,
        ) {
            let option = format!("--{}{value}", name.get(..end).unwrap_or(name));
            prop_assume!(!ALLOWED.contains(&option.as_str()));
            let whole = option.trim_start_matches('-').split('=').next().unwrap();
            prop_assume!(!WHOLE.contains(&whole));
            let mut line = words("log -p HEAD -- path");
            line.insert(at + 1, option);
            prop_assert_eq!(Checked::of(&line), None);
        }
    }
}
