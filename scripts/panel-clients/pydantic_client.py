"""pydantic-ai on OpenAI's format."""

import asyncio
import os
import sys
from importlib.metadata import version

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


class Verdict(BaseModel):
    winner: str
    votes: int


name = sys.argv[1]
model = OpenAIChatModel("quorum", provider=OpenAIProvider(base_url=os.environ["PANEL"] + "/v1", api_key="none"))
told = [f"pydantic-ai {version('pydantic-ai-slim')}"]
result = Agent(model).run_sync("Tabs or spaces?")
parts = {part.part_kind for message in result.all_messages() for part in message.parts}
assert result.output and "thinking" in parts, parts
told.append("text and thinking parts")
assert isinstance(Agent(model, output_type=NativeOutput(Verdict)).run_sync("Tabs or spaces?").output, Verdict)
told.append("structured output")


async def streamed():
    async with Agent(model).run_stream("PACED: tabs or spaces?") as result:
        return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]


pieces = asyncio.run(streamed())
assert len(pieces) > 1, pieces
told.append("stream")
unknown = OpenAIChatModel("quorum/debat", provider=OpenAIProvider(base_url=os.environ["PANEL"] + "/v1", api_key="none"))
try:
    Agent(unknown).run_sync("Tabs or spaces?")
    raise AssertionError("an unknown model was accepted")
except ModelHTTPError as error:
    assert error.status_code == 404, error
    told.append("ModelHTTPError 404")
print(f"| {name} | ok | {'; '.join(told)} |")
