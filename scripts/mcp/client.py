"""Calls every tool with the Python SDK, and checks every answer against the tool's output schema."""

import asyncio
import json
import os
import sys

from jsonschema import Draft202012Validator
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

VARIABLES = ("AX_CONFIG", "AX_DATA_DIR", "AX_LOG", "OLLAMA_HOST", "PATH")


def field(it, python_name, name):
    """A field under the name that this version of the SDK has."""
    return getattr(it, python_name, None) or getattr(it, name, None)


def validators(tools):
    """A validator for the answers of each tool."""
    schemas = {tool.name: field(tool, "output_schema", "outputSchema") for tool in tools}
    check = Draft202012Validator.FORMAT_CHECKER
    return {name: Draft202012Validator(schema, format_checker=check) for name, schema in schemas.items()}


async def talk(session):
    await session.initialize()
    fits = validators((await session.list_tools()).tools)
    tools, used = set(fits), set()

    async def call(name, arguments):
        used.add(name)
        result = await session.call_tool(name, arguments)
        structured = field(result, "structured_content", "structuredContent")
        assert structured, (name, result)
        fits[name].validate(structured)
        return result, structured

    quick = {"rounds": 1, "providers": ["claude", "gemini"]}
    _, done = await call("ax_discuss", {"topic": "Tabs or spaces?", **quick})
    assert done["status"] == "completed", done
    one = {"id": done["discussionId"]}
    await call("ax_discuss_quick", {"topic": "Tabs or spaces?"})
    await call("ax_discuss_recursive", {"topic": "Tabs or spaces, deeply?", **quick})
    await call("ax_result", {**one, "fullOutput": True})
    await call("ax_status", {})
    await call("ax_history", {"limit": 5})
    await call("ax_list_models", {})
    await call("ax_fork", {**one, "changes": {"rounds": 2}})
    await call("ax_control", {**one, "action": "pause"})
    await call("ax_say", {**one, "text": "Too late."})
    _, run = await call("ax_workflow_run", {"name": "two-steps", "input": {"what": "tabs"}})
    assert len(run["stepResults"]) == 2 and run["status"] == "completed", run
    refused, told = await call("ax_discuss", {"topic": "", "rounds": 0})
    assert told["code"] == "INVALID_INPUT" and len(told["details"]["validationErrors"]) == 2, told
    resources = (await session.list_resources()).resources
    assert resources, "there is no resource"
    await session.read_resource(resources[0].uri)
    prompts = {it.name for it in (await session.list_prompts()).prompts}
    assert prompts == {"debate", "critique", "decide", "settle"}, prompts
    assert used == tools, tools - used
    print(f"{len(used)} tools, {len(resources)} resources")


async def main(transport):
    if transport == "stdio":
        env = {name: os.environ[name] for name in VARIABLES}
        server = StdioServerParameters(command=os.environ["AX"], args=["mcp", "--offline"], env=env)
        async with stdio_client(server) as (reader, writer):
            async with ClientSession(reader, writer) as session:
                await talk(session)
        return
    try:
        from mcp.client.streamable_http import streamable_http_client as connect
    except ImportError:
        from mcp.client.streamable_http import streamablehttp_client as connect
    async with connect(os.environ["MCP_URL"]) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await talk(session)


asyncio.run(main(sys.argv[1]))
