"""The programs that the tests run: their build is selected in only one place."""

import os
import re
import subprocess
import sys

import pytest
from parley_server import PROGRAM, ROOT

# Where the choice of a build belongs, and what no variable replaces: the library of the Python client.
PLACES = {"Tests/System/parley_server.py", "Tests/Browser/conftest.py", "Clients/python/tests/python_core.py"}


def test_no_test_names_a_build_of_its_own():
    folders = (ROOT / "Tests", ROOT / "Clients" / "python" / "tests")
    names = re.compile(r"""\.build["'/]|["'/](?:release|debug)["'/]""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in folders for path in sorted(folder.rglob("*.py")) if path.name != "test_programs.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if names.search(line) and str(path.relative_to(ROOT)) not in PLACES
    ]  # fmt: skip
    assert not found, "take the program from parley_server.built:\n" + "\n".join(found)


@pytest.mark.parametrize("variable", ["PARLEY_PROGRAM", "PARLEY_LOAD"])
def test_the_variable_that_names_a_program_is_no_setting_of_the_program(variable, tmp_path):
    # As test modules start it: with the environment that they have.
    test = "import subprocess, sys, parley_server, soak_run; sys.exit(subprocess.call([parley_server.PROGRAM, 'check', *sys.argv[1:]]))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    environment |= {"PARLEY_PROGRAM": PROGRAM, variable: PROGRAM, "PYTHONPATH": str(ROOT / "Tests" / "System")}
    ended = subprocess.run(
        [sys.executable, "-c", test, "--data-dir", tmp_path], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_child_process_of_a_test_runs_the_same_program():
    test = "import parley_server; print(parley_server.PROGRAM)"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "Tests" / "System")}
    said = subprocess.run(
        [sys.executable, "-c", test], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == PROGRAM
