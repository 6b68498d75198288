#!/usr/bin/env python3
"""Bytes of one keystroke on the wire, with ids and with numbers.

    PARLEY_PROGRAM=.build/release/parley .venv/bin/python Benchmarks/bench_keystroke.py

One client types letters all over a note of 40,000 scalars, under an id like those of the page; one reader
takes numbers and one does not. Prints the payloads of the messages as a table: the frame around adds 2 to 4.
"""

import asyncio
import json
import pathlib
import random
import sys
import tempfile

import websockets

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "System"))
from parley_server import ParleyServer  # noqa: E402

NOTE = "0b1e7c52-3d0c-4a59-8f0e-6c1b8a2f9d10"
LETTERS = 1_000
LENGTH = 40_000


class Client:
    """One connection that has joined the note."""

    def __init__(self, socket):
        self.socket = socket
        self.sent = 0

    async def say(self, kind, data):
        self.sent += 1
        message = {"messageId": f"c{self.sent}", "type": kind, "data": data}
        text = json.dumps(message, separators=(",", ":"))
        await self.socket.send(text)
        return len(text)

    async def hear(self, *kinds):
        """The next message of these kinds, and its bytes."""
        while True:
            text = await self.socket.recv()
            message = json.loads(text)
            if message["type"] in kinds:
                return message, len(text.encode())

    @classmethod
    async def join(cls, port, numbers, create=False):
        url = f"ws://127.0.0.1:{port}/ws"
        socket = await websockets.connect(url, subprotocols=["parley.v1"], max_size=None)
        client = cls(socket)
        await client.say("hello", {"name": "Ann", "numbers": numbers})
        await client.hear("welcome")
        if create:
            await client.say("create", {"documentId": NOTE, "title": "Keystrokes"})
            await client.hear("created")
        await client.say("join", {"documentId": NOTE})
        client.joined = (await client.hear("joined"))[0]["data"]
        return client


async def measure(port):
    writer = await Client.join(port, numbers=True, create=True)
    short = await Client.join(port, numbers=True)
    long = await Client.join(port, numbers=False)
    epoch = writer.joined["epoch"]
    random.seed(7)
    length = 0
    sizes = {"change, sent": [], "acknowledged": [], "changes, with ids": [], "c, with numbers": []}
    for sequence in range(1, LETTERS + 2):
        place = random.randrange(length + 1)
        text = "x" * LENGTH if sequence == 1 else "x"
        operation = [place] * (place > 0) + [text] + [length - place] * (length > place)
        up = await writer.say("change", {
            "documentId": NOTE, "epoch": epoch, "revision": sequence - 1, "sequence": sequence,
            "operation": operation,
        })  # fmt: skip
        length += len(text)
        found = [
            up, (await writer.hear("acknowledged"))[1], (await long.hear("changes"))[1],
            (await short.hear("c"))[1],
        ]  # fmt: skip
        if sequence > 1:
            for name, size in zip(sizes, found):
                sizes[name].append(size)
    print("| message | mean | largest |\n| --- | --- | --- |")
    for name, all_sizes in sizes.items():
        print(f"| {name} | {sum(all_sizes) / len(all_sizes):.1f} | {max(all_sizes)} |")


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = ParleyServer(folder, "--connection-message-rate", "100000").start()
        try:
            asyncio.run(measure(server.port))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
