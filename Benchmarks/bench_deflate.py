#!/usr/bin/env python3
"""Measures what permessage-deflate (RFC 7692) would save and cost, on messages of the real program.

    Benchmarks/bench_deflate.py            the tables of Documentation/Decisions/0017-permessage-deflate.md

It starts the program, types into a note letter by letter, publishes in a room and joins notes, and
keeps what a second client is sent. Then zlib compresses it as the extension would: with a state for each
connection that is kept from message to message (context takeover), and with a new one for each message,
whose result all readers may share. Times are processor time, Python's calls included (about 0.5 µs).
"""

import gc
import json
import pathlib
import sys
import tempfile
import time
import tracemalloc
import uuid
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "System"))

from native_client import NativeClient  # noqa: E402
from parley_server import ParleyServer  # noqa: E402

TAIL = b"\x00\x00\xff\xff"
# Window and memory level, as zlib's users pair them.
SIZES = [(9, 1), (10, 3), (11, 4), (12, 5), (13, 6), (15, 8)]
LETTERS = 1_000


def english(count):
    """A text as people write it: these pages, in an order that does not change."""
    pages = sorted([*(ROOT / "Documentation").rglob("*.md"), *ROOT.glob("*.md")])
    text = "\n".join(page.read_text() for page in pages)
    assert len(text) >= count
    return text[:count]


class Listener(NativeClient):
    """Keeps the texts of what it is sent."""

    def __init__(self, *arguments, **options):
        self.texts = []
        super().__init__(*arguments, **options)

    def receive(self, **options):
        text = self.socket.recv(**options)
        self.texts.append(text.encode())
        return json.loads(text)

    def kept(self, kind):
        return [text for text in self.texts if json.loads(text)["type"] == kind]


def record(folder):
    """The messages of each kind, in the order in which one client was sent them."""
    server = ParleyServer(folder, "--connection-message-rate", "0").start()
    found = {}
    try:
        document = server.create_note("Minutes")
        typed = english(LETTERS)
        with NativeClient(server, "Ada") as ada, Listener(server, "Ben") as ben:
            joined = ada.join(document)
            kind, answer = ada.change(document, joined, 1, [english(20_000)])
            assert kind == "acknowledged", answer
            ben.join(document)
            revision = answer["revision"]
            for number, letter in enumerate(typed):
                at = 10_000 + number
                operation = [at, letter, 20_000 - 10_000]
                kind, answer = ada.change(document, joined, number + 2, operation, revision)
                assert kind == "acknowledged", answer
                revision = answer["revision"]
            ben.take_all()
            found["change, a letter"] = ben.kept("changes")
            room = "orders"
            kind, answer = ben.request("subscribe", {"room": room})
            assert kind == "subscribed", answer
            for number in range(300):
                data = {
                    "kind": "order.updated", "orderId": str(uuid.UUID(int=number * 7**40 % 2**128)),
                    "state": ["new", "paid", "packed", "sent"][number % 4], "total": number * 37 % 9_973,
                    "text": english(20_000)[number * 60 : number * 60 + 60],
                }  # fmt: skip
                kind, answer = ada.request("publish", {"room": room, "data": data})
                assert kind == "published", answer
            ben.take_all()
            found["publication, about 200 B of data"] = ben.kept("publication")
        for count in (2_000, 20_000, 200_000):
            document = server.create_note("Minutes")
            with NativeClient(server, "Ada") as ada, Listener(server, "Ben") as ben:
                joined = ada.join(document)
                kind, answer = ada.change(document, joined, 1, [english(count)])
                assert kind == "acknowledged", answer
                ben.texts = []
                ben.join(document)
                found[f"joined, {count // 1000} kB of English"] = ben.kept("joined")
    finally:
        server.stop()
    return found


def processor_time(work, repeat):
    """Microseconds of one `work()`, the least of five tries."""
    gc.disable()
    best = 1e9
    for _ in range(5):
        began = time.process_time_ns()
        for _ in range(repeat):
            work()
        best = min(best, (time.process_time_ns() - began) / repeat)
    gc.enable()
    return best / 1_000


