//! One sentence for each row that can be evaluated: the `shortDescription` of SARIF's rules.

/// What a row demands.
pub(super) fn description(row: &str) -> &'static str {
    match row {
        "TV-01" => "The lock is a regular file of at most 1048576 bytes.",
        "TV-02" => "The key ring has the digest of the anchor.",
        "TV-03" => {
            "The key ring is well-formed, large enough, and holds no shared or publicly known key."
        }
        "TV-04" => {
            "The lock is signed by enough distinct keys of the ring, and every signature verifies."
        }
        "TV-05" => "The lock is strict JSON of schema version 1.0.0.",
        "TV-06" => "The lock has its one exact form, its order and its member formats.",
        "TV-07" => "A bundle directory lies below the root, without symlinks.",
        "TV-08" => "The lock was made for the host world of this binary.",
        "TV-11" => "The required files of a bundle are regular files within their limits.",
        "TV-12" => "Manifest, signatures and component of a bundle agree.",
        "TV-13" => "The key ring of a bundle is the pinned one, byte for byte.",
        "TV-14" => "The artifact is the pinned one.",
        "TV-15" => "The manifest is the pinned one.",
        "TV-16" => "The manifest has the id and version of the entry.",
        "TV-17" => "The signers are the pinned ones, and every signature verifies.",
        "TV-18" => "Enough distinct keys signed the bundle.",
        "TV-19" => "The manifest keeps the project profile.",
        "TV-20" => "The bundle metadata agrees with the lock.",
        "TV-21" => "A bundle holds no other files.",
        "TV-22" => {
            "Every bundle on disk is pinned, every skill has its pinned SKILL.md, and nothing else is there."
        }
        "TV-23" => "The artifact is a component.",
        "TV-24" => "The component imports only what the host world offers.",
        "TV-25" => "Every imported interface is declared as a capability.",
        "TV-26" => "Every declared capability is imported and well-formed.",
        "TV-27" => "The component instantiates without any grant.",
        "TV-28" => "The component describes itself under its own id.",
        "TV-30" => "The policy trusts the signers.",
        "TV-31" => "Every capability lies within the ceiling of the policy.",
        "TV-32" => "No capability is wider than in the baseline.",
        "TV-33" => "No signer and no key differs from the baseline.",
        "TV-34" => "The rebuilt component has the pinned digest.",
        "TW-02" => "No capability is wider than before without being allowed.",
        "TW-04" => "No signer and no key changes without being allowed.",
        "TW-07" => "Every key that signs the lock is the one the ring has for its signer.",
        "TW-08" => {
            "The lock is what the bundles on disk give, and is signed with keys of the ring."
        }
        _ => "A row of the specification of bundles and trust.",
    }
}
