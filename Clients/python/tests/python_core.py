"""The Python package's client core with a server's end of its line, without sockets: for tests and measurements."""

import json
import pathlib
import shutil

from parley_server import ROOT

LIBRARY = ROOT / ".build" / "library" / "libparleyclient.so"
MODULE = ROOT / "Web" / "generated" / "client.wasm"


def lay_out(folder, library=True):
    """Lays the package out as its wheel does; returns where `import parley` finds it."""
    package = pathlib.Path(folder) / "parley"
    shutil.copytree(ROOT / "Clients" / "python" / "parley", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(MODULE, package / "client.wasm")
    if library:
        shutil.copy(LIBRARY, package)
        shutil.copy(f"{LIBRARY}.sha256", package)
    return package.parent


class Line:
    """A core that has joined a note, and what it has sent."""

    def __init__(self, core, text=""):
        self.core = core
        self.revision = 0
        self.sequence = 0
        self.messages = []
        core.create("Ann", "#123456", 7, None)
        self.take(core.handle(0, "start"))
        self.take(core.handle(0, "opened"))
        self.answer(
            "welcome", protocol="parley.v1", clientId="ann", resumeToken="t", serverTime=0, demo=False, capabilities=[],
            limits={},
        )  # fmt: skip
        self.take(core.handle(0, "open", "d"))
        self.answer(
            "joined", documentId="d", title="", text=text, epoch="e", revision=0, lastSequence=0, access="write",
            presence=[],
        )  # fmt: skip

    def take(self, actions):
        self.messages += [json.loads(action.values[0]) for action in actions if action.kind == "send"]
        return actions

    def answer(self, kind, /, **data):
        message = {"messageId": self.messages[-1]["messageId"], "type": kind, "data": data}
        return self.take(self.core.handle(0, "received", json.dumps(message)))

    def edit(self, start, count, text):
        """An own edit, and its acknowledgement."""
        self.core.edit(0, "d", [(start, count, text)])
        self.sequence += 1
        self.revision += 1
        return self.core.handle(
            0, "received",
            f'{{"messageId":"s","type":"acknowledged","data":{{"documentId":"d","sequence":{self.sequence},'
            f'"revision":{self.revision}}}}}',
        )  # fmt: skip

    def receive(self, operation):
        """A change by another client."""
        self.revision += 1
        return self.core.handle(
            0, "received",
            f'{{"messageId":"s","type":"changes","data":{{"documentId":"d","revision":{self.revision},"changes":'
            f'[{{"clientId":"bo","sequence":{self.revision},"operation":{operation}}}]}}}}',
        )  # fmt: skip


def resident_bytes():
    """The memory of this process that is in use."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
