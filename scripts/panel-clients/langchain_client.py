"""LangChain's client for OpenAI's format."""

import os
import sys
from importlib.metadata import version

import openai
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Verdict(BaseModel):
    """The verdict."""

    winner: str
    votes: int


name = sys.argv[1]
model = ChatOpenAI(model="quorum", base_url=os.environ["PANEL"] + "/v1")
told = [f"langchain-openai {version('langchain-openai')}"]
assert model.invoke("Tabs or spaces?").content
assert "".join(it.content for it in model.stream("Tabs or spaces?"))
told.append("invoke, stream")
assert isinstance(model.with_structured_output(Verdict).invoke("Tabs or spaces?"), Verdict)
told.append("with_structured_output")
try:
    ChatOpenAI(model="quorum/debat", base_url=os.environ["PANEL"] + "/v1").invoke("x")
    raise AssertionError("an unknown model was accepted")
except openai.NotFoundError as error:
    told.append(type(error).__name__)
print(f"| {name} | ok | {'; '.join(told)} |")
