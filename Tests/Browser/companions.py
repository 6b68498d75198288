"""Programs that run beside a page, such as bots on the Swift and the Python package, and their output."""

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
    """Runs a program, and yields its output."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        yield process.stdout
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def says(output, wanted):
    """Reads the output up to a line."""
    for line in output:
        if line.rstrip("\n") == wanted:
            return
    raise AssertionError(f"the bot ended without saying {wanted}")


def python_package(folder):
    """Copies the Python package to a folder, as its wheel does. Returns the folder, for PYTHONPATH."""
    shutil.copytree(ROOT / "Clients" / "python" / "parley", folder / "parley")
    shutil.copy(ROOT / "Web" / "generated" / "client.wasm", folder / "parley")
    return folder


def with_package(folder):
    """Returns the environment of a program that imports from a folder."""
    return {**os.environ, "PYTHONPATH": str(folder)}
