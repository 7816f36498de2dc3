"""litellm in front of the panel."""

import os
import sys
from importlib.metadata import version

import litellm

name = sys.argv[1]
order = {
    "model": "openai/quorum/debate",
    "api_base": os.environ["PANEL"] + "/v1",
    "messages": [{"role": "user", "content": "Tabs or spaces?"}],
}
whole = litellm.completion(**order)
message = whole.choices[0].message
assert message.content and message.reasoning_content and whole.usage.total_tokens
content = "".join(it.choices[0].delta.content or "" for it in litellm.completion(**order, stream=True))
assert content
told = [f"litellm {version('litellm')}", "content, reasoning_content, usage", "stream"]
try:
    litellm.completion(**{**order, "model": "openai/quorum/debat"})
except litellm.NotFoundError:
    told.append("NotFoundError")
print(f"| {name} | ok | {'; '.join(told)} |")
