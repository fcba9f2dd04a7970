//! Components that use up what they may: whatever the budget, another tenant's calls take about as long as without them.
//!
//! They are pinned in a root of their own, signed with keys that are made for it, beside `content.hydrate`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::guests::{self, Parts, answer, component, description};
use crate::house::{House, Server};

const SIGNERS: [&str; 2] = ["team.build", "team.release"];
/// Clients that call the hostile component all the time: as many as one tenant may have running, and some that wait.
const FLOOD: usize = 6;
/// Calls of the other tenant that are looked at together.
const CALLS: usize = 1000;
/// What a busy machine adds to single calls in any case.
const FLOOR: Duration = Duration::from_millis(2);

fn misbehaving(name: &str, core: &str, run: &str) -> Vec<u8> {
    component(&Parts {
        description: &description(name),
        describing: "",
        imports: "",
        with: "",
        core,
        run,
    })
}

/// One for each kind of budget: its name, a word of the code that its calls end with, and its bytes.
fn hostile() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let nothing = answer("(i32.const 0)", "(i32.const 0)");
    let forever = "(loop $again (br $again)) (unreachable)";
    // A page at a time, each of which is written to.
    let hoarding = "(loop $again
        (local.set $i (memory.grow (i32.const 1)))
        (i32.store (i32.mul (local.get $i) (i32.const 65536)) (i32.const 1))
        (br $again)) (unreachable)";
    let talkative = format!(
        "(drop (memory.grow (i32.const 300))) {}",
        answer("(i32.const 65536)", "(i32.const 18000000)")
    );
    // As much as may be, and then too much at once.
    let tables = format!(
        "(drop (table.grow $t (ref.null func) (i32.const 90000)))
         (drop (table.grow $t (ref.null func) (i32.const 100001))) {nothing}"
    );
    vec![
        ("demo.fuel", "fuel", misbehaving("demo.fuel", "", forever)),
        (
            "demo.wall",
            "timeout",
            misbehaving("demo.wall", "", forever),
        ),
        (
            "demo.memory",
            "memory",
            misbehaving("demo.memory", "", hoarding),
        ),
        (
            "demo.output",
            "output",
            misbehaving("demo.output", "", &talkative),
        ),
        (
            "demo.table",
            "memory",
            misbehaving("demo.table", "(table $t 0 funcref)", &tables),
        ),
        (
            "demo.hostcalls",
            "hostcall",
            guests::reading("demo.hostcalls", "/workspace/own.txt", 10_000_000),
        ),
    ]
}

/// What the program says when it is called so in the folder of the keys.
fn said(house: &House, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hydrant"));
    let output = command
        .current_dir(house.path("root"))
        .env("HYDRANT_SIGNING_KEYS", house.path("keys"))
        .env("HYDRANT_HOME", house.path("signing"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn pack(house: &House, name: &str, wasm: &[u8], capabilities: &Value, skill_md: &str) {
    use std::fmt::Write as _;
    let mut digest = String::new();
    for byte in <sha2::Sha256 as sha2::Digest>::digest(wasm) {
        write!(digest, "{byte:02x}").unwrap();
    }
    let manifest = json!({
        "name": name, "version": "1.0.0", "entrypoint": "run", "artifact": format!("sha256:{digest}"),
        "capabilities": capabilities, "signers": SIGNERS,
    });
    house.write("manifest.json", &manifest.to_string());
    fs::write(house.path("skill.wasm"), wasm).unwrap();
    let bundle = format!("skills/{name}/1.0.0");
    let (wasm, manifest) = ("../skill.wasm", "../manifest.json");
    said(
        house,
        &[
            "pack",
            "--bundle",
            &bundle,
            "--wasm",
            wasm,
            "--manifest",
            manifest,
        ],
    );
    for signer in SIGNERS {
        said(house, &["sign", "--bundle", &bundle, "--signer", signer]);
    }
    house.write(&format!("root/skills/{name}/SKILL.md"), skill_md);
}

/// Pins all of them: the digest of the ring.
fn pin(house: &House) -> String {
    use std::os::unix::fs::PermissionsExt;
    house.write("root/pins/.keep", "");
    for folder in ["keys", "signing"] {
        fs::create_dir(house.path(folder)).unwrap();
        fs::set_permissions(house.path(folder), fs::Permissions::from_mode(0o700)).unwrap();
    }
    for signer in SIGNERS {
        said(house, &["keys", "generate", signer]);
    }
    let ring = said(house, &["keys", "public", SIGNERS[0], SIGNERS[1]]);
    house.write("root/pins/public-keys.json", &format!("{ring}\n"));
    fs::remove_file(house.path("root/pins/.keep")).unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills/content.hydrate");
    let version = fs::read_dir(&own)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    let manifest: Value =
        serde_json::from_slice(&fs::read(version.join("manifest.json")).unwrap()).unwrap();
    let text = fs::read_to_string(own.join("SKILL.md")).unwrap();
    let wasm = fs::read(version.join("skill.wasm")).unwrap();
    pack(
        house,
        "content.hydrate",
        &wasm,
        &manifest["capabilities"],
        &text,
    );
    for (name, _, wasm) in hostile() {
        let text = format!("---\nname: {name}\ndescription: Misbehaves.\n---\n");
        let reads = json!([{"kind": "fs.read", "value": "/workspace"}]);
        let none = json!([]);
        let declared = if name == "demo.hostcalls" {
            &reads
        } else {
            &none
        };
        pack(house, name, &wasm, declared, &text);
    }
    let digest = said(house, &["keys", "digest", "pins/public-keys.json"]);
    let update = [
        "lock",
        "--update",
        "--init",
        "--allow-widen",
        "--keys-digest",
        &digest,
    ];
    said(house, &update);
    digest
}

/// What `beta` asks for meanwhile.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// A hydration that is answered from memory.
    Kept,
    /// One of a file that has just changed, which the component is called for.
    Anew,
}

impl Asked {
    /// The time within which 99 of 100 calls of `beta` are answered.
    fn p99(self, house: &House, server: &Server) -> Duration {
        let client = server.client("beta", "caller");
        let mut times: Vec<_> = (0..CALLS)
            .map(|number| {
                if matches!(self, Self::Anew) {
                    let text = format!("---\nname: Own\ndescription: {number}\n---\nOwn.\n");
                    house.write("beta/os/agents/changing.md", &text);
                }
                let started = Instant::now();
                client.hydrate(self.uri()).ok();
                started.elapsed()
            })
            .collect();
        times.sort_unstable();
        times[CALLS * 99 / 100 - 1]
    }

    fn uri(self) -> &'static str {
        match self {
            Self::Kept => "os://agents/own.md",
            Self::Anew => "os://agents/changing.md",
        }
    }
}
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// How much longer `beta`'s calls take while another tenant runs this: medians of times that were taken by turns.
#[allow(
    clippy::print_stderr,
    reason = "the figures, for who runs it with --nocapture"
)]
fn moved(
    (house, server): (&House, &Server),
    asked: Asked,
    (skill, budget): (&str, &str),
    rounds: usize,
) -> f64 {
    let tenant = if budget == "timeout" {
        "gamma"
    } else {
        "alpha"
    };
    let (mut quiet, mut loud) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        quiet.push(asked.p99(house, server));
        let (stop, ended) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..FLOOD {
                scope.spawn(|| {
                    let client = server.client(tenant, "caller");
                    let path = format!("/v1/skills/{skill}/run");
                    while !stop.load(Ordering::Relaxed) {
                        let answer = client.post(&path, &json!({}));
                        // Who floods waits behind himself, and in the end in vain.
                        if matches!(answer.status, 429 | 503) {
                            continue;
                        }
                        assert_eq!(answer.status, 422, "{}", answer.text());
                        assert!(answer.code().contains(budget), "{}", answer.text());
                        ended.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(200));
            loud.push(asked.p99(house, server));
            stop.store(true, Ordering::Relaxed);
        });
        assert!(ended.load(Ordering::Relaxed) > 0);
    }
    let (quiet, loud) = (median(quiet), median(loud));
    let ratio = loud.as_secs_f64() / quiet.max(FLOOR).as_secs_f64();
    eprintln!("{skill}, {asked:?}: p99 {quiet:?} without, {loud:?} with it, {ratio:.2}");
    ratio
}

