"""litellm in front of the panel."""

import json
import os
import sys
from importlib.metadata import version

import litellm
from pydantic import BaseModel


class Verdict(BaseModel):
    winner: str
    votes: int


name = sys.argv[1]
litellm.suppress_debug_info = True
order = {
    "model": "openai/quorum/debate",
    "api_base": os.environ["PANEL"] + "/v1",
    "messages": [{"role": "user", "content": "Tabs or spaces?"}],
}
whole = litellm.completion(**order)
message = whole.choices[0].message
assert message.content and message.reasoning_content and whole.usage.total_tokens
content, talk = "", ""
for chunk in litellm.completion(**order, stream=True):
    content += chunk.choices[0].delta.content or ""
    talk += getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
assert content and talk
told = [f"litellm {version('litellm')}", "content, reasoning_content, usage", "stream with reasoning_content"]
value = litellm.completion(**{**order, "model": "openai/quorum"}, response_format=Verdict)
assert Verdict(**json.loads(value.choices[0].message.content))
told.append("response_format")
try:
    litellm.completion(**{**order, "model": "openai/quorum/debat"})
    raise AssertionError("an unknown model was accepted")
except litellm.NotFoundError:
    told.append("NotFoundError")
print(f"| {name} | ok | {'; '.join(told)} |")
