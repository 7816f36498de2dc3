"""Holds one cheap discussion with every provider that has a key, and records its replies.

A proxy on the loopback interface stands between `ax` and the vendor, so a recording has exactly what
the vendor sent. Keys, and other values that name an account, are removed from it. `--replay` answers
from the recordings instead, and needs no key: the replies must still be understood.

    live.py [--replay] [--ax PROGRAM] [--folder FOLDER] [PROVIDER ...]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import tomllib
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Which of 4, 6 and 7 is a prime? Answer in one short sentence."
# The worst case must fit the cost: thoughts are reserved at their longest, and seldom used.
LIMITS = ["--rounds", "1", "--max-calls", "8", "--max-cost", "0.25", "--budget", "3m",
          "--max-tokens-per-turn", "256", "--synthesis-tokens", "512"]
REMOVED = "removed"
# What vendors call an account, an organisation, a request or a key.
SECRETS = re.compile(r"\b(?:sk|org|proj|acct|user|req|request|key)[-_][A-Za-z0-9_-]{6,}|\bAIza[A-Za-z0-9_-]{10,}")
SECRET_FIELDS = re.compile(r'("(?:request_id|organization|user|account_id|system_fingerprint)"\s*:\s*")[^"]*(")')


def providers():
    with open(ROOT / "crates/providers/catalog.toml", "rb") as file:
        return tomllib.load(file)["provider"]


def key_of(provider):
    """The variable that has this provider's key."""
    return next((name for name in provider.get("key_env", []) if os.environ.get(name)), None)


def upstream(provider):
    """The vendor's address, or the one in the vendor's own variable."""
    variable = provider.get("base_url_env", {})
    given = os.environ.get(variable.get("name", ""), "").rstrip("/")
    if not given:
        return provider["base_url"]
    path = variable["path"]
    return given if given.endswith(path) else given + path


def cheapest(provider):
    """The model with the lowest price of those that the catalogue knows."""
    own = {provider["model"]: {"price": provider.get("price", {})}}
    priced = {name: it["price"]["output"] for name, it in (own | provider.get("models", {})).items() if it.get("price")}
    return min(priced, key=priced.get) if priced else provider["model"]


def cleaned(text, secrets):
    for secret in secrets:
        text = text.replace(secret, REMOVED)
    return SECRET_FIELDS.sub(rf"\g<1>{REMOVED}\g<2>", SECRETS.sub(REMOVED, text))


class Recorder(BaseHTTPRequestHandler):
    """Forwards requests to the vendor, or answers them from a recording."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(None)

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers.get("content-length", 0))))

    def answer(self, body):
        status, kind, text = self.server.source(self.command, self.path, dict(self.headers), body)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def forwarded(address, exchanges, secrets):
    """Answers with what the vendor says, and keeps it."""
    skipped = {"host", "connection", "content-length", "accept-encoding"}

    def source(method, path, headers, body):
        kept = {name: value for name, value in headers.items() if name.lower() not in skipped}
        request = urllib.request.Request(address + path, data=body, headers=kept, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                status, kind, text = response.status, response.headers.get_content_type(), response.read()
        except urllib.error.HTTPError as error:
            status, kind, text = error.code, error.headers.get_content_type(), error.read()
        exchanges.append({
            "method": method, "path": cleaned(path, secrets), "status": status, "contentType": kind,
            "body": cleaned(text.decode("utf-8", "replace"), secrets),
        })
        return status, kind, text

    return source


def replayed(exchanges):
    """Answers each request with the next recorded reply to this path."""
    lock = threading.Lock()
    left = list(exchanges)

    def source(method, path, _headers, _body):
        with lock:
            fitting = [it for it in left if (it["method"], it["path"]) == (method, path)]
            if not fitting:
                return 404, "application/json", b'{"error":{"message":"not recorded"}}'
            # The last reply to a path answers any further request.
            if len(fitting) > 1:
                left.remove(fitting[0])
        return fitting[0]["status"], fitting[0]["contentType"], fitting[0]["body"].encode()

    return source


def discuss(ax, provider, model, source, key):
    """Holds the discussion through a proxy, and returns its result document."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.source = source
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = provider["name"]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(f'[providers.{name}]\nbase_url = "http://127.0.0.1:{server.server_port}"\n')
        env = {"PATH": os.environ["PATH"], "HOME": folder, "AX_CONFIG": str(config), "AX_DATA_DIR": folder, "OLLAMA_HOST": ""}
        env[provider["key_env"][0]] = key
        seats = f"{name}/{model},{name}/{model}"
        command = [ax, "discuss", QUESTION, "--json", "--pattern", "synthesis", "--participants", seats, *LIMITS]
        said = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    server.shutdown()
    if not said.stdout.strip():
        raise RuntimeError(said.stderr.strip().replace(key, REMOVED))
    return json.loads(said.stdout)


def record(ax, folder, provider):
    """Records one provider; returns a line for the table."""
    variable = key_of(provider)
    if provider.get("local"):
        return "skipped", "runs on this machine, without a key"
    if not variable:
        return "skipped", f"no key in {' or '.join(provider.get('key_env', []))}"
    key, exchanges, model = os.environ[variable], [], cheapest(provider)
    result = discuss(ax, provider, model, forwarded(upstream(provider), exchanges, [key]), key)
    recording = {"provider": provider["name"], "wire": provider["wire"], "model": model, "exchanges": exchanges}
    text = json.dumps(recording, indent=1, ensure_ascii=False) + "\n"
    if key in text:
        raise RuntimeError("the key is still in the recording, so it was not written")
    told = judged(result)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{provider['name']}-{provider['wire']}.json").write_text(text)
    return told


def replay(ax, folder, provider):
    file = folder / f"{provider['name']}-{provider['wire']}.json"
    if not file.exists():
        return "skipped", "nothing is recorded"
    recording = json.loads(file.read_text())
    return judged(discuss(ax, provider, recording["model"], replayed(recording["exchanges"]), "no-key-is-needed"))


def judged(result):
    if not result["success"]:
        raise RuntimeError(result.get("error", {}).get("message", "no answer"))
    cost = result["metadata"].get("estimatedCost")
    told = "unknown" if cost is None else f"${cost:.4f}"
    return "answered", f"{len(result['synthesis'])} characters, {told}"


def main():
    reader = argparse.ArgumentParser(description="Record one cheap discussion per vendor.")
    reader.add_argument("--replay", action="store_true", help="answer from the recordings")
    reader.add_argument("--ax", default=str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/ax"))
    reader.add_argument("--folder", type=Path, default=ROOT / "crates/providers/tests/recorded")
    reader.add_argument("providers", nargs="*")
    given = reader.parse_args()
    hold, has_failed = (replay if given.replay else record), False
    print("| provider | wire | result | |\n|---|---|---|---|")
    for provider in providers():
        if given.providers and provider["name"] not in given.providers:
            continue
        try:
            result, why = hold(given.ax, given.folder, provider)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            result, why, has_failed = "FAILED", str(error).splitlines()[0] if str(error) else repr(error), True
        print(f"| {provider['name']} | {provider['wire']} | {result} | {why} |", flush=True)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
