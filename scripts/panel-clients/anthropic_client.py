"""Anthropic's own client for Python."""

import os
import sys

import anthropic
from pydantic import BaseModel


class Verdict(BaseModel):
    winner: str
    votes: int


name = sys.argv[1]
client = anthropic.Anthropic(base_url=os.environ["PANEL"])
told = [f"anthropic {anthropic.__version__}"]
order = {"model": "quorum", "max_tokens": 1000, "messages": [{"role": "user", "content": "Tabs or spaces?"}]}
models = [it.id for it in client.models.list()]
assert "quorum/debate" in models, models
model = client.models.retrieve("quorum")
assert (model.type, model.display_name, model.created_at.year) == ("model", "quorum", 1970), model
told.append(f"{len(models)} models")
whole = client.messages.create(**order)
assert [it.type for it in whole.content] == ["thinking", "text"], whole
told.append(f"message, {whole.usage.output_tokens} tokens out")
with client.messages.stream(**order) as stream:
    text = "".join(stream.text_stream)
    final = stream.get_final_message()
assert text == whole.content[1].text and final.stop_reason == "end_turn"
told.append("stream with thinking")
parsed = client.messages.parse(**order, output_format=Verdict)
assert isinstance(parsed.parsed_output, Verdict), parsed
told.append("parse")
try:
    client.messages.create(**{**order, "model": "quorum/debat"})
    raise AssertionError("an unknown model was accepted")
except anthropic.NotFoundError:
    told.append("NotFoundError")
refused = [{"role": "user", "content": "REFUSED?"}]
try:
    with client.messages.stream(**{**order, "messages": refused}) as stream:
        "".join(stream.text_stream)
    raise AssertionError("the stream did not fail")
except anthropic.APIStatusError as error:
    told.append(f"{type(error).__name__} in a stream")
print(f"| {name} | ok | {'; '.join(told)} |")
