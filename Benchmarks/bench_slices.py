#!/usr/bin/env python3
"""Measures how long others wait while the server writes to a crowd, and while it reads long lists.

    Benchmarks/bench_slices.py paste                   a paste of 1 MB to 6,000 followers of a note
    Benchmarks/bench_slices.py paste 500 100000        to fewer, and a shorter one
    Benchmarks/bench_slices.py folders                 four loops of GET /api/folders over 75,000 notes
    Benchmarks/bench_slices.py folders 5000 50         fewer notes, in so many folders

Ends with 1 if a target is missed: pings at most 50 ms at the 99th percentile and every byte delivered; reads of texts
at most twice as slow at the median. PARLEY_PROGRAM names another build to be measured.
"""

import base64
import http.client
import json
import multiprocessing
import os
import pathlib
import resource
import select
import socket
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "System"))

from parley_server import ParleyServer  # noqa: E402

FREE = [
    "--connections-max", "20000", "--user-request-rate", "0", "--address-request-rate", "0",
    "--user-connections-max", "0", "--user-connect-rate", "0", "--address-connections-max", "0",
    "--address-connect-rate", "0", "--connection-message-rate", "0", "--user-message-rate", "0",
    "--log-level", "warning",
]  # fmt: skip


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


class Line:
    """A WebSocket of `parley.v1`, with as little Python for each byte as possible."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Protocol: parley.v1\r\n\r\n".encode()
        )
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self.fill()
        head, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        assert b" 101 " in head, head
        self.send("h", "hello", {"name": "Ada"})
        self.await_reply("h")

    def fill(self):
        more = self.socket.recv(1 << 16)
        assert more, "the server closed the connection"
        self.bytes += more

    def send(self, message_id, kind, data):
        payload = json.dumps({"messageId": message_id, "type": kind, "data": data}).encode()
        assert len(payload) < 126
        # A mask of zeros leaves the payload as it is.
        self.socket.sendall(bytes([0x81, 0x80 | len(payload)]) + bytes(4) + payload)

    def receive(self):
        """The payload of the next frame."""
        while True:
            frame = take(self.bytes)
            if frame:
                opcode, payload, self.bytes = frame
                if opcode == 1:
                    return payload
            else:
                self.fill()

    def await_reply(self, message_id):
        mark = f'"messageId":"{message_id}"'.encode()
        while True:
            payload = self.receive()
            if mark in payload[:200]:
                return payload


def take(data):
    """Opcode and payload of the first frame, and the bytes behind it; `None` if it is not whole."""
    if len(data) < 2:
        return None
    start, count = 2, data[1]
    if count >= 126:
        start += 2 if count == 126 else 8
        count = int.from_bytes(data[2:start], "big")
    if len(data) < start + count:
        return None
    return data[0] & 15, data[start : start + count], data[start + count :]


def ping(port, stop, results):
    """Pings every few milliseconds, and notes when each began and how long it took."""
    line = Line(port)
    times = []
    while not stop.is_set():
        began = time.monotonic()
        line.send("p", "ping", {})
        line.await_reply("p")
        times.append((began, time.monotonic() - began))
        time.sleep(0.002)
    results.put(times)


def follow(port, note, count, ready, results):
    """Joins a note on many connections, and reads each until its part of the paste has come whole."""
    lines = []
    for number in range(count):
        line = Line(port)
        line.send("j", "join", {"documentId": note})
        line.await_reply("j")
        lines.append(line)
        if number % 1_000 == 999:
            print(f"    {number + 1} of {count} follow", flush=True)
    poll = select.epoll()
    states = {}
    for line in lines:
        line.socket.setblocking(False)
        poll.register(line.socket.fileno(), select.EPOLLIN)
        # Bytes of a frame's head that have come, and the bytes of the frame that are still to come.
        states[line.socket.fileno()] = [line.socket, line.bytes, 0]
    ready.set()
    left, received = count, 0
    room = bytearray(1 << 20)
    while left:
        for descriptor, _ in poll.poll():
            state = states[descriptor]
            try:
                size = state[0].recv_into(room)
            except BlockingIOError:
                continue
            assert size, "the server closed a follower's connection"
            received += size
            data = memoryview(room)[:size]
            while len(data):
                if state[2]:
                    step = min(state[2], len(data))
                    state[2] -= step
                    data = data[step:]
                    if not state[2]:
                        left -= 1
                    continue
                head = state[1] + bytes(data[:10])
                if len(head) < 10:
                    state[1] = head
                    break
                if head[1] == 127:
                    state[2] = int.from_bytes(head[2:10], "big")
                    data = data[10 - len(state[1]) :]
                    state[1] = b""
                    continue
                # A short frame, such as one about who is here.
                start = 4 if head[1] == 126 else 2
                whole = start + (int.from_bytes(head[2:4], "big") if start == 4 else head[1])
                held = state[1] + bytes(data)
                if len(held) < whole:
                    state[1] = held
                    break
                data = data[whole - len(state[1]) :]
                state[1] = b""
    results.put((time.monotonic(), received))


def server_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def paste(followers=6_000, size=1_000_000):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory(prefix="parley-slices-") as folder:
        server = ParleyServer(folder, *FREE).start()
        try:
            return paste_to(server, followers, size)
        finally:
            server.kill()


def paste_to(server, followers, size):
    note = server.create_note()
    stop, ready, results, pings = (
        multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Queue(),
        multiprocessing.Queue(),
    )  # fmt: skip
    readers = multiprocessing.Process(
        target=follow, args=(server.port, note, followers, ready, results)
    )
    readers.start()
    while not ready.wait(0.1):
        assert readers.is_alive(), "a follower could not join"
    pinger = multiprocessing.Process(target=ping, args=(server.port, stop, pings))
    pinger.start()
    time.sleep(2)
    used, began = server_seconds(server.process), time.monotonic()
    status, _, body = server.request(
        "PUT", f"/api/notes/{note}/text", ("x" * 99 + "\n").encode() * (size // 100),
        {"content-type": "text/plain"},
    )  # fmt: skip
    assert status == 200, body
    ended, received = results.get(timeout=300)
    used = server_seconds(server.process) - used
    stop.set()
    times = pings.get()
    before = [took * 1_000 for at, took in times if at < began]
    during = [took * 1_000 for at, took in times if began <= at <= ended]
    p99 = percentile(during, 0.99)
    print(f"{followers} followers, {size} bytes: {received / 1e6:,.0f} MB delivered in {ended - began:.2f} s,")
    print(f"    {used:.2f} s of the server's processor time")
    print(f"others' pings before: p50 {percentile(before, 0.5):.2f} ms, p99 {percentile(before, 0.99):.2f} ms")
    print(
        f"others' pings meanwhile ({len(during)}): p50 {percentile(during, 0.5):.2f} ms, p99 {p99:.2f} ms, "
        f"longest {max(during, default=0):.2f} ms",
        flush=True,
    )
    return p99 <= 50 and received >= followers * size


def folders(notes=75_000, count=750):
    with tempfile.TemporaryDirectory(prefix="parley-slices-") as folder:
        server = ParleyServer(folder, *FREE).start()
        try:
            return folders_of(server, notes, count)
        finally:
            server.kill()


class Person:
    """An HTTP connection that is kept."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body and json.dumps(body))
        response = self.connection.getresponse()
        data = response.read()
        assert response.status in (200, 201), (response.status, data[:200])
        return data


