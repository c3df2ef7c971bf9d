"""The PyPI package `httpx-sse`: it parses; the loop of redials is left to its user."""

import json
import os
import time

import httpx
from httpx_sse import connect_sse

last_id, retry = "", 0
headers = {"Authorization": f"Bearer {os.environ['NODE_TOKEN']}"}
with httpx.Client(trust_env=False, timeout=30) as client:
    while True:
        try:
            redial = {"Last-Event-ID": last_id} if last_id else {}
            with connect_sse(
                client, "GET", os.environ["EVENTS_URL"], headers=headers | redial
            ) as source:
                for event in source.iter_sse():
                    last_id, retry = event.id or last_id, event.retry or retry
                    if event.data:
                        message = {"id": event.id, "data": json.loads(event.data)}
                        print(json.dumps(message), flush=True)
        except httpx.TransportError:
            pass
        # What the node asked for, as an EventSource would wait.
        time.sleep(retry / 1000)
