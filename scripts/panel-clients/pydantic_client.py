"""pydantic-ai on OpenAI's format."""

import os
import sys
from importlib.metadata import version

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
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
print(f"| {name} | ok | {'; '.join(told)} |")
