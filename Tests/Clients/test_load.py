"""The load program's runs in a room, tiny, so that none rots."""

import json
import os
import pathlib
import subprocess

import pytest
from parley_server import ROOT

LOAD = pathlib.Path(os.environ.get("PARLEY_LOAD", ROOT / ".build" / "release" / "parley-load"))

pytestmark = pytest.mark.skipif(not LOAD.is_file(), reason="parley-load is not built")


# The first is enough unless the machine is busy.
SECONDS = (0.3, 3, 30)


@pytest.mark.parametrize("dialect", ["native", "socketio", "recovery", "bayeux"])
def test_what_is_published_in_a_room_reaches_all_of_a_dialect(server, dialect):
    words = ["room", "--dialect", dialect, "--connections", "5", "--warm", "0.1"]
    for seconds in SECONDS:
        result = subprocess.run(
            [LOAD, *words, "--seconds", str(seconds), "--port", str(server.port)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        report = json.loads(result.stdout)
        assert report["mode"] == "room" and report["subscribers"] == 5
        if report["deliveries_per_second"] > 0:
            return
    assert report["deliveries_per_second"] > 0
