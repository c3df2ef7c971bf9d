"""Follows a node with EventSource clients of other makes; see README.md.

    python3 run.py NODE_BINARY PYTHON_WITH_REQUIREMENTS

Each client meets an overflow, which it must survive by a replay, and a killed node, whose epoch it
must be told is gone. What it saw is then compared with what the node has stored.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import urllib.request

import stub_model

HERE = os.path.dirname(os.path.abspath(__file__))
# A healthy run never comes near it.
DEADLINE_S = 30
# One long message is more than may wait for a connection.
LISTENER_BYTES = 20_000
LONG = "long " * 10_000


def lines(process):
    """The lines that a process prints, as they come."""
    came = queue.Queue()
    threading.Thread(target=lambda: [came.put(line) for line in process.stdout], daemon=True).start()
    return came


class Node:
    def __init__(self, binary, folder, model, address="127.0.0.1:0"):
        command = [binary, "serve", "--data-dir", folder, "--listen", address, "--model-url", model]
        command += ["--retry-ms", "50..100", "--listener-bytes", str(LISTENER_BYTES)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = json.loads(lines(self.process).get(timeout=DEADLINE_S))
        self.address = line["address"]
        self.token = line["login_url"].split("token=")[1]

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"http://{self.address}/v1/api{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=DEADLINE_S) as answer:
            return json.load(answer)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Client:
    """A client process, and the messages that it has reported."""

    def __init__(self, command, url, token):
        env = os.environ | {"EVENTS_URL": url, "NODE_TOKEN": token}
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, cwd=HERE)
        self.came = lines(self.process)
        self.seen = []

    def until(self, said):
        """Waits for a message; answers it and all before it."""
        messages = []
        while True:
            message = json.loads(self.came.get(timeout=DEADLINE_S))
            # The ring's events name their workstream; so does `connected`, which has no id.
            message["ring"] = "ws_id" in message["data"] and message["data"]["type"] != "connected"
            messages.append(message)
            self.seen.append(message)
            if said(message):
                return messages


def is_end(message):
    return message["ring"] and message["data"].get("state") == "idle"


def kind(name):
    return lambda message: message["data"]["type"] == name


def follow(name, command, binary, model):
    with tempfile.TemporaryDirectory() as folder:
        node = Node(binary, folder, model)
        ws = "/workstreams/" + node.ask("POST", "/workstreams", {"name": name})["ws_id"]
        client = Client(command, f"http://{node.address}/v1/api{ws}/events", node.token)
        try:
            client.until(kind("replay_complete"))
            send = lambda text: node.ask("POST", f"{ws}/send", {"message": text})
            send("first")
            client.until(is_end)
            # An overflow ends the stream; the redial's header draws a replay of the rest.
            send(LONG)
            client.until(kind("stream_overflow"))
            replay = client.until(kind("replay_complete"))[-1]["data"]["count"]
            if not is_end(client.seen[-2]):
                client.until(is_end)
            # A killed node's ids mean nothing to its successor, which says so to the header.
            node.kill()
            node = Node(binary, folder, model, node.address)
            [*_, truncated] = client.until(kind("replay_truncated"))
            assert truncated["data"]["reason"] == "boot_epoch", truncated
            client.until(kind("replay_complete"))
            send("last")
            client.until(is_end)
            check(client.seen, node.ask("GET", f"{ws}/history")["messages"], replay)
        finally:
            client.process.kill()
            client.process.wait()
            node.kill()


def check(seen, stored, replay):
    ring = [message for message in seen if message["ring"]]
    ids = [message["id"].split("-") for message in ring]
    epochs = list(dict.fromkeys(epoch for epoch, _ in ids))
    for epoch in epochs:
        numbers = [int(number) for other, number in ids if other == epoch]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
    rows = {}
    for message in ring:
        data = message["data"]
        if data["type"] in ("user_turn", "content"):
            text = data.get("content") or data.get("text")
            rows[data["row_id"]] = rows.get(data["row_id"], "") + text
    assert list(rows.items()) == [(row["row_id"], row["content"]) for row in stored], "rows differ"
    assert replay > 0 and len(epochs) == 2
    print(
        f"  {len(ring)} events of {len(epochs)} epochs, {replay} of them replayed after an "
        f"overflow; {len(rows)} rows, each as stored; no gap, no repeat"
    )


def main():
    binary, python = map(os.path.abspath, sys.argv[1:3])
    model = stub_model.start()
    for name, command in [
        ("npm eventsource", ["node", "client_eventsource.mjs"]),
        ("npm eventsource-client", ["node", "client_eventsource_client.mjs"]),
        ("PyPI httpx-sse", [python, "client_httpx_sse.py"]),
    ]:
        print(name, flush=True)
        follow(name, command, binary, model)


if __name__ == "__main__":
    main()
