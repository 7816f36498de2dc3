"""OpenAI's own client for Python."""

import enum
import json
import os
import sys
import urllib.request
from typing import Annotated, List, Literal, Optional, Union

import openai
from pydantic import BaseModel, Field, create_model

name = sys.argv[1]
client = openai.OpenAI(base_url=os.environ["PANEL"] + "/v1")
told = [f"openai {openai.__version__}"]
messages = [{"role": "user", "content": "Tabs or spaces?"}]


def asked(question):
    return [{"role": "user", "content": question}]


def calls(question):
    """The calls that the vendor received for this question."""
    with urllib.request.urlopen(os.environ["VENDOR"] + "/calls") as response:
        return json.load(response).get(question, 0)


models = [it.id for it in client.models.list()]
assert "quorum/debate" in models and "alpha" in models, models
assert client.models.retrieve("quorum/debate").id == "quorum/debate"
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
told.append(".stream()")


class Choice(enum.Enum):
    TABS = "tabs"
    SPACES = "spaces"


class Verdict(BaseModel):
    winner: str
    votes: int


class Nested(BaseModel):
    verdict: Verdict
    others: List[Verdict]


def of(**fields):
    return create_model("Answer", **{key: (kind, ...) for key, kind in fields.items()})


forms = [
    Verdict, Nested, of(a=str), of(a=int), of(a=float), of(a=bool), of(a=Optional[str]), of(a=Choice),
    of(a=Literal["tabs", "spaces"]), of(a=List[str]), of(a=List[int]), of(a=List[Verdict]), of(a=Verdict),
    of(a=Union[str, int]), of(a=Union[Verdict, None]), of(a=Annotated[int, Field(ge=1, le=5)]),
    of(a=Annotated[List[str], Field(min_length=2)]), of(a=str, b=Nested), of(a=List[List[str]]),
    of(a=Annotated[str, Field(description="The winner")], b=Optional[int]),
]
for form in forms:
    parsed = client.chat.completions.parse(model="quorum", messages=messages, response_format=form)
    assert isinstance(parsed.choices[0].message.parsed, form), (form, parsed)
told.append(f"parse of {len(forms)} schemas")

response = client.responses.create(model="quorum", input="Tabs or spaces?")
assert response.output_text and response.status == "completed"
with client.responses.stream(model="quorum", input="Tabs or spaces?") as events:
    text = "".join(it.delta for it in events if it.type == "response.output_text.delta")
assert text == response.output_text
parsed = client.responses.parse(model="quorum", input="Tabs or spaces?", text_format=Verdict)
assert isinstance(parsed.output_parsed, Verdict), parsed
queued = client.responses.create(model="quorum", input="Tabs or spaces?", background=True)
while queued.status in ("queued", "in_progress"):
    queued = client.responses.retrieve(queued.id)
assert queued.status == "completed"
events = list(client.responses.retrieve(queued.id, stream=True))
assert events[-1].type == "response.completed" and events[-1].response.output_text == queued.output_text, events
again = client.responses.create(model="alpha", input="Why?", previous_response_id=queued.id)
assert again.output_text
slow = client.responses.create(model="quorum", input=f"SLOWLY cancelled by {name}?", background=True)
assert client.responses.cancel(slow.id).status == "cancelled"
told.append("responses: whole, streamed, parsed, in the background, retrieved as a stream, continued, cancelled")


def fails(kind, question="Tabs or spaces?", **order):
    try:
        client.with_options(max_retries=0).chat.completions.create(messages=asked(question), **order)
    except kind as error:
        told.append(kind.__name__)
        return error
    raise AssertionError(f"{kind} was not raised")


assert fails(openai.NotFoundError, model="quorum/debat").code == "model_not_found"
assert fails(openai.BadRequestError, model="quorum", temperature=3).param == "temperature"
assert fails(openai.InternalServerError, "REFUSED?", model="quorum").code == "all_providers_failed"
try:
    list(client.chat.completions.create(model="quorum", messages=asked("REFUSED?"), stream=True))
    raise AssertionError("the stream did not fail")
except openai.APIError as error:
    assert error.code == "all_providers_failed", error
told.append("APIError in a stream")

# As many as the server runs at once: the next one is refused, and repeated after the time told.
for number in range(int(os.environ["MOST"])):
    client.responses.create(model="quorum", input=f"SLOWLY in a queue {number}?", background=True)
fails(openai.RateLimitError, model="quorum")
assert client.chat.completions.create(model="quorum", messages=messages).choices
told.append("429 repeated after its Retry-After")

question = f"SLOWLY with a time-out by {name}?"
hurried = client.with_options(timeout=1.0, max_retries=2)
assert hurried.chat.completions.create(model="quorum", messages=asked(question)).choices
assert calls(question) == 7, calls(question)
told.append("time-out of 1 s, 2 repetitions: 7 calls, one discussion")
print(f"| {name} | ok | {'; '.join(told)} |")
