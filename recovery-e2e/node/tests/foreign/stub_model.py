"""An OpenAI-compatible endpoint that answers each message with its echo, word by word.

    python3 stub_model.py [PORT]

prints its base URL, and serves until it is ended. The standard library is all it needs.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = request["messages"][-1]["content"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in ["echo:", *said.split()]:
            delta = {"choices": [{"index": 0, "delta": {"content": f"{word} "}}]}
            self.wfile.write(f"data: {json.dumps(delta)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_args):
        pass


def start(port=0):
    """Serves in the background; answers the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


if __name__ == "__main__":
    print(start(int(sys.argv[1]) if len(sys.argv) > 1 else 0), flush=True)
    threading.Event().wait()
