"""The page for those who write a client themselves: its programs run as they stand there."""

import re
import subprocess
import sys

import pytest
from native_client import NativeClient
from parley_server import ROOT
from patience import PROGRAM_SECONDS

PAGE = (ROOT / "Documentation" / "OwnClient.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PROGRAM_SECONDS
    )


def test_fifteen_lines_write_in_a_note(server):
    assert BLOCKS[0].count("\n") <= 17
    status, _, _ = server.request("PUT", "/api/notes/minutes", {"title": "Minutes"})
    assert status in (200, 201)
    server.request("PUT", "/api/notes/minutes/text", "😀 é\n".encode())
    with NativeClient(server) as reader:
        reader.join("minutes")
        ended = run(BLOCKS[0].replace("127.0.0.1:8080", f"127.0.0.1:{server.port}"))
        assert (ended.returncode, ended.stdout) == (0, "stored as revision 2\n"), ended.stderr
    status, _, body = server.request("GET", "/api/notes/minutes/text?format=text")
    assert body.decode() == "Written by hand.\n😀 é\n"


@pytest.mark.parametrize("block, said", [
    # The line's state, and the wish to connect.
    (1, r"\d actions: (?=.*63 6f 6e 6e 65 63 74 69 6e 67).*\n"),
    (2, "the ties are decided as everywhere else\n"),
])  # fmt: skip
def test_the_core_and_the_vectors_are_used_as_described(block, said):
    ended = run(BLOCKS[block])
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(said, ended.stdout), ended.stdout


def test_no_block_is_left_out():
    assert len(BLOCKS) == 3


def test_the_protocol_and_the_readme_lead_there():
    for page in ("README.md", "Documentation/Protocol.md"):
        assert "OwnClient.md" in (ROOT / page).read_text(), page
