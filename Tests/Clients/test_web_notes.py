"""A note's whole life by the module of the SDK for web pages, in Node."""

import subprocess

from parley_server import ROOT
from patience import PROGRAM_SECONDS
from test_tokens import BAD, EVERYTHING, guarded, token  # noqa: F401


def test_a_notes_whole_life(guarded):  # noqa: F811
    program = ROOT / "Tests" / "Clients" / "web_notes.mjs"
    ended = subprocess.run(
        ["node", program, guarded.origin, token(EVERYTHING), BAD["expired"]()],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
