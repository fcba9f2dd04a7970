"""Starts the built program as a service on a free port of loopback, with tenants in a folder that goes when it ends.

    with Server() as server:
        server.url, server.token("acme", "approver"), server.pid
"""

import hashlib
import json
import os
import pathlib
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("HYDRANT", ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/hydrant"))
ROLES = ("caller", "approver", "operator")
# Seconds; compiling skills for the first time takes long on a machine that does other things too.
STARTS = 300
ANSWERS = 600
# Compiled skills, for all runs.
CACHE = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "serve-cache"


class Server:
    def __init__(self, tenants=("acme",), serve="", govern="", tenant="", policy="", os_root=ROOT / "examples/os"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hydrant-serve-"))
        shutil.copytree(os_root, self.folder / "os")
        self.tokens = {(name, role): "hyd_" + secrets.token_urlsafe(32) for name in tenants for role in ROLES}
        self.monitor = "hyd_" + secrets.token_urlsafe(32)
        text = ""
        for name in tenants:
            text += f'[[tenant]]\nname = "{name}"\nos_root = "os"\nhome = "states/{name}"\nrate = {{ per_second = 1000000, burst = 1000000 }}\n{tenant}\n'
            for role in ROLES:
                text += f'[[tenant.token]]\nrole = "{role}"\ndigest = "{digest(self.tokens[name, role])}"\n'
        file = self.folder / "tenants.toml"
        file.touch(0o600)
        file.write_text(text)
        named = ""
        if policy:
            (self.folder / "policy.yaml").write_text(policy)
            named = 'policy = "policy.yaml"\n'
        (self.folder / "hydrant.toml").write_text(
            f'{named}[serve]\nlisten = "127.0.0.1:0"\nmetrics_token_digests = ["{digest(self.monitor)}"]\n{serve}\n[govern]\n{govern}\n')

    def touch(self):
        """Every file of the agents has just changed."""
        for path in (self.folder / "os").rglob("*"):
            os.utime(path)

    def __enter__(self):
        # The key that compiled code is sealed with lies in the home folder; the tenants' states lie elsewhere.
        home = CACHE / "home"
        for folder in (CACHE, home):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = {**os.environ, "HYDRANT_HOME": str(home), "XDG_CACHE_HOME": str(CACHE)}
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--config", self.folder / "hydrant.toml"], env=environment, stdout=subprocess.PIPE, stderr=self.log)
        self.pid = self.process.pid
        ready, _, _ = select.select([self.process.stdout], [], [], STARTS)
        line = self.process.stdout.readline().decode() if ready else ""
        if not line.startswith("listening on "):
            self.__exit__()
            raise SystemExit(f"error: the service does not start: {line}{self.said}")
        self.url = line.split()[-1].rstrip("/")
        self.wait_until(self.ready, "the service is ready", STARTS)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        self.said = (self.folder / "log").read_text(errors="replace")
        shutil.rmtree(self.folder, ignore_errors=True)

    def token(self, tenant, role):
        return self.tokens[tenant, role]

    def call(self, method, path, body=None, tenant="acme", role="operator"):
        """The status and the JSON of an answer."""
        request = urllib.request.Request(self.url + path, method=method, headers={
            "authorization": f"Bearer {self.token(tenant, role)}", "content-type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=ANSWERS) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def ready(self):
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=ANSWERS) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            return error.code != 503 and self.wrong(f"/readyz: {error.code}")

    def wrong(self, what):
        raise SystemExit(f"error: {what}")

    def resident_bytes(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise SystemExit("error: the service is gone")

    def processor_seconds(self):
        """What its threads have used so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_until(self, condition, what, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"error: never: {what}")
            time.sleep(0.05)


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()
