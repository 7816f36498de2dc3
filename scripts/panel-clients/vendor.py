"""A vendor that speaks OpenAI's chat format, for the panel that the clients talk to.

A question with the word SLOWLY takes a while, one with REFUSED fails, and the answer to one with
PACED comes in pieces with pauses. GET /calls has the number of calls for each question so far.
"""

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CALLS = {}
LOCK = threading.Lock()


def filled(schema, root):
    """A value that satisfies the schema."""
    if "$ref" in schema:
        node = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            node = node[part]
        return filled(node, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], root)
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: filled(it, root) for name, it in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {}), root)] * max(1, schema.get("minItems", 1))
    number = schema.get("minimum", schema.get("exclusiveMinimum", 6) + 1)
    return {"integer": number, "number": number, "boolean": True, "null": None}.get(kind, "tabs")


def answer(body):
    messages = [str(it.get("content") or "") for it in body["messages"]]
    said, last = "\n".join(messages), messages[-1]
    mark = re.search(r"\[STRUCTURE_[A-Z]+\]", last)
    schema = re.search(r"```json\n(.*?)\n```", said, re.S) if "JSON Schema" in said else None
    text = "Tabs, because they adapt to each reader."
    if schema and (mark or body["messages"][0]["role"] == "system" and "JSON Schema" in messages[0]):
        root = json.loads(schema.group(1))
        text = json.dumps(filled(root, root))
    if mark:
        structure = {"claims": [{"text": "tabs adapt", "supportedBy": [], "unanswered": True}], "agreements": ["width"], "dissent": []}
        text += f"\n\n{mark.group(0)}\n{json.dumps(structure)}"
    return text


def count(body):
    """Counts the call for its question, and returns the question."""
    said = "\n".join(str(it.get("content") or "") for it in body["messages"])
    found = re.search(r"# The question\s+(.*)", said)
    question = found.group(1).strip() if found else said.strip().splitlines()[-1]
    with LOCK:
        CALLS[question] = CALLS.get(question, 0) + 1
    return question


class Vendor(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        told = CALLS if self.path == "/calls" else {"object": "list", "data": []}
        with LOCK:
            told = json.dumps(told)
        self.reply(200, told, "application/json")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question = count(body)
        if "REFUSED" in question:
            return self.reply(400, json.dumps({"error": {"message": "no", "type": "invalid_request_error"}}), "application/json")
        if "SLOWLY" in question:
            time.sleep(0.5)
        text = answer(body)
        pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        events = [{**chunk, "choices": [{"index": 0, "delta": {"content": it}}]} for it in pieces]
        events.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        events.append({**chunk, "choices": [], "usage": usage})
        told = "".join(f"data: {json.dumps(it)}\n\n" for it in events) + "data: [DONE]\n\n"
        self.reply(200, told, "text/event-stream", 0.25 if "PACED" in question else 0)

    def reply(self, status, text, kind, pause=0):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        try:
            self.end_headers()
            for piece in data.splitlines(keepends=True) if pause else [data]:
                self.wfile.write(piece)
                time.sleep(pause if piece == b"\n" else 0)
        except ConnectionError:
            self.close_connection = True  # a cancelled discussion closes its calls


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


server = Server(("127.0.0.1", 0), Vendor)
print(server.server_address[1], flush=True)
sys.stdout.close()
server.serve_forever()