def fill(server, numbers, folder):
    person = Person(server)
    for number in numbers:
        person.ask("PUT", f"/api/notes/n{number}", {"title": f"Note {number}", "folder": folder(number)})


def read_texts(server, notes, seconds):
    """Reads of texts one after the other, in milliseconds each."""
    person, took = Person(server), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        person.ask("GET", f"/api/notes/n{len(took) * 7919 % notes}/text")
        took.append((time.monotonic() - began) * 1_000)
        time.sleep(0.002)
    return took


def loop(port, path, stop, counts):
    server = type("At", (), {"port": port})
    person, count = Person(server), 0
    while not stop.is_set():
        person.ask("GET", path)
        count += 1
    counts.put(count)


def folders_of(server, notes, count):
    threads = [
        threading.Thread(target=fill, args=(server, range(part, notes, 8), lambda n: f"team/{n % count}"))
        for part in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{notes} notes in {count} folders", flush=True)
    # What was written is looked through for search, and folded.
    time.sleep(5)
    alone = read_texts(server, notes, 4)
    print(f"texts, alone: p50 {percentile(alone, 0.5):.2f} ms, p99 {percentile(alone, 0.99):.2f} ms", flush=True)
    isReached = True
    for path in ("/api/folders", "/api/notes", "/api/notes?limit=1000"):
        stop, counts = multiprocessing.Event(), multiprocessing.Queue()
        loops = [
            multiprocessing.Process(target=loop, args=(server.port, path, stop, counts)) for _ in range(4)
        ]
        for process in loops:
            process.start()
        time.sleep(0.5)
        began = time.monotonic()
        beside = read_texts(server, notes, 6)
        stop.set()
        total = sum(counts.get() for _ in loops)
        ratio = percentile(beside, 0.5) / percentile(alone, 0.5)
        if path == "/api/folders":
            isReached = ratio <= 2
        print(
            f"texts beside four loops of GET {path}: p50 {percentile(beside, 0.5):.2f} ms, "
            f"p99 {percentile(beside, 0.99):.2f} ms, {ratio:.1f} × alone; "
            f"{total / (time.monotonic() - began):.1f} lists a second",
            flush=True,
        )
    return isReached


def main():
    words = sys.argv[1:]
    if not words or words[0] not in ("paste", "folders"):
        print(__doc__)
        sys.exit(2)
    work = paste if words[0] == "paste" else folders
    sys.exit(0 if work(*map(int, words[1:])) else 1)


if __name__ == "__main__":
    main()
