"""The command `llm`, with the panel as a model of its own."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

name = sys.argv[1]
folder = Path(os.environ["LLM_USER_PATH"])
folder.mkdir(parents=True, exist_ok=True)
(folder / "extra-openai-models.yaml").write_text(
    f"- model_id: panel\n  model_name: quorum\n  api_base: {os.environ['PANEL']}/v1\n  supports_schema: true\n"
    f"- model_id: misspelt\n  model_name: quorum/debat\n  api_base: {os.environ['PANEL']}/v1\n"
)
llm = str(Path(sys.executable).parent / "llm")
told = [f"llm {version('llm')}"]


def run(*arguments):
    done = subprocess.run([llm, "-m", "panel", *arguments], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


answer, usage = run("-u", "Tabs or spaces?")
assert answer.strip() and "Token usage" in usage, usage
told.append("stream with usage")
value, _ = run("--schema", "winner, votes int", "--no-stream", "Tabs or spaces?")
assert '"winner"' in value, value
told.append("--schema")
failed = subprocess.run([llm, "-m", "misspelt", "Tabs or spaces?"], capture_output=True, text=True)
assert failed.returncode and "did you mean" in failed.stderr, failed
told.append("error with the nearest name")
print(f"| {name} | ok | {'; '.join(told)} |")
