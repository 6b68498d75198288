"""Readers that have stopped reading, on a note that is written all the time.

Each may cost the server what is on its way to the socket, and no more: a reader that lags is a
number, its place in the log. `make stalled-test` prints the long form:

    .venv/bin/python Tests/System/stalled_run.py --changes 20000
"""

import argparse
import json
import socket
import tempfile
import time

from native_client import NativeClient
from parley_server import ParleyServer


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def lagging(server):
    body = server.request("GET", "/metrics")[2].decode()
    (line,) = [line for line in body.splitlines() if line.startswith("parley_lagging_connections ")]
    return int(float(line.split()[1]))


class StalledRun:
    """An author, a reader that keeps up, and many stalled readers."""

    def __init__(self, server, readers, change_bytes=1_000):
        self.server = server
        self.document = server.create_note("Busy")
        self.author = NativeClient(server, "Author")
        self.state = self.author.join(self.document)
        self.revision = self.state["revision"]
        self.length = 0
        self.text = ("0123456789" * change_bytes)[:change_bytes]
        self.witness = NativeClient(server, "Witness")
        self.witness.join(self.document)
        self.seen = 0
        self.before = resident_bytes(server)
        self.readers = [self._stall(index) for index in range(readers)]
        self.author.take_all()
        self.joined = resident_bytes(server)

    def _stall(self, index):
        """A reader whose socket is not read after it has joined."""
        end = socket.socket()
        # So that the system does not read ahead for it.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        end.connect(("127.0.0.1", self.server.port))
        reader = NativeClient(self.server, f"Stalled {index}", sock=end, max_queue=1, ping_interval=None)
        reader.join(self.document)
        # The library's thread reads until its queue is full; then the socket is no longer read.
        return reader

    def write(self, count):
        """Sends a number of changes, each of which is acknowledged and received by the reader that keeps up."""
        began = time.monotonic()
        for _ in range(count):
            operation = [self.text, *([-self.length] if self.length else [])]
            kind, data = self.author.change(
                self.document, self.state, self.revision + 1, operation, self.revision
            )
            assert kind == "acknowledged", data
            self.revision += 1
            assert data["revision"] == self.revision
            self.length = len(self.text)
            self.author.inbox.clear()
            while self.seen < self.revision:
                message = self.witness.receive()
                if message["type"] == "changes":
                    assert message["data"]["revision"] == self.seen + 1
                    self.seen += len(message["data"]["changes"])
        return time.monotonic() - began

    def catch_up(self, reader):
        """Lets a stalled reader read again, until it has reached the head by changes and texts, in order."""
        revision = None
        while revision is None or revision < self.revision:
            message = reader.receive()
            if message["type"] == "changes":
                if revision is not None:
                    assert message["data"]["revision"] == revision + 1
                revision = message["data"]["revision"] + len(message["data"]["changes"]) - 1
            elif message["type"] == "resync":
                revision = message["data"]["revision"]
                assert message["data"]["text"] == self.text
        assert revision == self.revision

    def close(self):
        for client in (self.author, self.witness):
            client.close()
        for reader in self.readers:
            reader.drop()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--readers", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = ParleyServer(folder, "--connection-message-rate", "0").start()
        try:
            run = StalledRun(server, arguments.readers)
            figures = {
                "readers": arguments.readers,
                "MB before they came": round(run.before / 1e6, 1),
                "MB with all joined": round(run.joined / 1e6, 1),
            }
            for quarter in range(1, 5):
                seconds = run.write(arguments.changes // 4)
                figures[f"MB after {quarter * arguments.changes // 4} changes"] = round(
                    resident_bytes(server) / 1e6, 1
                )
                figures[f"changes per second, quarter {quarter}"] = round(
                    arguments.changes / 4 / seconds
                )
            figures["lagging"] = lagging(server)
            for reader in run.readers[:1]:
                run.catch_up(reader)
            run.close()
        finally:
            server.kill()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
