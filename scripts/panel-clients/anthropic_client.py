"""Anthropic's own client for Python."""

import os
import sys

import anthropic

name = sys.argv[1]
client = anthropic.Anthropic(base_url=os.environ["PANEL"])
told = [f"anthropic {anthropic.__version__}"]
order = {"model": "quorum", "max_tokens": 1000, "messages": [{"role": "user", "content": "Tabs or spaces?"}]}
whole = client.messages.create(**order)
assert [it.type for it in whole.content] == ["thinking", "text"], whole
told.append(f"message, {whole.usage.output_tokens} tokens out")
with client.messages.stream(**order) as stream:
    text = "".join(stream.text_stream)
    final = stream.get_final_message()
assert text == whole.content[1].text and final.stop_reason == "end_turn"
told.append("stream with thinking")
try:
    client.messages.create(**{**order, "model": "quorum/debat"})
except anthropic.NotFoundError:
    told.append("NotFoundError")
print(f"| {name} | ok | {'; '.join(told)} |")
