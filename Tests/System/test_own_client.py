"""The page for authors of clients: its programs run as they are printed."""

import json
import re
import subprocess
import sys

import pytest
from native_client import NativeClient
from parley_server import ROOT
from patience import PROGRAM_SECONDS
from test_tokens import SECRET

PAGE = (ROOT / "Documentation" / "OwnClient.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PROGRAM_SECONDS
    )


def example(server):
    return run(BLOCKS[0].replace("127.0.0.1:8080", f"127.0.0.1:{server.port}"))


def test_the_first_example_runs_on_a_fresh_server_and_again(server):
    assert BLOCKS[0].count("\n") <= 27
    for said in ("stored as revision 1\n", "stored as revision 2\n"):
        ended = example(server)
        assert (ended.returncode, ended.stdout) == (0, said), ended.stderr


def test_the_first_example_prints_what_the_server_refuses(start, tmp_path, server):
    (tmp_path / "secret").write_bytes(SECRET)
    guarded = start("--hmac-secret-file", tmp_path / "secret")
    ended = example(guarded)
    assert ended.returncode == 1 and "a token is required" in ended.stderr, ended.stderr
    # Nothing makes the note here.
    ended = run(BLOCKS[0].replace("127.0.0.1:8080", f"127.0.0.1:{server.port}").replace("/minutes", "/others"))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert re.fullmatch(r"join: no document has this name.*\n", ended.stderr), ended.stderr


def test_the_first_example_writes_in_a_note_that_others_read(server):
    status, _, _ = server.request("PUT", "/api/notes/minutes", {"title": "Minutes"})
    assert status == 201
    server.request("PUT", "/api/notes/minutes/text", "😀 é\n".encode())
    with NativeClient(server) as reader:
        reader.join("minutes")
        ended = example(server)
        assert (ended.returncode, ended.stdout) == (0, "stored as revision 2\n"), ended.stderr
    status, _, body = server.request("GET", "/api/notes/minutes/text?format=text")
    assert body.decode() == "Written by hand.\n😀 é\n"


@pytest.mark.parametrize("block, said", [
    # The line's state, and the wish to connect.
    (2, r"\d actions: (?=.*63 6f 6e 6e 65 63 74 69 6e 67).*\n"),
    (3, "the ties are decided as everywhere else\n"),
])  # fmt: skip
def test_the_core_and_the_vectors_are_used_as_described(block, said):
    ended = run(BLOCKS[block])
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(said, ended.stdout), ended.stdout


def test_no_block_is_left_out():
    assert len(BLOCKS) == 4


def test_formatting_is_sent_and_read_as_described(server):
    assert example(server).returncode == 0
    program = BLOCKS[1].replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
    assert program.count("\n") <= 36
    _, _, body = server.request("GET", "/sdk/version.json")
    if "rich" not in json.loads(body)["capabilities"]:
        assert run(program).stderr == "this server has plain notes only\n"
        return
    first, second = run(program), run(program)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert first.stdout.startswith("[('Written by hand.\\n', {})]\n") and "'sequence': 1" in first.stdout
    assert second.stdout.startswith("[('Written', {'bold': True}), (' by hand.\\n', {})")


def test_the_protocol_and_the_readme_lead_there():
    for page in ("README.md", "Documentation/Protocol.md"):
        assert "OwnClient.md" in (ROOT / page).read_text(), page