/// A server of a tenant `beta`, and two whose budgets are tried.
fn serving(house: &House) -> Server {
    let digest = pin(house);
    let limits = |limits: &str| {
        format!(
            "version: 1\ntrusted_signers: [team.build, team.release]\ncapability_ceiling:\n  fs: {{read: [/os, /workspace]}}\nhost:\n  mounts:\n    - {{at: /os, dir: \"@cli\", mode: ro}}\n    - {{at: /workspace, dir: \"@cli\", mode: ro}}\n  limits: {{{limits}}}\n"
        )
    };
    house.write("server.yaml", &limits("fuel: 20000000000"));
    house.write("fuel.yaml", &limits("fuel: 300000000, hostcalls: 20000"));
    house.write("wall.yaml", &limits("wall_ms: 200"));
    house.tenants(&[
        ("alpha", "policy = \"fuel.yaml\""),
        ("beta", ""),
        ("gamma", "policy = \"wall.yaml\""),
    ]);
    let root = house.path("root");
    house.serve_with(&[
        "--root",
        root.to_str().unwrap(),
        "--keys-digest",
        &digest,
        "--policy",
        "server.yaml",
    ])
}

#[test]
fn a_hostile_component_ends_with_its_budget_while_others_are_served() {
    let house = House::new();
    let server = serving(&house);
    for (skill, budget, _) in hostile() {
        for asked in [Asked::Kept, Asked::Anew] {
            moved((&house, &server), asked, (skill, budget), 1);
        }
    }
    // And whoever was hostile is served again.
    server
        .client("alpha", "caller")
        .hydrate("os://agents/own.md")
        .ok();
}

#[test]
#[ignore = "a measurement, for a machine that does nothing else: scripts/load.sh --hostile"]
fn a_hostile_component_of_each_budget_hardly_moves_another_tenants_calls() {
    let house = House::new();
    let server = serving(&house);
    // Until the file that is hydrated is no new one, and all is as fast as it will be.
    std::thread::sleep(Duration::from_secs(4));
    Asked::Kept.p99(&house, &server);
    let kinds = hostile();
    let ratios: Vec<_> = [Asked::Kept, Asked::Anew]
        .into_iter()
        .flat_map(|asked| kinds.iter().map(move |kind| (asked, kind)))
        .map(|(asked, (skill, budget, _))| {
            let ratio = moved((&house, &server), asked, (skill, budget), 5);
            (*skill, asked, ratio)
        })
        .collect();
    assert!(
        ratios.iter().all(|(.., ratio)| *ratio <= 2.0),
        "{ratios:.2?}"
    );
}
