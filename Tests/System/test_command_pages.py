"""The installed manual page and completions, in their shells."""

import os
import re
import subprocess
import sys

import pytest
from parley_server import PROGRAM, ROOT

COMMANDS = [
    "setup", "serve", "check", "doctor", "health", "backup", "restore", "migrate", "notes", "names", "audit", "search", "reindex",
    "undelete", "webhooks", "export", "import", "compact", "token", "revoke", "user", "group", "invite", "mail", "apikey", "note", "share",
]  # fmt: skip


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run([sys.executable, ROOT / "Scripts" / "make_command_pages.py", PROGRAM, prefix], check=True)
    return prefix / "share"


def bash(share, folder, *words):
    program = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley
printf '%s\\n' "${COMPREPLY[@]}"
"""
    script = share / "bash-completion/completions/parley"
    return run(["bash", "--norc", "-c", program, "bash", script, *words], folder)


def fish(share, folder, *words):
    script = share / "fish/vendor_completions.d/parley.fish"
    said = run(["fish", "--no-config", "-c", f"source {script}; complete -C '{' '.join(words)}'"], folder)
    return [line.split("\t")[0] for line in said]


def run(command, folder):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    ended = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=120
    )
    assert ended.stderr == ""
    return [line.strip() for line in ended.stdout.splitlines() if line.strip()]


@pytest.mark.parametrize("complete", [bash, fish], ids=["bash", "fish"])
def test_a_shell_completes(share, tmp_path, complete):
    (tmp_path / "parley.conf").touch()
    assert set(COMMANDS) <= set(complete(share, tmp_path, "parley", ""))
    assert complete(share, tmp_path, "parley", "ser") == ["serve"]
    assert {"add", "list", "passwd", "remove"} <= set(complete(share, tmp_path, "parley", "user", ""))
    assert "--help-all" in complete(share, tmp_path, "parley", "serve", "--help")
    assert complete(share, tmp_path, "parley", "check", "--js") == ["--json"]
    assert complete(share, tmp_path, "parley", "setup", "--host-") == ["--host-name"]
    assert set(complete(share, tmp_path, "parley", "serve", "--tls")) == {"--tls-certificate", "--tls-key"}
    assert complete(share, tmp_path, "parley", "serve", "--config", "par") == ["parley.conf"]
    assert complete(share, tmp_path, "parley", "doctor", "--port", "") == []
    assert "--port" in complete(share, tmp_path, "parley", "doctor", "--po")
    assert "--format" in complete(share, tmp_path, "parley", "export", "id", "--fo")
    assert "--format" not in complete(share, tmp_path, "parley", "notes", "--fo")
    assert {"append", "cat", "edit", "tail", "watch"} <= set(complete(share, tmp_path, "parley", "note", ""))
    assert complete(share, tmp_path, "parley", "token", "insp") == ["inspect"]


def test_zsh_reads_its_completion(share, tmp_path):
    """Its own functions are given the commands, and the flags with what they take."""
    program = """
_describe() { print -rl -- ${(P)2} }
_arguments() { print -rl -- "$@" }
words=(parley "$2" --); CURRENT=$3
source "$1"
"""
    script = share / "zsh/vendor-completions/_parley"
    run(["zsh", "-f", "-n", script], tmp_path)
    listed = run(["zsh", "-f", "-c", program, "zsh", script, "", "2"], tmp_path)
    assert [line.split(":")[0] for line in listed] == COMMANDS
    flags = run(["zsh", "-f", "-c", program, "zsh", script, "serve", "3"], tmp_path)
    assert any(line.startswith("*--config[Read settings from a file") and line.endswith(":_files") for line in flags)
    assert any(re.fullmatch(r"\*--port\[.*\]:PORT:", line) for line in flags)
    verbs = run(["zsh", "-f", "-c", program, "zsh", script, "note", "3"], tmp_path)
    assert "2:command:(append cat edit tail watch)" in verbs


def test_the_manual_page_has_every_command_and_flag(share, tmp_path):
    page = share / "man/man1/parley.1"
    shown = subprocess.run(
        ["man", "--warnings=w", "--local-file", page], capture_output=True, text=True, check=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "120"},
    )  # fmt: skip
    assert shown.stderr == ""
    for command in COMMANDS:
        flag = "--help-all" if command == "serve" else "--help"
        said = subprocess.run([PROGRAM, command, flag], capture_output=True, text=True, check=True).stdout
        for line in said.splitlines():
            assert line.strip().replace("…", "...") in shown.stdout, (command, line)
    assert shown.stdout.count("--tls-key FILE") == 2, "of serve and of setup"
