"""Drives hydrant's MCP server with the official SDKs, over standard input and output and over streamable HTTP, under the
default policy and under a policy file.

    drive.py HYDRANT PYTHON1 NODE PACKAGES [ROOT]

HYDRANT is the program, PYTHON1 a Python with version 1 of the SDK (this one has version 2), PACKAGES the folder of the
packages for NODE, ROOT the repository [default: two folders above this file].

With each transport, policy and SDK, and with each lifecycle of the protocol (with a handshake, and without one) the client
lists tools, resources and prompts, calls tools that answer and tools that refuse, reads, follows the progress of a long
call, and cancels it: the component has to stop, which the audit record shows.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import pathlib
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

HYDRANT = str(pathlib.Path(sys.argv[1]).resolve())
PYTHON1, NODE, PACKAGES = sys.argv[2:5]
ROOT = pathlib.Path(sys.argv[5] if len(sys.argv) > 5 else pathlib.Path(__file__).parents[2]).resolve()
HERE = pathlib.Path(__file__).parent
TYPESCRIPT = ("v1", "v2-legacy", "v2-auto")
OS = ROOT / "examples/os"
AGENT = "os://agents/release-captain.md"
# Ten times the fuel of the default policy, so that the long call would take a minute and more.
POLICY = """\
version: 1
trusted_signers: [hydrant.build, hydrant.release]
capability_ceiling:
  fs: {read: [/os]}
host:
  mounts:
    - {at: /os, dir: "@cli", mode: ro}
  limits: {fuel: 200000000000, wall_ms: 600000}
