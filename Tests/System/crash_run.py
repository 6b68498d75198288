"""Clients that type while the server is killed repeatedly.

Program, sockets and disk are real. SIGKILL is sent at random times. Afterwards, all changes that any
client received is compared with the log. `make crash-test` runs this with KILLS=1000:

    .venv/bin/python Tests/System/crash_run.py --kills 1000 --seed 1

A run prints its seed, which determines the edits of each client, but not the state of the server
when it is killed, because it runs concurrently.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import log_checker
from native_client import Editor
from operations import splice
from parley_server import ROOT, ParleyServer
from patience import SECONDS
from websockets.exceptions import WebSocketException

sys.path.append(str(ROOT / "Tests" / "Clients"))
from whaler_client import WhalerEditor  # noqa: E402

# The errors of a client whose server is killed, at any step.
BREAKS = (WebSocketException, OSError, EOFError)
SPICE = ["é", "e\u0301", "👍🏽", "\r\n", "漢字", "👨‍👩‍👧", "\n", "\u0000", '"', "\\"]
TEXT_MAX = 6_000


class NativeTypist:
    """A client that resumes."""

    def __init__(self, name, document):
        self.editor = Editor(name, document)
        self.is_connected = False

    def connect(self, server):
        self.editor.attach(server)
        self.is_connected = True

    def lose(self):
        self.is_connected = False

    def close(self):
        self.editor.client.close()

    editors = ()


class WhalerTypist:
    """A client that begins anew with each connection, and loses unacknowledged changes."""

    def __init__(self, name, document):
        self.name = name
        self.document = document
        self.editors = []
        self.editor = None
        self.is_connected = False

    def connect(self, server):
        self.editor = WhalerEditor(server, self.document)
        self.editors.append(self.editor)
        self.is_connected = True

    def lose(self):
        if self.editor:
            self.editor.client.close()
        self.editor = None
        self.is_connected = False

    def close(self):
        self.editor.client.close()


class CrashRun:
    """Several notes, each with several clients of both dialects."""

    def __init__(self, server, seed, documents=3, natives=2, whalers=1):
        self.server = server
        self.rng = random.Random(seed)
        self.documents = [server.create_note(f"Note {index}") for index in range(documents)]
        self.typists = {
            document: [
                *(NativeTypist(f"n{d}.{n}", document) for n in range(natives)),
                *(WhalerTypist(f"w{d}.{n}", document) for n in range(whalers)),
            ]
            for d, document in enumerate(self.documents)
        }
        self.everybody = [typist for group in self.typists.values() for typist in group]
        self.edits = self.kills = self.early_kills = 0
        self.restart_seconds = []

    # Typing.

    def step(self):
        """Lets one client type or read; a disconnected client reconnects first."""
        typist = self.rng.choice(self.everybody)
        if typist.is_connected:
            # A client that is far ahead of the server reads first.
            with self.breaks(typist):
                if typist.editor.buffer:
                    typist.editor.pump(0.02)
            for _ in range(self.rng.choice([1, 1, 1, 2, 5])):
                if typist.is_connected:
                    self.type(typist)
        with self.breaks(typist):
            if not typist.is_connected:
                typist.connect(self.server)
        for other in self.everybody:
            with self.breaks(other):
                while other.is_connected and self.rng.random() < 0.6 and other.editor.pump():
                    pass

    def type(self, typist):
        text = typist.editor.text
        # Usually near one position, so that edits conflict.
        near = self.rng.randint(0, min(len(text), 40))
        position = near if self.rng.random() < 0.5 else self.rng.randint(0, len(text))
        deleted = self.rng.choice([0, 0, 0, 1, 4])
        if len(text) > TEXT_MAX:
            deleted = TEXT_MAX // 2
        deleted = min(deleted, len(text) - position)
        self.edits += 1
        word = f"<{self.edits}{self.rng.choice(SPICE)}>"
        with self.breaks(typist):
            typist.editor.edit(splice(text, position, deleted, word))

    @contextlib.contextmanager
    def breaks(self, typist):
        """Allows a connection to break only after the server was killed."""
        try:
            yield
        except BREAKS:
            self.expect_break()
            typist.lose()

    def expect_break(self):
        self.server.process.wait(timeout=SECONDS)

    # Killing.

    def kill_after(self, steps):
        """Lets all clients type, and kills the server while it is working."""
        for _ in range(steps):
            self.step()
        self.server.kill()
        self.kills += 1

    def kill_within(self, seconds):
        """Kills the server after a time, at any step of the clients."""
        process = self.server.process
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            while process.poll() is None:
                self.step()
        finally:
            timer.join()
        self.server.kill()
        self.kills += 1

    def come_back(self, early_kill_seconds=None):
        """Lets some clients read the bytes that the kernel still has, and starts the server."""
        for typist in self.everybody:
            if typist.is_connected and self.rng.random() < 0.5:
                with contextlib.suppress(*BREAKS):
                    while typist.editor.pump(5):
                        pass
            typist.lose()
        if early_kill_seconds is not None:
            # Kill it before it listens, or while it reads its store.
            self.server.launch()
            timer = threading.Timer(early_kill_seconds, self.server.process.kill)
            timer.start()
            timer.join()
            self.server.kill()
            self.kills += 1
            self.early_kills += 1
        began = time.monotonic()
        self.server.start()
        self.restart_seconds.append(time.monotonic() - began)

    # The end.

    def finish(self):
        """Lets all clients reconnect and settle, and compares. Returns measurements."""
        for typist in self.everybody:
            if not typist.is_connected:
                typist.connect(self.server)
        for group in self.typists.values():
            for typist in group:
                typist.editor.settle()
            head = max(typist.editor.revision for typist in group)
            for typist in group:
                typist.editor.reach(head)
            assert len({typist.editor.text for typist in group}) == 1
        for typist in self.everybody:
            typist.close()
        assert self.server.stop() == 0
        log_checker.run(self.server, "check")
        changes = 0
        for document, group in self.typists.items():
            changes += log_checker.check_document(
                self.server, document,
                [typist.editor for typist in group if isinstance(typist, NativeTypist)],
                [editor for typist in group for editor in typist.editors],
            ).revision  # fmt: skip
        natives = [typist.editor for typist in self.everybody if isinstance(typist, NativeTypist)]
        whalers = [editor for typist in self.everybody for editor in typist.editors]
        restarts = sorted(self.restart_seconds)
        return {
            "kills": self.kills,
            "of which before it listened": self.early_kills,
            "edits typed": self.edits,
            "changes in the logs": changes,
            "acknowledged, native": sum(len(editor.confirmed) for editor in natives),
            "acknowledged, Whaler": sum(len(editor.confirmed) for editor in whalers),
            "sent again after a kill": sum(editor.resent for editor in natives),
            "restart to listening, ms, median": round(1_000 * restarts[len(restarts) // 2]),
            "restart to listening, ms, longest": round(1_000 * restarts[-1]),
            "acknowledged edits lost": 0,
            "edits doubled": 0,
        }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--folder", help="where the store is; a temporary folder if not given")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or stack.enter_context(tempfile.TemporaryDirectory())
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        server = ParleyServer(folder)
        server.start()
        began = time.monotonic()
        try:
            run = CrashRun(server, arguments.seed)
            rng = random.Random(arguments.seed ^ 0x5EED)
            checked = 0
            while run.kills < arguments.kills:
                run.kill_within(rng.uniform(0, 0.4))
                if run.kills >= checked + 100:
                    # Check the store as the kill has left it.
                    log_checker.run(server, "check")
                    checked = run.kills
                    print(f"{run.kills} kills, {time.monotonic() - began:.0f} s", flush=True)
                run.come_back(rng.uniform(0, 0.03) if rng.random() < 0.1 else None)
            figures = run.finish()
        finally:
            if server.is_running:
                server.kill()
    figures["seconds"] = round(time.monotonic() - began)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    try:
        main()
    except subprocess.TimeoutExpired as error:
        raise SystemExit("a connection broke while the server was alive") from error