def deflated(state, message):
    result = state.compress(message) + state.flush(zlib.Z_SYNC_FLUSH)
    assert result.endswith(TAIL)
    return result[:-4]


def alone(message, bits, memory, level):
    return deflated(zlib.compressobj(level, zlib.DEFLATED, -bits, memory), message)


def in_a_row(messages, bits, memory, level):
    state = zlib.compressobj(level, zlib.DEFLATED, -bits, memory)
    return [deflated(state, message) for message in messages]


def memory_each(make, use):
    """Bytes that a state keeps after use."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = make()
    use(kept)
    found = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return found


def sizes(found):
    level = 6
    print("| message | bytes | alone | µs | with context, 4 KiB | µs | with context, 32 KiB | µs |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, messages in found.items():
        # A connection is sent many of these; one answer as large is rare.
        row = messages * 20 if len(messages) == 1 else messages
        raw = sum(map(len, row)) / len(row)
        repeat = 20 if raw < 5_000 and len(row) < 100 else 1
        line = f"| {name} | {raw:,.0f} "
        single = sum(len(alone(message, 15, 8, level)) for message in row) / len(row)
        took = processor_time(lambda row=row: [alone(m, 15, 8, level) for m in row], repeat)
        line += f"| {single:,.0f} ({single / raw:.0%}) | {took / len(row):,.1f} "
        for bits, memory in ((12, 5), (15, 8)):
            if len(messages) == 1:
                line += "| – | – "
                continue
            total = sum(map(len, in_a_row(row, bits, memory, level))) / len(row)
            took = processor_time(
                lambda row=row, bits=bits, memory=memory: in_a_row(row, bits, memory, level), repeat
            )
            line += f"| {total:,.0f} ({total / raw:.0%}) | {took / len(row):,.1f} "
        print(line + "|")


def levels(found):
    print("\n| message alone, by level | 1 | µs | 6 | µs | 9 | µs | inflating, µs |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, messages in found.items():
        if not name.startswith("joined"):
            continue
        message = messages[0]
        line = f"| {name} "
        for level in (1, 6, 9):
            size = len(alone(message, 15, 8, level))
            took = processor_time(
                lambda message=message, level=level: alone(message, 15, 8, level), 20
            )
            line += f"| {size / len(message):.0%} | {took:,.0f} "
        packed = alone(message, 15, 8, 6) + TAIL
        took = processor_time(lambda packed=packed: zlib.decompressobj(-15).decompress(packed), 20)
        print(f"{line}| {took:,.0f} |")


def windows(found):
    print("\n| window | deflating, a connection | inflating, a connection | a letter | a publication |")
    print("| --- | --- | --- | --- | --- |")
    letters = found["change, a letter"]
    publications = found["publication, about 200 B of data"]
    some = english(40_000).encode()
    packed = alone(some, 15, 8, 6) + TAIL
    for bits, memory in SIZES:
        deflating = memory_each(
            lambda bits=bits, memory=memory: zlib.compressobj(6, zlib.DEFLATED, -bits, memory),
            lambda state: deflated(state, some),
        )
        whole = alone(some, bits, memory, 6) + TAIL if bits < 15 else packed
        inflating = memory_each(
            lambda bits=bits: zlib.decompressobj(-bits),
            lambda state, whole=whole: state.decompress(whole),
        )
        line = f"| {(1 << bits) / 1024:g} KiB | {deflating / 1024:,.0f} KiB | {inflating / 1024:,.0f} KiB "
        for row in (letters, publications):
            rate = sum(map(len, in_a_row(row, bits, memory, 6))) / sum(map(len, row))
            line += f"| {rate:.0%} "
        print(line + "|")


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = record(folder)
    print(f"zlib {zlib.ZLIB_RUNTIME_VERSION}, level 6 unless said otherwise\n")
    sizes(found)
    levels(found)
    windows(found)
    print("\nan example of each:")
    for name, messages in found.items():
        print(f"    {name}: {messages[-1][:230].decode(errors='replace')}")


if __name__ == "__main__":
    main()