"""
LONG = {
    "op": "filter",
    "path": "reduce range(1000000000000) as $i (0; . + 1)",
    "null-input": True,
    "input-b64": "",
}
# What a machine that does much else may need to stop a component that would compute for a minute.
STOPPED = 20


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def records(audit):
    return len(audit.read_text().splitlines()) if audit.exists() else 0


async def until(holds, what, patience):
    end = time.monotonic() + patience
    while not holds():
        check(time.monotonic() < end, what)
        await anyio.sleep(0.02)


async def pages(listing, member):
    """All items of a list, page by page."""
    items, cursor = [], None
    while True:
        page = await listing(cursor=cursor)
        items += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return items


async def drive(client, audit):
    tools = {tool.name: tool for tool in await pages(client.list_tools, "tools")}
    check({"hydrate", "plan", "fs_read_text", "git_status"} <= tools.keys(), f"tools: {sorted(tools)}")
    check(all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in tools), f"names: {sorted(tools)}")
    for tool in tools.values():
        check(tool.description and tool.description != tool.title, f"{tool.name}: {tool.description}")

    resources = {str(resource.uri) for resource in await pages(client.list_resources, "resources")}
    check(AGENT in resources, f"resources: {sorted(resources)}")
    templates = await client.list_resource_templates()
    check(templates.resource_templates, "no templates")
    prompts = {prompt.name for prompt in await pages(client.list_prompts, "prompts")}
    check("debugging" in prompts, f"prompts: {sorted(prompts)}")

    # The SDK checks structured answers against the schema that was listed.
    read = await client.call_tool("fs_read_text", {"path": "/os/skills/plain-prose.md", "max_bytes": None})
    check(not read.is_error and read.structured_content, f"fs_read_text: {read}")
    hydrated = await client.call_tool("hydrate", {"uri": AGENT})
    skills = hydrated.structured_content["metadata"]["dependencies"]["skills"]
    check(len(skills) >= 10, f"hydrate: {hydrated}")
    refused = await client.call_tool("fs_read_text", {"path": "/os/no-such-file.md"})
    check(refused.is_error and refused.content[0].text.startswith("not_found: "), f"refused: {refused}")
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("a tool that is not there was called")
    except MCPError as error:
        check(error.error.code == -32602, f"no_such_tool: {error}")

    contents = (await client.read_resource(AGENT)).contents
    check("Announces a release" in contents[0].text, f"read: {contents}")
    raw = (await client.read_resource(AGENT + "?format=raw")).contents[0].text
    check(raw == (OS / "agents/release-captain.md").read_text(), f"raw: {raw}")
    with contextlib.suppress(MCPError):
        await client.read_resource("os://no-such-agent.md")
        raise AssertionError("a resource that is not there was read")
    prompt = await client.get_prompt("debugging", {"task": "the parser crashes on tabs"})
    check("crashes on tabs" in prompt.messages[0].content.text, f"prompt: {prompt}")

    # Compiled once, so that what runs below is the component.
    await client.call_tool("data_filter", {**LONG, "path": "1"})
    before, progress = records(audit), []

    async def on_progress(done, total, message):
        progress.append(done)

    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()

        async def long_call():
            with scope:
                result = await client.call_tool("data_filter", LONG, progress_callback=on_progress)
                raise AssertionError(f"the long call answered: {result}")

        group.start_soon(long_call)
        await until(lambda: len(progress) >= 2, "no progress", 120)
        check(records(audit) == before, "the long call ended by itself")
        scope.cancel()
    await until(lambda: records(audit) > before, "the cancelled component goes on", STOPPED)
    check(progress == sorted(progress), f"progress: {progress}")
    again = await client.call_tool("fs_read_text", {"path": "/os/skills/plain-prose.md"})
    check(not again.is_error, f"after a cancelled call: {again}")


def place(folder, name):
    """A home folder of hydrant, the environment of a server with it, and the audit record there."""
    home = folder / name
    home.mkdir(mode=0o700)
    environment = {"HYDRANT_HOME": str(home), "XDG_CACHE_HOME": str(folder / "cache"), "PATH": os.environ["PATH"]}
    return environment, home / "state/audit.jsonl"


def run(command, environment, what):
    ran = subprocess.run([str(part) for part in command], env=environment, timeout=600)
    check(ran.returncode == 0, f"{what} failed")
    print(what, flush=True)


async def over_stdio(folder, policy):
    """Every client over standard input and output. The working directory of the servers is the root of the system."""
    name = "a policy file" if policy else "the default policy"
    command = [HYDRANT, "mcp", "--root", str(OS)]
    if policy:
        file = folder / "policy.yaml"
        file.write_text(POLICY)
        command += ["--policy", str(file)]
    for mode in ("legacy", "auto"):
        environment, audit = place(folder, f"stdio-{bool(policy)}-{mode}")
        server = StdioServerParameters(command=command[0], args=command[1:], env=environment, cwd="/")
        async with Client(server, mode=mode) as client:
            await drive(client, audit)
            print(f"Python SDK 2, {mode}, stdio, {name}: protocol {client.protocol_version}", flush=True)
    environment, audit = place(folder, f"stdio-{bool(policy)}-python1")
    run([PYTHON1, HERE / "drive_v1.py", audit, "stdio", *command], environment, f"Python SDK 1, stdio, {name}")
    # Under the policy file nothing is mounted at /workspace.
    workspace = folder / "project"
    workspace.mkdir(exist_ok=True)
    (workspace / "note.txt").write_text("hello\n")
    root = "-" if policy else workspace
    for version in TYPESCRIPT:
        environment, audit = place(folder, f"stdio-{bool(policy)}-{version}")
        environment["NODE_PACKAGES"] = PACKAGES
        arguments = [NODE, HERE / "drive.mjs", version, audit, root, "stdio", *command]
        run(arguments, environment, f"TypeScript SDK {version}, stdio, {name}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def service(folder, policy):
    """A service with two tenants; their tokens, where it listens, and the audit record of the first."""
    home = folder / f"service-{bool(policy)}"
    home.mkdir(mode=0o700)
    tokens, port = [secrets.token_urlsafe(32) for _ in range(2)], free_port()
    (folder / "server.yaml").write_text(POLICY)
    tenants = home / "tenants.toml"
    tenants.touch(mode=0o600)
    tenants.write_text(
        "".join(
            f'[[tenant]]\nname = "{name}"\ntoken_digests = ["sha256:{hashlib.sha256(token.encode()).hexdigest()}"]\n'
            f'os_root = "{OS}"\n'
            for name, token in zip(("one", "two"), tokens)
        )
    )
    config = home / "hydrant.toml"
    named = f'policy = "{folder / "server.yaml"}"\n' if policy else ""
    config.write_text(f'{named}[serve]\nlisten = "127.0.0.1:{port}"\ntenants = "{tenants}"\n')
    environment = {"HYDRANT_HOME": str(home), "XDG_CACHE_HOME": str(folder / "cache"), "PATH": os.environ["PATH"]}
    server = subprocess.Popen([HYDRANT, "serve"], env=environment, cwd=folder)
    try:
        end = time.monotonic() + 120
        while True:
            check(server.poll() is None and time.monotonic() < end, "the service does not start")
            try:
                if httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                    break
            except httpx2.TransportError:
                pass
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp", tokens, home / "tenants/one/state/audit.jsonl"
    finally:
        server.terminate()
        server.wait(60)


@contextlib.asynccontextmanager
async def connected(url, token, mode):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300)) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield client


async def over_http(url, token, audit, name):
    """Every client over streamable HTTP."""
    for mode in ("legacy", "auto"):
        async with connected(url, token, mode) as client:
            await drive(client, audit)
            print(f"Python SDK 2, {mode}, http, {name}: protocol {client.protocol_version}", flush=True)
    environment = {"PATH": os.environ["PATH"], "NODE_PACKAGES": PACKAGES}
    run([PYTHON1, HERE / "drive_v1.py", audit, "http", url, token], environment, f"Python SDK 1, http, {name}")
    for version in TYPESCRIPT:
        arguments = [NODE, HERE / "drive.mjs", version, audit, "-", "http", url, token]
        run(arguments, environment, f"TypeScript SDK {version}, http, {name}")


def refusals(url, tokens):
    """What the transport answers to whom it does not serve."""
    accept = {"Accept": "application/json, text/event-stream"}
    first = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    def post(body, token=tokens[0], **headers):
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return httpx2.post(url, json=body, headers={**accept, **headers})

    check(post(first, token=None).status_code == 401, "no token")
    check(post(first, token="x" * 43).status_code == 401, "a wrong token")
    for origin in ("https://evil.example", "null", "http://localhost"):
        check(post(first, Origin=origin).status_code == 403, f"a page of {origin}")
    check(post(first, Origin=url.removesuffix("/mcp")).status_code == 200, "the service's own page")
    rebound = post(first, Host="evil.example")
    check(rebound.status_code == 421, f"another host: {rebound.status_code}")
    begun = post(first)
    check(begun.status_code == 200, f"initialize: {begun.status_code}")
    session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-06-18"}
    post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
    check(post(ping, **session).status_code == 200, "the session's own token")
    check(post(ping, token=tokens[1], **session).status_code == 404, "the session of another token")
    other = {**accept, **session, "Authorization": f"Bearer {tokens[1]}"}
    check(httpx2.delete(url, headers=other).status_code == 404, "another token ends the session")
    with httpx2.stream("GET", url, headers=other) as stream:
        check(stream.status_code == 404, "another token listens to the session")
    check(post(ping, **session).status_code == 200, "the session after that")


async def main():
    with tempfile.TemporaryDirectory(prefix="hydrant-clients-") as folder:
        folder = pathlib.Path(folder)
        for policy in (False, True):
            await over_stdio(folder, policy)
            with service(folder, policy) as (url, tokens, audit):
                name = "served under a policy file" if policy else "served under the default policy"
                await over_http(url, tokens[0], audit, name)
                refusals(url, tokens)
                print(f"{name}: tokens, origins, hosts and sessions of others are refused", flush=True)


asyncio.run(main())
