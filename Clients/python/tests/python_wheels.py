"""The wheels of the Python package, made and installed as users do."""

import os
import subprocess
import sys

from parley_server import ROOT

_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def make_wheels(folder):
    """Makes them as make python does."""
    subprocess.run(
        [ROOT / "Scripts" / "build-python.sh", folder, "--no-build-isolation"],
        check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHON": sys.executable},
    )  # fmt: skip
    return folder


def install(wheels, *options, what="parley", python=sys.executable):
    """Installs one: that which pip takes for this machine, unless a file is named."""
    links = ["--find-links", wheels, "--find-links", ROOT / ".venv" / "wheels"]
    subprocess.run([*_PIP, "--python", python, "install", "--quiet", "--no-index", *links, *options, what], check=True)
