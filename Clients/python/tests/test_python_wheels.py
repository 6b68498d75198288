"""The wheels of the Python package, each in an environment with only the wheel and its dependencies."""

import os
import subprocess
import sys

import pytest
from patience import PROGRAM_SECONDS
from python_wheels import install, make_wheels


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return make_wheels(tmp_path_factory.mktemp("wheels"))


FIRST_STEPS = """
import asyncio, sys, parley
async def main():
    async with parley.connect(sys.argv[1]) as client:
        note = await client.note(sys.argv[2])
        note.append("Written.")
        print(client.core)
asyncio.run(main())
"""


@pytest.mark.parametrize("wheel, runs_as", [("manylinux", "library"), ("any", "wasm")])
def test_a_wheel_in_an_environment_of_its_own(server, wheels, tmp_path, wheel, runs_as):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh"], check=True)
    python = tmp_path / "fresh" / "bin" / "python"
    (file,) = wheels.glob(f"*-{wheel}*.whl")
    install(wheels, what=file, python=python)
    id = server.create_note("Fresh")
    ended = subprocess.run(
        [python, "-W", "error", "-c", FIRST_STEPS, server.origin, id], env={"PATH": os.environ["PATH"]},
        cwd=tmp_path, capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{runs_as}\n", "")
    assert server.request("GET", f"/api/notes/{id}/text?format=text")[2] == b"Written."


def test_pip_takes_the_wheel_with_the_library(wheels, tmp_path):
    install(wheels, "--no-deps", "--target", tmp_path)
    (wheel,) = tmp_path.glob("parley-*.dist-info/WHEEL")
    assert "Root-Is-Purelib: false" in wheel.read_text() and "Tag: py3-none-manylinux_2_17_" in wheel.read_text()
    assert {"client.wasm", "libparleyclient.so"} <= {path.name for path in (tmp_path / "parley").iterdir()}
