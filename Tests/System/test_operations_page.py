"""The commands of the operations guide, run in order as they are printed."""

import os
import re
import signal
import subprocess

import pytest
from parley_server import PROGRAM, ROOT
from patience import PROGRAM_SECONDS
from test_command_line import run

PAGE = (ROOT / "Documentation" / "Operations.md").read_text()


def steps(page):
    """The blocks below `<!-- run -->`, as (whether a server may be running, command) in order.

    A command continues over lines that end with a backslash or a bar.
    """
    blocks = re.findall(r"<!-- run( stopped)? -->\n\n((?:    .*\n|\n(?=    ))+)", page)
    for stopped, block in blocks:
        text = re.sub(r"^ {4}", "", block, flags=re.MULTILINE)
        for command in re.findall(r"(?:.*[\\|]\n)*.+", text):
            yield not stopped, command


class Shell:
    """An empty folder in which commands run; `parley serve` runs beside those that follow."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin" / "parley").symlink_to(PROGRAM)
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PARLEY_WEB_DIR": str(ROOT / "Web"),
            "PARLEY_PORT": "0",
        }
        # Variables that a command sets are passed to the next one.
        self.variables = folder / "variables"
        self.variables.touch()
        self.server = None
        self.port = 0

    def run(self, command):
        """Runs a command; `:8080` means whichever port the server has."""
        script = f"set -euo pipefail\nset -a\n. ./variables\n{command}\n"
        script += "declare -p KEY OPERATOR_KEY TOKEN ID > variables 2> /dev/null || true\n"
        ended = subprocess.run(
            ["bash", "-c", script.replace(":8080", f":{self.port}")],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, timeout=PROGRAM_SECONDS,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, f"{command}\n{ended.stdout}"

    def serve(self, command):
        """Starts a server in place of the one that runs, and returns when it listens."""
        self.stop()
        self.server = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        said = []
        for line in self.server.stdout:
            said.append(line)
            if line.startswith("listening on "):
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise AssertionError(f"{command}\n{''.join(said)}")

    def stop(self):
        """Ends the server, if one runs, as the page says."""
        if self.server is None:
            return
        self.server.send_signal(signal.SIGTERM)
        said = self.server.stdout.read()
        self.server.stdout.close()
        assert self.server.wait() == 0, said
        self.server = None


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.stop()


def test_every_command_of_the_guide_works(shell):
    count = 0
    for may_run, command in steps(PAGE):
        count += 1
        if not may_run:
            shell.stop()
        if command.startswith("parley serve"):
            shell.serve(command)
        else:
            shell.run(command)
    assert count > 20


def test_no_command_of_the_guide_is_passed_over():
    commands = [command for _, command in steps(PAGE)]
    for line in re.findall(r"^ {4,6}(parley .*)$", PAGE, re.MULTILINE):
        assert any(line in command for command in commands), f"put <!-- run --> above: {line}"


def test_the_packaged_settings_are_known(tmp_path):
    file = ROOT / "Packaging" / "parley.conf"
    ended = run("check", "--config", file, "--data-dir", tmp_path, "--web-dir", ROOT / "Web")
    assert ended.returncode == 0, ended.stderr
    # Those that wait to be filled in, too.
    known = run("serve", "--help-all").stdout
    for name in re.findall(r"^(?:# )?([a-z-]+) = ", file.read_text(), re.MULTILINE):
        assert f"  --{name} " in known, name
