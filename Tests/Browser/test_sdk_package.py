"""The SDK for web pages as a package: npm installs it from the gateway's own address."""

import json
import shutil
import subprocess

import pytest
from conftest import SECONDS

NPM = shutil.which("npm")

PROGRAM = """
import { connect, ParleyError } from "parley-client";
try { await connect("ftp://nowhere", { WebSocket: class {} }); }
catch (error) { console.log(error instanceof ParleyError, error.code); }
"""


IN_NODE = """
import { connect, ParleyError } from "parley-client";
const url = process.argv[2];
const given = globalThis.WebSocket;
delete globalThis.WebSocket;
try { await connect(url); }
catch (error) { console.log(error instanceof ParleyError, error.code, error.message.includes("{ WebSocket }")); }
const parley = await connect(url, { name: "bot", WebSocket: given });
const { id } = await parley.notes.create({ title: "From Node" });
const note = parley.note(id);
await note.ready;
note.append("\u65e5\u672c");
await new Promise((resolve) => parley.on("unsaved", (count) => count === 0 && resolve()));
console.log((await parley.notes.text(id)).text === note.text, note.text.length, parley.keepsEdits);
parley.close();
"""

TYPED = """
import { connect, ParleyError, type SharedNote } from "parley-client";
const parley = await connect("https://notes.example.org", { name: "bot", WebSocket: class {} });
const note: SharedNote = parley.note("n");
console.log(note.text.length, new ParleyError("invalid", "x").code);
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
    # Every file that the package names is in it.
    exports = described["exports"]
    named = [exports["./client.wasm"]]
    for kinds in (exports["."], exports["."]["node"], exports["./rich.js"]):
        named += [value for value in kinds.values() if isinstance(value, str)]
    for name in (*named, "notes.js", "LICENSE"):
        assert (installed / name).stat().st_size > 0, name
    (tmp_path / "app.mjs").write_text(PROGRAM)
    ended = subprocess.run([shutil.which("node"), "app.mjs"], **run)
    assert (ended.returncode, ended.stdout) == (0, "true invalid\n"), ended.stderr
    # In Node it connects, and says what it needs.
    (tmp_path / "node.mjs").write_text(IN_NODE)
    node = shutil.which("node")
    flags = [] if "WebSocket" in subprocess.run([node, "-p", "Object.getOwnPropertyNames(globalThis).join()"], **run).stdout \
        else ["--experimental-websocket"]  # fmt: skip
    ended = subprocess.run([node, *flags, "node.mjs", server.url], **run)
    assert (ended.returncode, ended.stdout) == (0, "true unsupported true\ntrue 2 false\n"), ended.stderr
    if "types" not in exports["."]:
        return
    (tmp_path / "app.ts").write_text(TYPED)
    ended = subprocess.run(
        ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext",
         "app.ts"], **run,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout
