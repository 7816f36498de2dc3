"""OpenAI's own client for Python."""

import sys

import openai
from pydantic import BaseModel

name = sys.argv[1]
base = __import__("os").environ["PANEL"] + "/v1"
client = openai.OpenAI(base_url=base)
told = [f"openai {openai.__version__}"]
messages = [{"role": "user", "content": "Tabs or spaces?"}]

models = [it.id for it in client.models.list()]
assert "quorum/debate" in models and "alpha" in models, models
told.append(f"{len(models)} models")

whole = client.chat.completions.create(model="quorum", messages=messages)
assert whole.choices[0].message.content and whole.choices[0].finish_reason == "stop"
assert whole.usage.cost > 0 and whole.quorum["degraded"] is False
told.append(f"chat, {whole.usage.total_tokens} tokens, ${whole.usage.cost:.6f}")

stream = client.chat.completions.create(
    model="quorum", messages=messages, stream=True, stream_options={"include_usage": True}
)
content, talk, usage = "", "", None
for chunk in stream:
    usage = chunk.usage or usage
    for choice in chunk.choices:
        content += choice.delta.content or ""
        talk += getattr(choice.delta, "reasoning_content", None) or ""
assert content and "[R1 " in talk and usage.total_tokens == whole.usage.total_tokens
told.append(f"stream, {len(talk)} characters of talk")
with client.chat.completions.stream(model="quorum", messages=messages) as events:
    kinds = {it.type for it in events}
assert "content.done" in kinds, kinds


class Verdict(BaseModel):
    winner: str
    votes: int


parsed = client.chat.completions.parse(model="quorum", messages=messages, response_format=Verdict)
assert isinstance(parsed.choices[0].message.parsed, Verdict)
told.append("parse")

response = client.responses.create(model="quorum", input="Tabs or spaces?")
assert response.output_text and response.status == "completed"
with client.responses.stream(model="quorum", input="Tabs or spaces?") as events:
    text = "".join(it.delta for it in events if it.type == "response.output_text.delta")
assert text == response.output_text
queued = client.responses.create(model="quorum", input="Tabs or spaces?", background=True)
while queued.status in ("queued", "in_progress"):
    queued = client.responses.retrieve(queued.id)
assert queued.status == "completed"
again = client.responses.create(model="alpha", input="Why?", previous_response_id=queued.id)
assert again.output_text
told.append("responses, streamed, in the background, continued")

try:
    client.chat.completions.create(model="quorum/debat", messages=messages)
except openai.NotFoundError as error:
    assert error.code == "model_not_found", error
try:
    client.chat.completions.create(model="quorum", messages=messages, temperature=3)
except openai.BadRequestError as error:
    assert error.param == "temperature", error
told.append("NotFoundError, BadRequestError")
print(f"| {name} | ok | {'; '.join(told)} |")
