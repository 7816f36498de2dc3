"""Asks a panel through a generated client: starts a discussion, waits for it, prints the answer."""

import os
import sys
import time

from quorum_client import Client
from quorum_client.api.discussions import create, result
from quorum_client.models import Accepted, Order, Result

client = Client(base_url=os.environ.get("QUORUM", "http://localhost:3000"))
started = create.sync(client=client, body=Order(topic="Tabs or spaces?", rounds=1))
assert isinstance(started, Accepted), started
while True:
    told = result.sync(started.discussion_id, client=client)
    assert isinstance(told, Result), told
    if told.stopping_reason:
        break
    time.sleep(0.2)
print(f"{told.status}: {told.synthesis}", file=sys.stdout)
