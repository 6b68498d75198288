"""The code of the page for back ends, run as it is printed, in each language."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from parley_server import PROGRAM, ROOT, ParleyServer
from patience import PROGRAM_SECONDS

PAGE = (ROOT / "Documentation" / "BackEnds.md").read_text()
# The command that runs a file with all blocks of a language, and the code that prints its results.
LANGUAGES = {
    "sh": (["bash", "-euo", "pipefail"], ""),
    "python": ([sys.executable], "\nprint(json.dumps([len(notes), address]))\n"),
    "js": ([shutil.which("node") or "node"], "\nconsole.log(JSON.stringify([notes.length, address]));\n"),
}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A server, and the environment of a program that has a key to it: the page's first command."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "bin").mkdir()
    (folder / "bin" / "parley").symlink_to(PROGRAM)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    first, *_ = blocks("sh")
    script = f"set -euo pipefail\n{first}\nprintf %s \"$KEY\"\n"
    key = subprocess.run(
        ["bash", "-c", script], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=True,
        timeout=PROGRAM_SECONDS,
    ).stdout  # fmt: skip
    server = ParleyServer(folder, "--api-key-file", str(folder / "api-keys")).start()
    yield server, {"PATH": path, "PARLEY": server.origin, "KEY": key}
    server.stop()


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_makes_writes_reads_finds_and_shares(shop, language, tmp_path):
    server, environment = shop
    command, report = LANGUAGES[language]
    parts = blocks(language)[1 if language == "sh" else 0 :]
    assert len(parts) >= 6
    # Modules of Node may wait at their top level.
    file = tmp_path / ("all.mjs" if language == "js" else "all")
    file.write_text("\n".join(parts) + report)
    ended = subprocess.run(
        [*command, str(file)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    note = {"sh": "order-sh", "python": "order-py", "js": "order-js"}[language]
    headers = {"authorization": f"Bearer {environment['KEY']}"}
    status, _, text = server.request("GET", f"/api/notes/{note}/text?format=text", headers=headers)
    assert (status, text) == (200, b"Three chairs\nTwo tables\n")
    if language == "sh":
        assert '"path":"/s/' in ended.stdout.replace("\\/", "/")
    else:
        count, address = json.loads(ended.stdout.splitlines()[-1])
        assert count >= 1 and address.startswith(f"{server.origin}/s/")


def test_the_tasks_are_there_in_every_language():
    counts = {language: len(blocks(language)) for language in LANGUAGES}
    # The key is made in a shell alone, for which it is all that is to be defined.
    assert counts["sh"] == counts["python"] == counts["js"]
