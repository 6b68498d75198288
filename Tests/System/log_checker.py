"""Compares the changes that clients received with the store, at the end of a run.

`parley export --format ops` writes a note's log. The clients have recorded the changes that they sent and
received, and their revisions. No acknowledged change may be missing, and none may be duplicated.
"""

import json
import os
import subprocess

from operations import apply
from parley_server import PROGRAM


def run(server, *arguments):
    """Runs a command of the program on the data of a stopped server. Returns its output."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    result = subprocess.run(
        [PROGRAM, *arguments, "--data-dir", str(server.data), *server.store_flags],
        capture_output=True, check=False, stdin=subprocess.DEVNULL, env=clean,
        cwd=server.data.parent,
    )  # fmt: skip
    said = result.stderr.decode(errors="replace")[-2000:]
    assert result.returncode == 0, f"parley {' '.join(arguments)}: {result.returncode}\n{said}"
    return result.stdout.decode()


class Log:
    """One note's log, as the program exports it."""

    def __init__(self, server, document):
        # Not splitlines(), because a text may contain other characters that Python treats as line ends.
        first, *lines = run(server, "export", document, "--format", "ops").rstrip("\n").split("\n")
        head = json.loads(first)
        assert head["baseRevision"] == 0, "the whole log is kept unless settings say otherwise"
        self.epoch = head["epoch"]
        self.entries = [entry for entry in map(json.loads, lines) if "operation" in entry]
        assert [entry["revision"] for entry in self.entries] == list(
            range(1, head["revision"] + 1)
        ), "revisions have no gap"

    @property
    def revision(self):
        return len(self.entries)

    def fold(self):
        """Returns the text after all operations."""
        text = ""
        for entry in self.entries:
            text = apply(text, entry["operation"])
        return text


def inserted(operation):
    """Returns the text that an operation inserts, which rebasing does not change."""
    return "".join(part for part in operation if isinstance(part, str))


def check_document(server, document, natives, whalers):
    """Compares a note of a stopped server with its clients, which must have settled.

    `whalers` are the Whaler editors of all connections. Editors whose
    connection was cut with a change in flight do not know whether it was stored.
    """
    log = Log(server, document)
    text = log.fold()
    # An export shows each line end as LF.
    shown = text.replace("\r\n", "\n").replace("\r", "\n")
    assert run(server, "export", document, "--format", "txt") == shown, "export differs from the log"
    by_author = {}
    for entry in log.entries:
        by_author.setdefault(entry["client"], []).append(entry)

    for editor in natives:
        assert editor.text == text, f"{editor.name} has another text"
        assert (editor.epoch, editor.revision) == (log.epoch, log.revision)
        entries = by_author.pop(editor.claim["id"], [])
        # Each change is there once, in the order of typing, and no other change.
        assert [entry["sequence"] for entry in entries] == list(range(1, len(editor.sent) + 1))
        for entry in entries:
            sequence = entry["sequence"]
            assert inserted(entry["operation"]) == inserted(editor.sent[sequence])
            assert editor.confirmed[sequence] == entry["revision"]
        for revision, said in editor.taken.items():
            entry = log.entries[revision - 1]
            assert said == (entry["client"], entry["sequence"], entry["operation"])

    # The remaining entries are from clients without a permanent id. Each of their changes inserts
    # a unique text.
    stored = {}
    for entries in by_author.values():
        for entry in entries:
            words = inserted(entry["operation"])
            assert words not in stored, "a change is there twice"
            stored[words] = entry["revision"]
    sent = {inserted(operation) for editor in whalers for operation in editor.sent}
    assert sent >= stored.keys(), "the log has a change that nobody sent"
    for editor in whalers:
        for revision, operation in editor.confirmed.items():
            assert stored.get(inserted(operation)) == revision, "an acknowledged change is lost"
        for revision, operation in editor.taken.items():
            assert log.entries[revision - 1]["operation"] == operation
    return log
