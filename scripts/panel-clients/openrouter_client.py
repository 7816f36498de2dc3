"""OpenRouter's own client for Python."""

import os
import sys
from importlib.metadata import version

from openrouter import OpenRouter

name = sys.argv[1]
told = [f"openrouter {version('openrouter')}"]
messages = [{"role": "user", "content": "Tabs or spaces?"}]
plugins = [{"id": "fusion", "analysis_models": ["alpha", "beta"]}]
with OpenRouter(api_key="none", server_url=os.environ["PANEL"] + "/v1") as client:
    whole = client.chat.send(model="openrouter/fusion", messages=messages, plugins=plugins)
    assert whole.choices[0].message.content
    told.append("fusion chat")
    kinds = []
    with client.responses.send(
        model="openrouter/fusion", input="Tabs or spaces?", plugins=plugins, stream=True
    ) as events:
        for event in events:
            kinds.append(getattr(event, "type", None) or getattr(event, "TYPE", "?"))
    fusion = {it for it in kinds if str(it).startswith("response.fusion_call")}
    assert kinds[-1] == "response.completed" and fusion, kinds
    told.append(f"responses stream, {len(fusion)} kinds of fusion events")
    try:
        client.chat.send(model="nothing-like-it", messages=messages)
    except Exception as error:  # its classes differ between versions
        told.append(type(error).__name__)
print(f"| {name} | ok | {'; '.join(told)} |")
