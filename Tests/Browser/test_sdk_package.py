"""The SDK for web pages as a package: npm installs it from the gateway's own address."""

import json
import shutil
import subprocess

import pytest
from conftest import SECONDS

NPM = shutil.which("npm")

PROGRAM = """
import { connect, ParleyError } from "parley-client";
try { await connect("ftp://nowhere"); }
catch (error) { console.log(error instanceof ParleyError, error.code); }
"""


@pytest.mark.skipif(NPM is None, reason="npm is not installed")
def test_npm_installs_it_from_the_gateway(server, tmp_path):
    (tmp_path / "package.json").write_text('{"name": "app", "version": "1.0.0", "type": "module"}')
    run = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": SECONDS}
    # Nothing of it comes from anywhere else.
    ended = subprocess.run(
        [NPM, "install", "--no-audit", "--no-fund", "--registry", "http://127.0.0.1:9", f"--cache={tmp_path / 'cache'}",
         f"{server.url}/sdk/1/parley-client.tgz"], **run,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    installed = tmp_path / "node_modules" / "parley-client"
    described = json.loads((installed / "package.json").read_text())
    assert described["exports"]["."]["types"] == "./parley.d.ts"
    for name in ("parley.js", "notes.js", "client.wasm", "parley.d.ts", "types/sdk/parley.d.ts", "LICENSE"):
        assert (installed / name).stat().st_size > 0, name
    (tmp_path / "app.mjs").write_text(PROGRAM)
    ended = subprocess.run([shutil.which("node"), "app.mjs"], **run)
    assert (ended.returncode, ended.stdout) == (0, "true invalid\n"), ended.stderr
