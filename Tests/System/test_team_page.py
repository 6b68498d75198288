"""The commands of the guide for a team, run as they are printed, except for the name and the ports."""

import re

import pytest
from parley_server import ROOT
from ports import free_port
from test_operations_page import Shell, steps

PAGE = (ROOT / "Documentation" / "HostForATeam.md").read_text()


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    shell.environment |= {"HOME": str(tmp_path), "PARLEY_PORT": str(free_port())}
    yield shell
    shell.stop()


def test_every_command_of_the_guide_works(shell):
    admin, https = f"127.0.0.1:{free_port()}", free_port()
    words = {
        "8080": shell.environment["PARLEY_PORT"], "https://notes.example.org": f"https://localhost:{https}",
        "notes.example.org > Caddyfile": "localhost >> Caddyfile",
    }  # fmt: skip
    # Where Caddy listens, and that it requests no certificate nor changes the machine's.
    options = [
        f"admin {admin}", "skip_install_trust", "auto_https disable_redirects", f"http_port {free_port()}",
        f"https_port {https}",
    ]  # fmt: skip
    (shell.folder / "Caddyfile").write_text("\n\t".join(["{", *options]) + "\n}\n")
    count = 0
    try:
        for _, command in steps(PAGE):
            count += 1
            for old, new in words.items():
                command = command.replace(old, new)
            if command.startswith("parley serve"):
                shell.serve(command)
            else:
                shell.run(command)
    finally:
        shell.run(f"caddy stop --address {admin} || cat caddy.log")
    assert count > 12


def test_no_command_of_the_guide_is_passed_over():
    commands = [command for _, command in steps(PAGE)]
    for line in re.findall(r"^ {4,6}(parley .*)$", PAGE, re.MULTILINE):
        assert "…" in line or any(line in command for command in commands), f"put <!-- run --> above: {line}"
