"""Uses every package of a release, as its users would: `scripts/dist.sh --test` runs this.

$DIST is the folder of the release, $TOOLS the folder with the tools of requirements.txt and package.json. What takes root
is not passed over where there is none: it fails and says so.
"""

import functools
import glob
import hashlib
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = ROOT / "packaging/test"
DIST = pathlib.Path(os.environ["DIST"]).resolve()
TOOLS = pathlib.Path(os.environ["TOOLS"]).resolve()
ARCH = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}[platform.machine()]
VERSION = json.loads((DIST / "server.json").read_text())["version"]
sys.path.insert(0, str(ROOT / "packaging/make"))
from program import Program  # noqa: E402

AGENT = "os://agents/release-captain.md"


def one(pattern):
    """The only file of the release that matches."""
    found = glob.glob(str(DIST / pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return pathlib.Path(found[0])


def run(*command, status=0, stderr=subprocess.PIPE, **options):
    """The output of a command, which has to end with `status`."""
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=600, **options)
    assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def tool(name):
    return TOOLS / "venv/bin" / name


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # What the packages start finds nothing of this user.
        home = self.folder / "home"
        home.mkdir()
        self.environment = {**os.environ, "HOME": str(home), "npm_config_update_notifier": "false"}
        for name in [name for name in os.environ if name.startswith(("HYDRANT_", "XDG_"))]:
            del self.environment[name]

    def unpacked(self, archive):
        """The only folder that an archive unpacks to."""
        with tarfile.open(archive) as content:
            content.extractall(self.folder, filter="tar")
            return self.folder / content.getnames()[0].split("/")[0]

    def offered_by(self, command):
        """What a server offers a client of the official SDK, started in a folder that has an `os`."""
        done = run(tool("python"), TEST / "mcp_tools.py", ROOT / "examples", *command, env=self.environment)
        return json.loads(done.stdout)

    def test_checksums_hold(self):
        listed = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=DIST).stdout.count(": OK")
        present = [path for path in DIST.iterdir() if path.is_file() and path.name != "SHA256SUMS"]
        self.assertEqual(listed, len(present))

    def test_the_archive_runs_in_a_place_that_has_nothing_else(self):
        folder = self.unpacked(one(f"hydrant-{VERSION}-{ARCH}-unknown-linux-*.tar.gz"))
        self.assertLessEqual(
            {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt", "hydrant.cdx.json", "README.md"},
            {path.name for path in folder.iterdir()},
        )
        self.assertGreater(len(list((folder / "man/man1").glob("*.1"))), 20)
        run("bash", "-n", folder / "completions/hydrant.bash")
        place = self.folder / "empty"
        (place / "os/agents").mkdir(parents=True)
        shutil.copy(folder / "hydrant", place)
        shutil.copy(ROOT / "examples/os/agents/release-captain.md", place / "os/agents")
        if Program(folder / "hydrant").static:
            start = [TEST / "scratch_root.sh", "--empty", place, "/hydrant"]
        else:
            print("  the program is not static: run in an empty folder, not in an empty root", file=sys.stderr)
            start = ["env", "-i", "./hydrant"]
        self.assertIn(VERSION, run(*start, "--version", cwd=place).stdout)
        self.assertIn("content.hydrate", run(*start, "skills", cwd=place).stdout)
        payload = run(*start, "hydrate", AGENT, "--root", "os", cwd=place).stdout
        self.assertIn("release-captain", payload)

    def program(self):
        """The program of the archive, as the user of a new home starts it."""
        program = self.unpacked(one(f"hydrant-{VERSION}-{ARCH}-unknown-linux-*.tar.gz")) / "hydrant"
        return lambda *arguments, **options: run(program, *arguments, env=self.environment, **options)

    def test_processes_start_in_the_jail(self):
        hydrant = self.program()
        layers = json.loads(hydrant("doctor", "--format", "json").stdout)
        jail = {finding["layer"]: finding["state"] for finding in layers if finding["layer"].startswith("jail")}
        self.assertGreater(len(jail), 6)
        self.assertEqual(set(jail.values()), {"ok"})
        project = self.folder / "project"
        project.mkdir()
        user = hydrant("jail", "--workspace", ".", "--", "sh", "-c", "ls / > found; id -u", cwd=project).stdout
        self.assertEqual(user.strip(), "65534")
        found = (project / "found").read_text().split()
        self.assertIn("workspace", found)
        self.assertNotIn("home", found)
        # Tools say what they are for, each started in a jail.
        payload = json.loads(hydrant("hydrate", AGENT, "--root", ROOT / "examples/os").stdout)
        tools = payload["metadata"]["dependencies"]["tools"]
        self.assertGreater(len(tools), 2)
        self.assertNotIn("ERROR", json.dumps(tools))

    def test_a_repository_starts_nothing(self):
        hydrant = self.program()
        run("git", "init", "--quiet", self.folder)
        monitor = self.folder / "monitor"
        monitor.write_text("#!/bin/sh\ntouch started\n")
        monitor.chmod(0o755)
        run("git", "config", "core.fsmonitor", "./monitor", cwd=self.folder)
        status = json.loads(hydrant("run", "git.status", cwd=self.folder).stdout)
        self.assertIn("monitor", status["untracked"])
        self.assertFalse((self.folder / "started").exists())

    def test_https_trusts_the_roots_of_the_program_and_of_the_policy(self):
        hydrant = self.program()
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", key, "-out", certificate)  # fmt: skip
        (self.folder / "text.md").write_text("over TLS")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=self.folder))
        # A client that does not trust it hangs up, as it should.
        server.handle_error = lambda *_: None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        base = f"https://localhost:{server.server_port}/"

        def fetch(tls_roots, **options):
            policy = self.folder / "policy.yaml"
            policy.write_text(
                "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\n"
                f"capability_ceiling: {{net: ['{base}']}}\n"
                f"host: {{net: [{{url: '{base}', methods: [GET]}}], tls_roots: {tls_roots}}}\n"
            )
            return hydrant("run", "http.fetch_text", json.dumps({"url": base + "text.md"}), "--policy", policy, **options)

        self.assertIn("over TLS", fetch([str(certificate)]).stdout)
        self.assertIn("TLS handshake", fetch([], status=5).stderr)

    def test_the_bill_of_materials_is_one(self):
        for path in glob.glob(str(DIST / "*.cdx.json")):
            check = (
                "import pathlib, sys; from cyclonedx.schema import SchemaVersion;"
                "from cyclonedx.validation.json import JsonStrictValidator;"
                "error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(pathlib.Path(sys.argv[1]).read_text());"
                "sys.exit(error and str(error))"
            )
            run(tool("python"), "-c", check, path)
            names = {component["name"] for component in json.loads(pathlib.Path(path).read_text())["components"]}
            # Of the host, of a component, and a component.
            self.assertLessEqual({"wasmtime", "jaq-core", "git.status"}, names)
            # Of tests, and of macros.
            self.assertTrue({"proptest", "syn"}.isdisjoint(names))

    def test_the_debian_package_installs_serves_and_is_removed(self):
        shared = self.folder / "shared"
        shared.mkdir()
        shutil.copy(one(f"hydrant_{VERSION}_{'amd64' if ARCH == 'x86_64' else 'arm64'}.deb"), shared)
        print(run(TEST / "scratch_root.sh", shared, "bash", "-s", "package", input=service()).stdout, file=sys.stderr)

    def test_the_service_is_set_up_from_the_sources(self):
        shared = self.folder / "shared"
        shared.mkdir()
        archive = self.unpacked(one(f"hydrant-{VERSION}-{ARCH}-unknown-linux-*.tar.gz"))
        shutil.copy(archive / "hydrant", shared)
        shutil.copytree(ROOT / "deploy", shared / "deploy")
        shutil.copytree(ROOT / "examples/serve", shared / "examples/serve")
        run(TEST / "scratch_root.sh", shared, "bash", "-s", "sources", input=service())

    def test_the_wheel_gives_the_command(self):
        wheel = one(f"*_{ARCH}.whl")
        venv = self.folder / "venv"
        run(sys.executable, "-m", "venv", venv)
        pip = [venv / "bin/pip", "--disable-pip-version-check", "--quiet"]
        run(*pip, "install", "--no-index", wheel)
        self.assertIn(VERSION, run(venv / "bin/hydrant", "--version").stdout)
        # `uvx` starts the command that is called like the package.
        self.assertIn(VERSION, run(venv / "bin" / wheel.name.split("-")[0].replace("_", "-"), "--version").stdout)
        # Every file has the digest that RECORD says, and there is none beside them.
        run(*pip, "check")
        with zipfile.ZipFile(wheel) as content:
            record = next(name for name in content.namelist() if name.endswith("/RECORD"))
            lines = content.read(record).decode().splitlines()
            self.assertEqual(sorted(line.split(",")[0] for line in lines), sorted(content.namelist()))
        run(*pip, "uninstall", "--yes", wheel.name.split("-")[0])
        self.assertFalse((venv / "bin/hydrant").exists())

    def test_npx_starts_the_program(self):
        node_arch = {"x86_64": "x64", "aarch64": "arm64"}[ARCH]
        tarballs = [one(f"npm-hydrant-linux-{node_arch}-{VERSION}.tgz"), one(f"npm-hydrant-{VERSION}.tgz")]
        for tarball in tarballs:
            # npm itself would pack exactly these files.
            package = self.unpacked(tarball)
            with tarfile.open(tarball) as content:
                ours = sorted(name.removeprefix("package/") for name in content.getnames())
            packed = json.loads(run("npm", "pack", "--dry-run", "--json", cwd=package, env=self.environment).stdout)
            self.assertEqual(sorted(file["path"] for file in packed[0]["files"]), ours)
            shutil.rmtree(package)
        project = self.folder / "project"
        project.mkdir()
        (project / "package.json").write_text('{"private": true}')
        run("npm", "install", "--offline", "--no-audit", "--no-fund", *tarballs, cwd=project, env=self.environment)
        npx = ["npx", "--no-install", "hydrant"]
        self.assertIn(VERSION, run(*npx, "--version", cwd=project, env=self.environment).stdout)
        run(*npx, "no-such-command", status=2, cwd=project, env=self.environment)
        offered = self.offered_by([project / "node_modules/.bin/hydrant", "mcp", "--root", ROOT / "examples/os"])
        self.assertIn("hydrate", offered["tools"])
        # A signal to the starter ends the program.
        command = [project / "node_modules/.bin/hydrant", "mcp", "--root", ROOT / "examples/os"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            deadline = time.monotonic() + 60
            while not children.read_text().split():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            child = children.read_text().split()[0]
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            # On a busy machine the program may end a moment after its starter.
            deadline = time.monotonic() + 10
            while pathlib.Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertFalse(pathlib.Path(f"/proc/{child}").exists())

    def test_the_mcp_bundle_is_valid_and_its_server_answers(self):
        bundle = one(f"hydrant-{VERSION}-linux-{ARCH}.mcpb")
        mcpb = TOOLS / "node_modules/.bin/mcpb"
        place = self.folder / "bundle"
        run(mcpb, "unpack", bundle, place)
        run(mcpb, "validate", place / "manifest.json")
        manifest = json.loads((place / "manifest.json").read_text())
        server = manifest["server"]["mcp_config"]
        values = {"${__dirname}": str(place), "${user_config.root}": str(ROOT / "examples/os")}
        offered = self.offered_by([replaced(part, values) for part in [server["command"], *server["args"]]])
        self.assertLessEqual({"hydrate", "plan", "fs_read_text"}, set(offered["tools"]))
        self.assertIn(AGENT, offered["resources"])

    def test_the_claude_code_plugin_has_a_server_and_a_hook_that_work(self):
        marketplace = self.unpacked(one(f"hydrant-{VERSION}-claude-code-linux-{ARCH}.tar.gz"))
        run(tool("skillsaw"), "lint", "--strict", marketplace)
        listing = json.loads((marketplace / ".claude-plugin/marketplace.json").read_text())
        entry = listing["plugins"][0]
        plugin = marketplace / entry["source"]
        manifest = json.loads((plugin / ".claude-plugin/plugin.json").read_text())
        self.assertEqual((entry["name"], entry["version"]), (manifest["name"], manifest["version"]))
        self.assertEqual(manifest["version"], VERSION)
        values = {"${CLAUDE_PLUGIN_ROOT}": str(plugin)}
        server = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["hydrant"]
        offered = self.offered_by([replaced(part, values) for part in [server["command"], *server["args"]]])
        self.assertIn("hydrate", offered["tools"])
        self.assertIn(AGENT, offered["resources"])
        hook = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]["UserPromptSubmit"][0]["hooks"][0]
        prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(self.folder), "prompt": "fix the bug"}
        answer = run(
            "sh",
            "-c",
            hook["command"],
            input=json.dumps(prompt),
            cwd=self.folder,
            env={**self.environment, "CLAUDE_PLUGIN_ROOT": str(plugin), "HYDRANT_TMPDIR": str(self.folder / "plans")},
        ).stdout
        self.assertEqual(json.loads(answer)["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit")

    def test_the_registry_is_told_what_is_there(self):
        path = DIST / "server.json"
        check = (
            "import importlib.resources, json, jsonschema, sys;"
            "server = json.load(open(sys.argv[1]));"
            "version = server['$schema'].split('/')[-2].replace('-', '_');"
            "schema = importlib.resources.files('skillsaw') / f'schemas/mcp_registry/v{version}/server.schema.json';"
            "jsonschema.validate(server, json.loads(schema.read_text()))"
        )
        run(tool("python"), "-c", check, path)
        server = json.loads(path.read_text())
        bundles = [package for package in server["packages"] if package["registryType"] == "mcpb"]
        self.assertEqual(len(bundles), len(glob.glob(str(DIST / "*.mcpb"))))
        for package in bundles:
            bundle = DIST / package["identifier"].split("/")[-1]
            self.assertEqual(package["fileSha256"], hashlib.sha256(bundle.read_bytes()).hexdigest())
        # How the registry knows that the packages are of the same people.
        with tarfile.open(one(f"npm-hydrant-{VERSION}.tgz")) as content:
            self.assertEqual(json.load(content.extractfile("package/package.json"))["mcpName"], server["name"])
        wheel = zipfile.ZipFile(one(f"*_{ARCH}.whl"))
        metadata = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
        self.assertIn(f"mcp-name: {server['name']} ", wheel.read(metadata).decode())

    def test_the_containers_image_is_built_and_gives_its_folders_to_its_user(self):
        store = ["--storage-driver", "vfs", "--root", self.folder / "store", "--runroot", self.folder / "run"]
        buildah = ["buildah", *store]
        run(*buildah, "build", "--isolation", "chroot", "--build-arg", "BASE=scratch", "--tag", "hydrant", DIST / "container")
        container = run(*buildah, "from", "localhost/hydrant").stdout.strip()
        place = pathlib.Path(run(*buildah, "mount", container).stdout.strip())
        for folder in ("var/lib", "var/cache"):
            self.assertEqual(owner_and_mode(place / folder), (0, 0o755))
            self.assertEqual(owner_and_mode(place / folder / "hydrant"), (10001, 0o700))
        config = json.loads(run(*buildah, "inspect", "--type", "image", "localhost/hydrant").stdout)["OCIv1"]["config"]
        self.assertEqual(config["User"], "10001:10001")
        program = config["Entrypoint"][0]
        if Program(place / program.lstrip("/")).static:
            start = ["chroot", "--userspec=10001:10001", place, program]
            environment = dict(variable.split("=", 1) for variable in config["Env"])
            self.assertIn("content.hydrate", run(*start, "skills", env={**os.environ, **environment}).stdout)
        run(*buildah, "unmount", container)


def owner_and_mode(path):
    found = path.stat()
    return found.st_uid, found.st_mode & 0o7777


class Action(unittest.TestCase):
    """The steps of action.yml, on roots that are and are not as they were pinned."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "root"
        for part in ("pins", "skills"):
            shutil.copytree(ROOT / part, self.root / part)
        self.archive = one(f"hydrant-{VERSION}-{ARCH}-unknown-linux-*.tar.gz")
        ring = (ROOT / "pins/skills.lock.json").read_text()
        self.keys_digest = json.loads(ring)["skills"][0]["keys_digest"]

    def verify(self, status, **inputs):
        given = {
            "PATH": str(self.archive),
            "SHA256": hashlib.sha256(self.archive.read_bytes()).hexdigest(),
            "ROOT": str(self.root),
            "KEYS_DIGEST": self.keys_digest,
            **inputs,
        }
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = {**kept, "GITHUB_OUTPUT": str(self.folder / "output"), "RUNNER_TEMP": str(self.folder)}
        environment |= {f"INPUT_{name}": value for name, value in given.items()}
        # A runner reads both streams as one.
        script = ROOT / "packaging/action/verify.sh"
        return run(script, status=status, cwd=self.folder, env=environment, stderr=subprocess.STDOUT).stdout

    def test_a_root_as_it_was_pinned_passes(self):
        self.assertIn("OK verify-pins", self.verify(0, LOCK="true"))
        self.assertEqual((self.folder / "output").read_text(), "status=0\n")

    def test_a_tampered_root_fails_and_the_report_says_where(self):
        component = next((self.root / "skills/git.status").rglob("*.wasm"))
        component.write_bytes(component.read_bytes() + b"\0")
        output = self.verify(2, FORMAT="sarif", REPORT="pins.sarif")
        self.assertIn("::error title=hydrant verify::bytes are not what was pinned", output)
        self.assertIn("git.status", (self.folder / "pins.sarif").read_text())

    def test_names_of_files_are_no_commands_to_the_runner(self):
        component = next((self.root / "skills/git.status").rglob("*.wasm"))
        (component.parent / "\n::error::forged").write_text("")
        lines = self.verify(2).splitlines()
        stop = next(line for line in lines if line.startswith("::stop-commands::"))
        start = lines.index(f"::{stop.removeprefix('::stop-commands::')}::")
        forged = [number for number, line in enumerate(lines) if "forged" in line]
        self.assertTrue(forged)
        self.assertTrue(all(lines.index(stop) < number < start for number in forged))

    def test_keys_of_somebody_else_fail(self):
        self.assertIn("not what was trusted", self.verify(3, KEYS_DIGEST="sha256:" + "0" * 64))

    def test_an_empty_digest_of_keys_is_told_as_that(self):
        output = self.verify(1, KEYS_DIGEST="")
        self.assertIn("keys-digest is empty", output)
        self.assertIn("forks", output)

    def test_a_baseline_that_pins_nothing_is_passed_over_and_another_is_compared(self):
        (self.folder / "baseline").mkdir()
        self.assertIn("pins nothing yet", self.verify(0, BASELINE=str(self.folder / "baseline")))
        self.assertNotIn("pins nothing yet", self.verify(0, BASELINE=str(ROOT)))
        self.assertIn("baseline is no directory", self.verify(1, BASELINE=str(self.folder / "none")))

    def test_a_program_of_another_digest_is_not_run(self):
        marker = self.folder / "ran"
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\ntouch {marker}\n")
        program.chmod(0o755)
        self.assertIn("nothing was run", self.verify(1, PATH=str(program)))
        self.assertFalse(marker.exists())

    def test_a_release_is_taken_by_its_digest_only(self):
        self.assertIn("sha256 is empty", self.verify(1, PATH="", VERSION=VERSION, SHA256=""))
        self.assertIn("a version such as", self.verify(1, PATH="", VERSION="latest"))
        self.assertIn("exclude each other", self.verify(1, VERSION=VERSION))

    def test_every_input_reaches_the_script(self):
        action = (ROOT / "action.yml").read_text()
        script = (ROOT / "packaging/action/verify.sh").read_text()
        passed = dict(re.findall(r"(INPUT_[A-Z0-9_]+): \$\{\{ inputs\.([a-z0-9-]+) \}\}", action))
        declared = re.findall(r"^  ([a-z0-9-]+):$", action.split("\noutputs:")[0], re.MULTILINE)
        self.assertEqual(sorted(passed.values()), sorted(declared))
        self.assertEqual(set(passed), set(re.findall(r"INPUT_[A-Z0-9_]+", script)))


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_):
        pass


def service():
    return (TEST / "service.sh").read_text()


def replaced(text, values):
    """`text` as a client fills it in, with nothing that is left to fill in."""
    for name, value in values.items():
        text = text.replace(name, value)
    assert "${" not in text, text
    return text


if __name__ == "__main__":
    unittest.main(verbosity=2)
