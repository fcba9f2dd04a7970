//! The findings of a verification of pins, and the rules that it evaluated.
//!
//! Most text of a finding comes from files that are not verified yet. It is escaped here, once, so that a finding is always one
//! line of printable ASCII.

use std::collections::BTreeSet;
use std::fmt;

use hydrant_base::escaped;

/// What kind of failure a finding is; its number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Bytes are not what they should be: exit 2.
    Drift,
    /// A signature, a key or a signer is not trusted: exit 3.
    Trust,
    /// A component imports, declares or gets more than it may: exit 4.
    Policy,
}

impl Class {
    /// The exit code of findings of this class alone.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Drift => 2,
            Self::Trust => 3,
            Self::Policy => 4,
        }
    }

    /// Which class decides when there are several: 3 before 4 before 2.
    const fn weight(self) -> u8 {
        match self {
            Self::Drift => 0,
            Self::Policy => 1,
            Self::Trust => 2,
        }
    }
}

/// A rule that a verification or a lock command evaluates, with the class of its findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    id: &'static str,
    class: Class,
    about: &'static str,
}

macro_rules! rows {
    ($($name:ident = $id:literal, $class:ident, $about:literal;)*) => {
        impl Row {
            $(
                #[doc = $about]
                pub const $name: Self = Self {
                    id: $id,
                    class: Class::$class,
                    about: $about,
                };
            )*
        }
    };
}

rows! {
    TV_01 = "TV-01", Drift, "The lock is a regular file of at most 1048576 bytes.";
    TV_02 = "TV-02", Trust, "The key ring has the digest of the anchor.";
    TV_03 = "TV-03", Trust, "The key ring is well-formed, large enough, and holds no shared or publicly known key.";
    TV_04 = "TV-04", Trust, "The lock is signed by enough distinct keys of the ring, and every signature verifies.";
    TV_05 = "TV-05", Drift, "The lock is strict JSON of schema version 1.0.0.";
    TV_06 = "TV-06", Drift, "The lock has its one exact form, its order and its member formats.";
    TV_07 = "TV-07", Drift, "A bundle directory lies below the root, without symlinks.";
    TV_08 = "TV-08", Drift, "The lock was made for the host world of this binary.";
    TV_11 = "TV-11", Drift, "The required files of a bundle are regular files within their limits.";
    TV_12 = "TV-12", Drift, "Manifest, signatures and component of a bundle agree.";
    TV_13 = "TV-13", Trust, "The key ring of a bundle is the pinned one, byte for byte.";
    TV_14 = "TV-14", Drift, "The artifact is the pinned one.";
    TV_15 = "TV-15", Drift, "The manifest is the pinned one.";
    TV_16 = "TV-16", Drift, "The manifest has the id and version of the entry.";
    TV_17 = "TV-17", Trust, "The signers are the pinned ones, and every signature verifies.";
    TV_18 = "TV-18", Trust, "Enough distinct keys signed the bundle.";
    TV_19 = "TV-19", Drift, "The manifest keeps the project profile.";
    TV_20 = "TV-20", Drift, "The bundle metadata agrees with the lock.";
    TV_21 = "TV-21", Drift, "A bundle holds no other files.";
    TV_22 = "TV-22", Drift, "Every bundle on disk is pinned, every skill has its pinned SKILL.md, and nothing else is there.";
    TV_23 = "TV-23", Drift, "The artifact is a component.";
    TV_24 = "TV-24", Policy, "The component imports only what the host world offers.";
    TV_25 = "TV-25", Policy, "Every imported interface is declared as a capability.";
    TV_26 = "TV-26", Policy, "Every declared capability is imported and well-formed.";
    TV_27 = "TV-27", Drift, "The component instantiates without any grant.";
    TV_28 = "TV-28", Drift, "The component describes itself under its own id.";
    TV_30 = "TV-30", Trust, "The policy trusts the signers.";
    TV_31 = "TV-31", Policy, "Every capability lies within the ceiling of the policy.";
    TV_32 = "TV-32", Policy, "No capability is wider than in the baseline.";
    TV_33 = "TV-33", Trust, "No signer and no key differs from the baseline.";
    TV_34 = "TV-34", Drift, "The rebuilt component has the pinned digest.";
    TW_02 = "TW-02", Policy, "No capability is wider than before without being allowed.";
    TW_04 = "TW-04", Trust, "No signer and no key changes without being allowed.";
    TW_07 = "TW-07", Trust, "Every key that signs the lock is the one the ring has for its signer.";
    TW_08 = "TW-08", Drift, "The lock is what the bundles on disk give, and is signed with keys of the ring.";
    TW_08_SIGN = "TW-08", Trust, "The lock is what the bundles on disk give, and is signed with keys of the ring.";
}

impl Row {
    /// The row as `verify` prints it, `TV-07`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.id
    }

    /// The class of its findings.
    #[must_use]
    pub const fn class(self) -> Class {
        self.class
    }

    /// What it demands, in one sentence.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.about
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// One thing that is wrong. All texts are escaped; sorted by skill (none first), row, path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub row: Row,
    /// `id@version`, or none for what concerns the lock or the whole root.
    pub skill: Option<String>,
    /// Relative to the root.
    pub path: Option<String>,
    /// What is wrong and where.
    pub message: String,
    /// What should be there.
    pub expected: Option<String>,
    /// What is there.
    pub actual: Option<String>,
}

