"""Engine.IO by hand, for what no well-behaved client does: frames over a WebSocket, and polls."""

import contextlib
import http.client
import json

from patience import SECONDS
from websockets.sync.client import connect


class EngineSocket:
    """One WebSocket, frame by frame."""

    def __init__(self, server, generation=4, query="", path="/socket/", **options):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}{path}?EIO={generation}&transport=websocket{query}",
                compression=None, max_size=None, **options,
            )
        )  # fmt: skip

    def send(self, text):
        self.socket.send(text)

    def receive(self, timeout=SECONDS):
        return self.socket.recv(timeout=timeout)

    def begin(self):
        """Takes what a session begins with, and enters the default namespace."""
        opening = self.receive()
        assert opening[0] == "0"
        fields = json.loads(opening[1:])
        if "maxPayload" in fields:
            self.send("40")
        assert self.receive().startswith("40")
        return fields

    def emit(self, name, *arguments, id=""):
        self.send(f"42{id}" + json.dumps([name, *arguments]))

    def event(self, timeout=SECONDS):
        """The next event; pings are answered."""
        while True:
            text = self.receive(timeout)
            if text == "2":
                self.send("3")
            elif text.startswith("42"):
                name, *arguments = json.loads(text[2:])
                return name, *arguments
            elif text != "3":
                return text

    def authenticate(self, token):
        self.emit("authenticate", {"token": token})
        assert self.event() == ("authenticated",)

    def join(self, room, token=None):
        self.emit("realtime:join", {"name": room, "token": token})
        assert self.event() == ("realtime:join:success", {"name": room})

    def close(self):
        self.stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class EnginePoll:
    """Requests of a session that polls."""

    def __init__(self, server, generation=4):
        self.server = server
        self.generation = generation
        self.sid = None

    def request(self, method, body=None, query=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=SECONDS)
        query = f"EIO={self.generation}&transport=polling" if query is None else query
        if self.sid:
            query += f"&sid={self.sid}"
        try:
            connection.request(method, f"/socket/?{query}", body)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def packets(self, text):
        if self.generation == 4:
            return text.split("\x1e")
        packets = []
        while text:
            count, rest = text.split(":", 1)
            packets.append(rest[: int(count)])
            text = rest[int(count) :]
        return packets

    def poll(self):
        status, body = self.request("GET")
        assert status == 200, body
        return self.packets(body)

    def post(self, *packets):
        if self.generation == 4:
            body = "\x1e".join(packets)
        else:
            body = "".join(f"{len(packet)}:{packet}" for packet in packets)
        status, answer = self.request("POST", body.encode())
        assert (status, answer) == (200, "ok"), answer

    def begin(self):
        packets = self.poll()
        fields = json.loads(packets[0][1:])
        self.sid = fields["sid"]
        if self.generation == 4:
            self.post("40")
            packets += self.poll()
        assert packets[1].startswith("40")
        return fields
