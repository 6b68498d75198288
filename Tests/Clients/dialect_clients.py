"""Real clients of Socket.IO and Bayeux, each run as a program of its own: two versions of a package
cannot live in one."""

import collections
import json
import os
import pathlib
import subprocess
import sys

from parley_server import ROOT
from patience import SECONDS


class DialectClient:
    """A client program that does one command after the other, a line of JSON each."""

    def __init__(self, script, *arguments, packages=None, interpreter=None):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        paths = [ROOT / ".venv" / packages] if packages else []
        environment["PYTHONPATH"] = ":".join(map(str, [*paths, ROOT / "Tests" / "System"]))
        self.process = subprocess.Popen(
            [*(interpreter or [sys.executable]), pathlib.Path(__file__).with_name(script), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        # What happened before the answer to a command came.
        self.happened = collections.deque()

    def tell(self, command, *arguments):
        self.process.stdin.write(json.dumps([command, *arguments]) + "\n")
        self.process.stdin.flush()

    def hear(self):
        """The next thing that the client says has happened."""
        return self.happened.popleft() if self.happened else self.read()

    def read(self):
        line = self.process.stdout.readline()
        assert line, "the client has ended"
        return json.loads(line)

    def expect(self, *happening):
        """Passes over everything up to this."""
        while (heard := self.hear())[: len(happening)] != list(happening):
            assert heard[0] not in ("failed", "refused"), heard
        return heard

    def ask(self, command, *arguments):
        """Returns the answer to a command. What happened before it is heard later: events of a server may come first."""
        self.tell(command, *arguments)
        while (said := self.read())[:2] != ["done", command]:
            assert said[0] not in ("failed", "refused"), said
            self.happened.append(said)
        return said[2:]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