impl Finding {
    /// A finding of the lock or the whole root.
    #[must_use]
    pub fn new(row: Row, message: impl fmt::Display) -> Self {
        Self {
            row,
            skill: None,
            path: None,
            message: escaped(&message.to_string()),
            expected: None,
            actual: None,
        }
    }

    /// Of the entry `id@version`.
    #[must_use]
    pub fn of(mut self, skill: Option<&str>) -> Self {
        self.skill = skill.map(escaped);
        self
    }

    /// In this file, relative to the root.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.path = Some(escaped(path));
        self
    }

    /// With both sides of a comparison that failed.
    #[must_use]
    pub fn because(mut self, expected: impl fmt::Display, actual: impl fmt::Display) -> Self {
        self.expected = Some(escaped(&expected.to_string()));
        self.actual = Some(escaped(&actual.to_string()));
        self
    }

    /// The class of its row.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.row.class()
    }

    fn order(&self) -> (&Option<String>, Row, &Option<String>, &str) {
        (&self.skill, self.row, &self.path, &self.message)
    }
}

/// A line of a report without the `error: `.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.skill.as_deref().unwrap_or("lock");
        write!(f, "{subject} {} {}", self.row, self.message)
    }
}

/// The findings so far, and every rule that was evaluated, with its entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    found: Vec<Finding>,
    evaluated: BTreeSet<(Option<String>, Row)>,
}

impl Findings {
    /// Records that a rule was evaluated for an entry, or without one for the lock and the whole root.
    pub fn evaluate(&mut self, row: Row, skill: Option<&str>) {
        self.evaluated.insert((skill.map(escaped), row));
    }

    /// Adds a finding, and records that its rule was evaluated.
    pub fn report(&mut self, finding: Finding) {
        self.evaluated.insert((finding.skill.clone(), finding.row));
        self.found.push(finding);
    }

    /// Adds several findings.
    pub fn report_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings
            .into_iter()
            .for_each(|finding| self.report(finding));
    }

    /// Adds the findings and evaluated rules of another part of the verification.
    pub fn extend(&mut self, other: Self) {
        self.found.extend(other.found);
        self.evaluated.extend(other.evaluated);
    }

    /// The findings, sorted by skill, rule and path once [`sort`](Self::sort) was called.
    #[must_use]
    pub fn found(&self) -> &[Finding] {
        &self.found
    }

    /// Each evaluated rule with its entry; those of the lock and the root come first.
    pub fn evaluated(&self) -> impl Iterator<Item = (Option<&str>, Row)> {
        self.evaluated
            .iter()
            .map(|(skill, row)| (skill.as_deref(), *row))
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// By skill (none first), row, path.
    pub fn sort(&mut self) {
        self.found
            .sort_by(|one, other| one.order().cmp(&other.order()));
        self.found.dedup();
    }

    /// 0 without findings, else 3 before 4 before 2.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.found
            .iter()
            .map(Finding::class)
            .max_by_key(|class| class.weight())
            .map_or(0, Class::exit_code)
    }

    /// The finding that decides the exit code: the first by rule in the class that decides.
    pub(super) fn into_decisive(self) -> Option<Finding> {
        let rank = |finding: &Finding| (finding.class().weight(), std::cmp::Reverse(finding.row));
        // `max_by_key` takes the last of equals: reversed, so that it is the first that was found.
        self.found.into_iter().rev().max_by_key(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_goes_before_four_and_four_before_two() {
        let mut findings = Findings::default();
        assert_eq!(findings.exit_code(), 0);
        for (row, expected) in [
            (Row::TV_11, 2),
            (Row::TV_25, 4),
            (Row::TV_17, 3),
            (Row::TV_31, 3),
        ] {
            findings.report(Finding::new(row, "x"));
            assert_eq!(findings.exit_code(), expected);
        }
        assert_eq!(findings.into_decisive().unwrap().row, Row::TV_17);
    }

    #[test]
    fn findings_are_sorted_by_skill_row_path() {
        let mut findings = Findings::default();
        let finding = |row, skill, path| Finding::new(row, "x").of(skill).at(path);
        let sorted = [
            finding(Row::TV_06, None, "b"),
            finding(Row::TV_22, None, "a"),
            finding(Row::TV_11, Some("a@1"), "a"),
            finding(Row::TV_11, Some("a@1"), "b"),
            finding(Row::TV_07, Some("b@1"), "a"),
        ];
        for one in sorted.iter().rev() {
            findings.report(one.clone());
        }
        findings.sort();
        assert_eq!(findings.found(), sorted);
    }

    #[test]
    fn a_finding_is_one_line_whatever_a_file_holds() {
        let finding = Finding::new(Row::TV_16, "named \"a\u{1b}[2J\n\u{202e}\"").of(Some("a\n@1"));
        let line = finding.to_string();
        assert!(
            line.bytes().all(|byte| matches!(byte, b' '..=b'~')),
            "{line}"
        );
        assert!(line.contains("TV-16 named"), "{line}");
        assert!(
            Finding::new(Row::TV_01, "gone")
                .to_string()
                .starts_with("lock TV-01 ")
        );
    }
}
