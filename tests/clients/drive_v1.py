"""Drives hydrant's MCP server with version 1 of the official Python SDK.

    drive_v1.py AUDIT stdio COMMAND ARGUMENT…
    drive_v1.py AUDIT http URL TOKEN

AUDIT is the record of the calls. Called by drive.py.
"""

import asyncio
import contextlib
import os
import pathlib
import sys
import time

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification

AUDIT, TRANSPORT, *TARGET = sys.argv[1:]
AGENT = "os://agents/release-captain.md"
LONG = {
    "op": "filter",
    "path": "reduce range(1000000000000) as $i (0; . + 1)",
    "null-input": True,
    "input-b64": "",
}
STOPPED = 20


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def records():
    audit = pathlib.Path(AUDIT)
    return len(audit.read_text().splitlines()) if audit.exists() else 0


async def until(holds, what, patience):
    end = time.monotonic() + patience
    while not holds():
        check(time.monotonic() < end, what)
        await asyncio.sleep(0.02)


async def drive(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    check({"hydrate", "plan", "fs_read_text", "git_status"} <= tools.keys(), f"tools: {sorted(tools)}")
    for tool in tools.values():
        check(tool.description and tool.description != tool.title, f"{tool.name}: {tool.description}")
    # The SDK checks structured answers against the schema that was listed.
    read = await client.call_tool("fs_read_text", {"path": "/os/skills/plain-prose.md", "max_bytes": None})
    check(not read.isError and read.structuredContent, f"fs_read_text: {read}")
    refused = await client.call_tool("fs_read_text", {"path": "/os/no-such-file.md"})
    check(refused.isError and refused.content[0].text.startswith("not_found: "), f"refused: {refused}")
    hydrated = await client.call_tool("hydrate", {"uri": AGENT})
    check(len(hydrated.structuredContent["metadata"]["dependencies"]["skills"]) >= 10, f"hydrate: {hydrated}")
    with contextlib.suppress(McpError):
        await client.call_tool("no_such_tool", {})
        raise AssertionError("a tool that is not there was called")
    contents = (await client.read_resource(AGENT)).contents
    check("Announces a release" in contents[0].text, f"read: {contents}")

    await client.call_tool("data_filter", {**LONG, "path": "1"})
    before, progress = records(), []

    async def on_progress(done, total, message):
        progress.append(done)

    # This SDK does not tell the server when a call is given up: whoever uses it does.
    number = client._request_id
    long = asyncio.create_task(client.call_tool("data_filter", LONG, progress_callback=on_progress))
    await until(lambda: len(progress) >= 2, "no progress", 120)
    check(records() == before, "the long call ended by itself")
    cancelled = CancelledNotification(
        method="notifications/cancelled", params=CancelledNotificationParams(requestId=number)
    )
    await client.send_notification(ClientNotification(cancelled))
    await until(lambda: records() > before, "the cancelled component goes on", STOPPED)
    long.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await long
    again = await client.call_tool("fs_read_text", {"path": "/os/skills/plain-prose.md"})
    check(not again.isError, f"after a cancelled call: {again}")


async def main():
    async with contextlib.AsyncExitStack() as stack:
        if TRANSPORT == "stdio":
            command, *arguments = TARGET
            server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
            streams = await stack.enter_async_context(stdio_client(server))
        else:
            url, token = TARGET
            headers = {"Authorization": f"Bearer {token}"}
            streams = await stack.enter_async_context(streamablehttp_client(url, headers=headers))
        client = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
        await client.initialize()
        await drive(client)


asyncio.run(main())
