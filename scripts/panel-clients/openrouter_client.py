"""OpenRouter's own client for Python."""

import json
import os
import sys
from importlib.metadata import version

from openrouter import OpenRouter
from openrouter.errors import OpenRouterError

# The events of a Fusion in which no model fails.
FUSION = [
    "in_progress",
    "panel.added",
    "panel.delta",
    "panel.completed",
    "analysis.in_progress",
    "analysis.completed",
    "completed",
]

name = sys.argv[1]
told = [f"openrouter {version('openrouter')}"]
messages = [{"role": "user", "content": "Tabs or spaces?"}]
plugins = [{"id": "fusion", "analysis_models": ["alpha", "beta"]}]
schema = {"type": "object", "properties": {"winner": {"type": "string"}}, "required": ["winner"]}
with OpenRouter(api_key="none", server_url=os.environ["PANEL"] + "/v1") as client:
    whole = client.chat.send(model="openrouter/fusion", messages=messages, plugins=plugins)
    assert whole.choices[0].message.content
    told.append("fusion chat")
    content, talk = "", ""
    with client.chat.send(model="quorum", messages=messages, stream=True) as chunks:
        for chunk in chunks:
            for choice in chunk.choices:
                content += choice.delta.content or ""
                talk += getattr(choice.delta, "reasoning", None) or ""
    assert content and "[R1 " in talk, (content, talk)
    told.append("chat stream with reasoning")
    form = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}
    whole = client.chat.send(model="quorum", messages=messages, response_format=form)
    assert json.loads(whole.choices[0].message.content)["winner"], whole
    told.append("json_schema")
    kinds = []
    with client.responses.send(
        model="openrouter/fusion", input="Tabs or spaces?", plugins=plugins, stream=True
    ) as events:
        for event in events:
            kinds.append(getattr(event, "type", None) or getattr(event, "TYPE", "?"))
    fusion = {it for it in kinds if str(it).startswith("response.fusion_call")}
    expected = {f"response.fusion_call.{it}" for it in FUSION}
    assert kinds[-1] == "response.completed" and fusion == expected, kinds
    told.append(f"responses stream, {len(fusion)} kinds of fusion events")
    for order in ({"model": "nothing-like-it"}, {"model": "quorum", "temperature": 1.0, "n": 2}):
        try:
            client.chat.send(messages=messages, **order)
        except TypeError:
            continue
        except OpenRouterError as error:
            told.append(f"{type(error).__name__} {error.status_code}")
            continue
        raise AssertionError(f"{order} was accepted")
print(f"| {name} | ok | {'; '.join(told)} |")
