"""Programs that run beside a page: bots on the Swift and the Python package, and what they say."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

from conftest import ROOT

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "System"))


@contextlib.contextmanager
def bot(*command, **options):
    """A program that runs beside, and what it says."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        yield process.stdout
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def says(output, wanted):
    """Reads on to a line."""
    for line in output:
        if line.rstrip("\n") == wanted:
            return
    raise AssertionError(f"the bot ended without saying {wanted}")


def python_package(folder):
    """Puts the Python package into a folder, as its wheel does; the folder, for PYTHONPATH."""
    shutil.copytree(ROOT / "Clients" / "python" / "parley", folder / "parley")
    shutil.copy(ROOT / "Web" / "generated" / "client.wasm", folder / "parley")
    return folder


def with_package(folder):
    """The environment of a program that imports what is in this folder."""
    return {**os.environ, "PYTHONPATH": str(folder)}
