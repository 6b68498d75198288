"""Clients that type over a network that cuts their connections every few seconds.

Every edit must arrive once and in the order of typing. `make lossy-test` runs this for a
minute, and reports how long it takes to replay missed changes:

    .venv/bin/python Tests/System/lossy_run.py --seconds 60 --seed 1
"""

import argparse
import contextlib
import json
import os
import random
import tempfile
import time

import log_checker
from crash_run import BREAKS, NativeTypist
from cutting_proxy import CuttingProxy
from operations import splice
from parley_server import ParleyServer


class LossyRun:
    """Several clients on one note, behind the proxy."""

    def __init__(self, server, proxy, seed, typists):
        self.server = server
        self.proxy = proxy
        self.rng = random.Random(seed)
        self.document = server.create_note("Over a bad line")
        self.typists = [NativeTypist(f"n{index}", self.document) for index in range(typists)]
        self.edits = self.losses = 0
        self.replays = []

    @contextlib.contextmanager
    def breaks(self, typist):
        try:
            yield
        except BREAKS:
            self.lose(typist)

    def lose(self, typist):
        self.losses += typist.is_connected
        typist.lose()

    def connect(self, typist):
        """Makes one attempt to reconnect."""
        editor = typist.editor
        before = editor.revision
        began = time.monotonic()
        self.proxy.may_silence = False
        with self.breaks(typist):
            typist.connect(self.proxy)
            if before:
                self.replays.append((time.monotonic() - began, editor.revision - before))
        self.proxy.may_silence = True

    def notice_silence(self, typist):
        """Detects a silent connection, as a client's timer would."""
        if typist.is_connected:
            end = typist.editor.client.socket.socket
            with contextlib.suppress(OSError):
                if self.proxy.is_silent(end.getsockname()[1]):
                    typist.editor.client.drop()
                    self.lose(typist)

    def type(self, typist):
        text = typist.editor.text
        if text is None:
            return
        position = self.rng.choice([self.rng.randint(0, len(text)), min(len(text), 10)])
        deleted = self.rng.choice([0, 0, 0, 1, 4])
        if len(text) > 6_000:
            deleted = 3_000
        deleted = min(deleted, len(text) - position)
        self.edits += 1
        with self.breaks(typist):
            typist.editor.edit(splice(text, position, deleted, f"<{self.edits}>"))

    def read(self, typist, chance):
        with self.breaks(typist):
            while (
                typist.is_connected and self.rng.random() < chance and typist.editor.pump(0.001)
            ):
                pass

    def step(self):
        """Lets one client type or reconnect, and all clients read."""
        typist = self.rng.choice(self.typists)
        self.notice_silence(typist)
        # Clients continue to type while they are disconnected.
        self.type(typist)
        if not typist.is_connected and self.rng.random() < 0.5:
            self.connect(typist)
        for other in self.typists:
            self.read(other, 0.7)

    def look_up(self, seconds):
        """Lets one client wait for the next message, up to a time limit."""
        typist = self.rng.choice(self.typists)
        with self.breaks(typist):
            if typist.is_connected:
                typist.editor.pump(seconds)

    def finish(self):
        """Stops cutting connections, lets all clients settle, and compares. Returns measurements."""
        self.proxy.mend()
        self.proxy.cut_all()
        # Clients that send nothing would not detect that their connection is lost.
        for typist in self.typists:
            self.lose(typist)
        while any(typist.editor.in_flight or not typist.is_connected for typist in self.typists):
            for typist in self.typists:
                self.notice_silence(typist)
                if not typist.is_connected:
                    self.connect(typist)
                self.read(typist, 0.9)
        editors = [typist.editor for typist in self.typists]
        head = max(editor.revision for editor in editors)
        for editor in editors:
            editor.reach(head)
            editor.client.close()
        assert self.server.stop() == 0
        log_checker.run(self.server, "check")
        log = log_checker.check_document(self.server, self.document, editors, [])
        sent = sum(len(editor.sent) for editor in editors)
        assert log.revision == sent
        return {
            "edits typed": self.edits,
            "changes sent": sent,
            "changes delivered once and in order": log.revision,
            "cuts": self.proxy.cuts,
            "sent again after a cut": sum(editor.resent for editor in editors),
            "resumptions": len(self.replays),
            "changes replayed, median": self.middle([missed for _, missed in self.replays], 0.5),
            "changes replayed, most": max(missed for _, missed in self.replays),
            "replay, from the first packet, ms, p50": self.milliseconds(0.5),
            "replay, from the first packet, ms, p99": self.milliseconds(0.99),
        }

    @staticmethod
    def middle(values, part):
        return sorted(values)[int(len(values) * part)]

    def milliseconds(self, part):
        return round(1_000 * self.middle([seconds for seconds, _ in self.replays], part), 1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--typists", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        server = ParleyServer(folder).start()
        # Each client receives the changes of all others, so this many bytes are sent in a few seconds.
        proxy = CuttingProxy(server.port, arguments.seed, 500, 60_000)
        try:
            run = LossyRun(server, proxy, arguments.seed, arguments.typists)
            for typist in run.typists:
                while not typist.is_connected:
                    run.connect(typist)
            end = time.monotonic() + arguments.seconds
            while time.monotonic() < end:
                run.step()
                run.look_up(run.rng.expovariate(100))
            figures = run.finish()
        finally:
            proxy.close()
            if server.is_running:
                server.kill()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
