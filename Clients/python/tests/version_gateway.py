"""A gateway of another version: a proxy before the program that changes its messages.

    newer    adds fields and messages that no client knows yet, as a newer gateway of the same protocol does
    bare     says the least of itself, as an old gateway of the same protocol does: no capabilities, no limits
    other    speaks another protocol: its welcome says parley.v2
    deaf     does not understand hello
"""

import json
import threading

from patience import SECONDS
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import serve


class VersionGateway:
    """Listens on a port of its own; `kind` may be changed, and counts for connections from then on."""

    def __init__(self, server_port, kind, port=0):
        self.server_port = server_port
        self.kind = kind
        self.welcomes = 0
        self.server = serve(self.attend, "127.0.0.1", port, subprotocols=["parley.v1"], compression=None, max_size=None)
        self.port = self.server.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join(SECONDS)

    def attend(self, client):
        with connect(
            f"ws://127.0.0.1:{self.server_port}/ws", subprotocols=["parley.v1"], compression=None, max_size=None,
        ) as gateway:  # fmt: skip
            back = threading.Thread(target=self.pass_back, args=(gateway, client), daemon=True)
            back.start()
            try:
                for message in client:
                    if self.kind == "deaf":
                        answer = {"code": "badMessage", "message": "no hello of ours", "retryable": False}
                        named = json.loads(message)["messageId"]
                        client.send(json.dumps({"messageId": named, "type": "error", "data": answer}))
                    else:
                        gateway.send(message)
            except ConnectionClosed:
                pass

    def pass_back(self, gateway, client):
        try:
            for text in gateway:
                for message in self.changed(json.loads(text)):
                    client.send(json.dumps(message))
        except ConnectionClosed:
            pass
        client.close()

    def changed(self, message):
        """The messages in place of one."""
        is_welcome = message.get("type") == "welcome"
        self.welcomes += is_welcome
        if self.kind == "newer":
            message["signature"] = {"of": [1, 2, 3]}
            message.setdefault("data", {})["weather"] = "fine"
            return [{"messageId": "n1", "type": "forecast", "data": {"days": 7}}, message]
        if is_welcome and self.kind == "bare":
            message["data"] |= {"capabilities": [], "limits": {}}
            message["data"].pop("personId", None)
        if is_welcome and self.kind == "other":
            message["data"]["protocol"] = "parley.v2"
        return [message]
