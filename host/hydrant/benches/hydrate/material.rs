//! What is hydrated: an agent and its skills.

use std::fmt::Write as _;
use std::fs;

/// The agent of [`os_root`].
pub(crate) const AGENT: &str = "os://agents/pilot.md";

/// An agent that has so many skills, each of 3 kB.
pub(crate) fn os_root(skills: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let os = directory.path();
    fs::create_dir_all(os.join("agents")).unwrap();
    fs::create_dir_all(os.join("skills")).unwrap();
    let mut agent = String::from("---\nname: Pilot\nskills:\n");
    for skill in 0..skills {
        writeln!(agent, "  - ../skills/skill-{skill}.md").unwrap();
        let body =
            "Read the checklist aloud, one item at a time, and wait for the answer.\n".repeat(40);
        let text = format!(
            "---\nname: Skill {skill}\ndescription: What skill {skill} is for, in a sentence or two of ordinary length.\n\
             skills: [./skill-0.md]\ntools: [../tools/check.sh]\n---\n# Skill {skill}\n\n{body}"
        );
        fs::write(os.join(format!("skills/skill-{skill}.md")), text).unwrap();
    }
    fs::write(os.join("agents/pilot.md"), agent + "---\nFly the plane.\n").unwrap();
    directory
}
