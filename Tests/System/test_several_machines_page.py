"""The commands of the guide for several machines, run as they are printed, in one shell."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from parley_server import PROGRAM, ROOT
from patience import PROGRAM_SECONDS
from postgres_server import USER
from ports import free_port
from test_operations_page import steps

PAGE = (ROOT / "Documentation" / "SeveralMachines.md").read_text()
# Ends the processes that the commands have started, each by its own means.
END = r"""
end() {
  kill $(jobs -p) || true
  [ ! -e haproxy.pid ] || kill $(cat haproxy.pid) || true
  wait || true
  for data in standby primary; do pg_ctl --pgdata $data --mode immediate stop || true; done
}
trap 'end > end.log 2>&1' EXIT
"""


@pytest.fixture
def folder():
    """A folder of the user's who may run PostgreSQL."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-guide-", dir="/tmp"))
    (folder / "bin").mkdir()
    shutil.copy(PROGRAM, folder / "bin" / "parley")
    shutil.copytree(ROOT / "Web", folder / "Web", ignore=shutil.ignore_patterns("node_modules"))
    if os.getuid() == 0:
        for place in (folder, *folder.rglob("*")):
            shutil.chown(place, USER)
    yield folder
    shutil.rmtree(folder)


def test_every_command_of_the_guide_works(folder):
    commands = [command for _, command in steps(PAGE)]
    assert len(commands) > 20
    trace = "exec 9> trace.log\nBASH_XTRACEFD=9\nset -x\n"
    script = "set -euo pipefail\n" + trace + END + "\n".join(commands) + "\n"
    for port in ("8080", "8081", "8082", "8083", "4222"):
        assert port in script
        script = script.replace(port, str(free_port()))
    (folder / "guide.sh").write_text(script)
    owner = {"user": USER, "group": USER, "extra_groups": []} if os.getuid() == 0 else {}
    ended = subprocess.run(
        ["bash", "guide.sh"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=PROGRAM_SECONDS, check=False, **owner,
        env={
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(folder),
            "PARLEY_WEB_DIR": str(folder / "Web"),
        },
    )  # fmt: skip
    # First what tells most: a report may be cut short.
    firsts = ("trace.log", "one.log", "two.log", "three.log")
    logs = "".join(
        f"\n{path.name}:\n{path.read_text(errors='replace')[-1_500:]}"
        for path in sorted(folder.glob("*.log"), key=lambda path: path.name not in firsts)
    )
    assert ended.returncode == 0, ended.stdout[-1_500:] + logs
    assert "and after" not in ended.stdout
    assert ended.stdout.count("written at one") == 2
