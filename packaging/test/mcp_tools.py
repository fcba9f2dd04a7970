"""Starts an MCP server with the official Python SDK and prints what it offers, as JSON.

    mcp_tools.py CWD COMMAND [ARGUMENT…]
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main():
    server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:], cwd=sys.argv[1])
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
    print(json.dumps({"tools": [tool.name for tool in tools], "resources": [str(resource.uri) for resource in resources]}))


asyncio.run(main())
