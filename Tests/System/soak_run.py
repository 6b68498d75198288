"""An hour of everything at once, and whether anything is lost or left behind.

    make soak SECONDS_SOAK=3600

People type on notes, a backend publishes to rooms, subscribers come and go, connections are opened
and torn off. Each minute tells what the server holds. At the end every edit has reached all readers
and its author, every publication each of its subscribers, once and in order; the server holds no
more memory than when it had warmed up, and as many descriptors as before the first client.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

from native_client import NativeClient
from parley_server import PROGRAM, ParleyServer, built
from patience import SECONDS
from stalled_run import resident_bytes

LOAD = built("parley-load", "PARLEY_LOAD")
ROOMS = [f"soak-{index}" for index in range(5)]
# What memory may add to what it was after a third of the time, when the caches of the store (32 MB)
# and of the log are full: allocators breathe.
GROWTH = 1.1

# The log, the index of search and the lock, with readers of both.
STORE_DESCRIPTORS_MAX = 32


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def left_open(server):
    """Descriptors of connections and other things, and those of the store, which opens more when it is read much."""
    folder = f"/proc/{server.process.pid}/fd"
    names = sorted(os.path.basename(os.readlink(f"{folder}/{name}")) for name in os.listdir(folder))
    of_store = [name for name in names if name.startswith("notes.parley")]
    return [name for name in names if name not in of_store], of_store


def load(server, *words):
    """Starts the load program, which prints a line of JSON at its end."""
    return subprocess.Popen(
        [LOAD, *map(str, words), "--port", str(server.port)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


class Publisher(threading.Thread):
    """A backend that publishes at a rate over HTTP, to each room in turn."""

    def __init__(self, server, rate, stop):
        super().__init__(name="publisher")
        self.server, self.rate, self.stop = server, rate, stop
        self.published = dict.fromkeys(ROOMS, 0)

    def run(self):
        for room in itertools.cycle(ROOMS):
            if self.stop.wait(1 / self.rate):
                return
            number = self.published[room] + 1
            status, _, body = self.server.request(
                "POST", f"/api/rooms/{room}/publish", {"data": {"number": number}}
            )
            assert status == 200, (status, body)
            assert json.loads(body)["offset"] == number
            self.published[room] = number


class Subscriber(threading.Thread):
    """Follows a room. Some followers disconnect every few seconds, and resume."""

    def __init__(self, server, room, restless, seed):
        super().__init__(name=f"{room}, {'restless' if restless else 'steady'}")
        self.server, self.room = server, room
        self.restless, self.random = restless, random.Random(seed)
        self.position = None
        self.is_following = threading.Event()
        self.taken = 0
        self.resumed = 0
        self.goal = None
        self.error = None

    def run(self):
        try:
            while not self.is_done:
                self.follow()
        except Exception as error:
            self.error = error

    @property
    def is_done(self):
        return self.goal is not None and self.taken >= self.goal

    def follow(self):
        until = time.monotonic() + self.random.uniform(2, 8) if self.restless else float("inf")
        with NativeClient(self.server, self.name) as client:
            request = {"room": self.room}
            if self.position:
                request["position"] = self.position
            kind, reply = client.request("subscribe", request)
            assert kind == "subscribed", reply
            if self.position:
                assert reply["recovered"] is True, "within the window nothing is forgotten"
                self.resumed += 1
            self.position = self.position or {"epoch": reply["epoch"], "offset": reply["offset"]}
            self.is_following.set()
            for publication in reply.get("publications", []):
                self.take(publication)
            while time.monotonic() < until and not self.is_done:
                try:
                    message = client.inbox.popleft() if client.inbox else client.receive(0.5)
                except TimeoutError:
                    continue
                if message["type"] == "publication":
                    self.take(message["data"])
            client.drop()

    def take(self, publication):
        expected = self.position["offset"] + 1
        assert publication["offset"] == expected, (publication["offset"], expected)
        assert publication["data"] == {"number": expected}
        self.position["offset"] = expected
        self.taken = expected


def sample(server, began):
    figures = {
        "seconds": round(time.monotonic() - began),
        "resident_kB": resident_bytes(server) // 1024,
        "descriptors": descriptors(server),
    }
    print(json.dumps(figures), flush=True)
    return figures


def soak(server, seconds, typists, notes, rate):
    """Runs all of it and returns the outcome and the samples."""
    before, _ = left_open(server)
    began = time.monotonic()
    stop = threading.Event()
    publisher = Publisher(server, rate, stop)
    subscribers = [
        Subscriber(server, room, restless, seed)
        for seed, (room, restless) in enumerate(itertools.product(ROOMS, (False, True)))
    ]
    for thread in subscribers:
        thread.start()
    for thread in subscribers:
        assert thread.is_following.wait(SECONDS), f"{thread.name} cannot subscribe"
    publisher.start()
    typing = load(
        server, "typists", "--typists", typists, "--notes", notes, "--size", 2_000,
        "--seconds", seconds,
    )  # fmt: skip
    samples = []
    connected = 0
    while typing.poll() is None:
        # A second of connections that open and are reset, in each fifteen.
        churn = load(server, "connect", "--path", "/echo", "--seconds", 1, "--at-once", 32)
        connected += json.loads(churn.communicate()[0]).get("connects_per_second", 0)
        samples.append(sample(server, began))
        try:
            typing.wait(min(14, max(1, seconds / 20)))
        except subprocess.TimeoutExpired:
            pass
    stop.set()
    publisher.join()
    for thread in subscribers:
        thread.goal = publisher.published[thread.room]
    for thread in subscribers:
        thread.join(SECONDS)
        assert not thread.is_alive(), f"{thread.name} waits for {thread.goal}, has {thread.taken}"
        assert thread.error is None, (thread.name, thread.error)
        assert thread.taken == thread.goal
    typed = json.loads(typing.stdout.read())
    assert typing.returncode == 0
    assert typed["undelivered"] == typed["unacknowledged"] == 0, typed
    deadline = time.monotonic() + SECONDS
    while len((after := left_open(server))[0]) > len(before) and time.monotonic() < deadline:
        # The server answers after it has closed the connections that it knew to be lost.
        server.request("GET", "/health")
    assert len(after[0]) <= len(before), f"left open: {after[0]}, of {before}"
    assert len(after[1]) <= STORE_DESCRIPTORS_MAX, after[1]
    warm = next(item for item in samples if item["seconds"] >= seconds / 3)
    last = samples[-1]
    assert last["resident_kB"] <= warm["resident_kB"] * GROWTH, (warm, last)
    return {
        "seconds": seconds,
        "edits": round(typed["edits_per_second"] * typed["seconds"]),
        "everyone_p50_ms": typed["everyone_p50_ms"],
        "everyone_p99_ms": typed["everyone_p99_ms"],
        "undelivered": typed["undelivered"],
        "unacknowledged": typed["unacknowledged"],
        "published": sum(publisher.published.values()),
        "delivered": sum(thread.taken for thread in subscribers),
        "resumptions": sum(thread.resumed for thread in subscribers),
        "connections_torn_off": connected,
        "descriptors_before": len(before),
        "descriptors_after": len(after[0]),
        "descriptors_of_store": len(after[1]),
        "resident_kB_warm": warm["resident_kB"],
        "resident_kB_at_end": last["resident_kB"],
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=3_600)
    parser.add_argument("--typists", type=int, default=100)
    parser.add_argument("--notes", type=int, default=10)
    parser.add_argument("--rate", type=float, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = ParleyServer(folder, "--echo-path", "/echo").start()
        try:
            figures = soak(
                server, arguments.seconds, arguments.typists, arguments.notes, arguments.rate
            )
            assert server.stop() == 0
        finally:
            if server.is_running:
                server.kill()
        checked = subprocess.run(
            [PROGRAM, "check", "--data-dir", str(server.data)], capture_output=True, text=True,
            env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
        assert checked.returncode == 0, checked.stdout + checked.stderr
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    sys.exit(main())
