"""`parley share`: links to notes of a running server, from a shell."""

import contextlib
import http.server
import json
import subprocess
import threading

import pytest
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS
from ports import free_port
from test_tls import make_certificate


def share(folder, *words, **environment):
    return subprocess.run(
        [PROGRAM, "share", *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PROGRAM_SECONDS, check=False,
    )  # fmt: skip


@pytest.fixture
def keyed(start, tmp_path):
    """A server that wants keys, one of an owner and one of a reader, and a note that no other user may see."""
    made = {}
    for name, grants in (("owner", "document:*=all"), ("reader", "document:*=read,presence")):
        said = subprocess.run(
            [PROGRAM, "apikey", name, grants, "--file", "keys"], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        made[name] = said.split()[0]
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    flags = ["--hmac-secret-file", str(tmp_path / "secret"), "--audience", "parley"]
    server = start("--api-key-file", str(tmp_path / "keys"), *flags)
    server.headers = {"authorization": f"Bearer {made['owner']}"}
    # An id that has to be encoded in a path.
    status, *_ = server.request("PUT", "/api/notes/plan%20%2F%C3%A9", {"title": "Plan"}, server.headers)
    assert status == 201
    return server, made


def read(server, token):
    return server.request("GET", "/api/notes/plan%20%2F%C3%A9/text", headers={"authorization": f"Bearer {token}"})[0]


def opened(server, address):
    """The token behind a link's address."""
    place, key = address.split("/s/")
    assert place == server.origin and len(address.removeprefix(place)) <= 60
    status, _, body = server.request("POST", "/api/links/open", {"key": key})
    assert status == 200
    found = json.loads(body)
    assert found["note"] == "plan /é"
    return found["token"]


def test_a_link_opens_the_note_until_all_have_ended(keyed, tmp_path):
    server, keys = keyed
    # The token from a file, as for `parley note`; the address that WebSockets go to.
    (tmp_path / "key").write_text(keys["owner"] + "\n")
    where = {"PARLEY_SERVER": f"ws://127.0.0.1:{server.port}/", "PARLEY_TOKEN_FILE": "key"}
    made = share(tmp_path, "plan /é", **where)
    assert (made.returncode, made.stderr) == (0, "")
    token = opened(server, made.stdout.strip())
    assert read(server, token) == 200
    change = {"revision": 0, "operation": ["x"]}
    guest = {"authorization": f"Bearer {token}"}
    assert server.request("POST", "/api/notes/plan%20%2F%C3%A9/changes", change, guest)[0] == 403
    writing = share(tmp_path, "plan /é", "--access", "write", "--expires", "2h", "--json", **where)
    answer = json.loads(writing.stdout)
    assert answer["access"] == "write" and opened(server, answer["address"]) == answer["token"]
    guest = {"authorization": f"Bearer {answer['token']}"}
    assert server.request("POST", "/api/notes/plan%20%2F%C3%A9/changes", change, guest)[0] == 200
    ended = share(tmp_path, "plan /é", "--end", **where)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert read(server, token) == 401 and read(server, answer["token"]) == 401


def test_a_refusal_of_the_server_is_printed(keyed, tmp_path):
    server, keys = keyed
    where = ["--server", server.origin]
    for words, environment, said in (
        (["plan /é"], {}, "--token-file"),
        (["plan /é"], {"PARLEY_TOKEN": keys["reader"]}, "does not grant"),
        (["plan /é"], {"PARLEY_TOKEN": "not-a-key"}, "token"),
        (["nowhere"], {"PARLEY_TOKEN": keys["owner"]}, "no note"),
        (["plan /é", "--expires", "59s"], {"PARLEY_TOKEN": keys["owner"]}, "expiresIn"),
        (["plan /é", "--expires", "8785h"], {"PARLEY_TOKEN": keys["owner"]}, "expiresIn"),
        (["plan /é", "--end"], {"PARLEY_TOKEN": keys["reader"]}, "does not grant"),
    ):
        refused = share(tmp_path, *words, *where, **environment)
        assert (refused.returncode, refused.stdout) == (1, ""), words
        assert refused.stderr.startswith("parley share: ") and said in refused.stderr, refused.stderr
        assert not any(key in refused.stderr for key in (*keys.values(), "not-a-key"))


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "expected one note's id"),
        (["a", "b"], "expected one note's id"),
        (["a", "--access", "manage"], "--access expects read, comment or write"),
        (["a", "--expires", "soon"], "--expires expects a time"),
        (["a", "--end", "--json"], "--end goes with no other flag"),
        (["a", "--end", "--access", "read"], "--end goes with no other flag"),
        (["a", "--port", "80"], "no flag is called --port"),
        (["a", "--server", "notes.example.org"], "expected the server's address to begin with"),
        (["a", "--server", "https://"], "expected the server's address to begin with"),
        (["a", "--server"], "--server needs a value"),
    ],
)
def test_wrong_arguments_are_refused_before_any_request(tmp_path, words, said):
    wrong = share(tmp_path, *words)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert said in wrong.stderr


@pytest.mark.parametrize("command", [["note", "cat", "a"], ["note", "tail", "a"], ["share", "a"]])
@pytest.mark.parametrize(
    "address", ["ftp://x", "ws://", "ws://127.0.0.1:99999", "ws://[::1", "ws://a b", "ws://ada:secret@127.0.0.1"]
)
def test_an_impossible_address_is_refused_without_a_request(tmp_path, command, address):
    wrong = subprocess.run(
        [PROGRAM, *command], cwd=tmp_path, env={"PARLEY_SERVER": address}, capture_output=True, text=True,
        timeout=PROGRAM_SECONDS, check=False,
    )  # fmt: skip
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "expected the server's address to begin with" in wrong.stderr and "secret" not in wrong.stderr


def test_share_reports_a_server_that_is_not_parley(start, tmp_path):
    nobody = share(tmp_path, "a", "--server", f"http://127.0.0.1:{free_port()}")
    assert nobody.returncode == 1 and "does not answer" in nobody.stderr

    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            # With the body unread, the answer could be lost with the connection.
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<h1>Welcome</h1>")

        def log_message(self, *words):
            pass

    foreign = http.server.HTTPServer(("127.0.0.1", 0), Foreign)
    with contextlib.closing(foreign.socket):
        thread = threading.Thread(target=foreign.handle_request)
        thread.start()
        other = share(tmp_path, "a", "--server", f"http://127.0.0.1:{foreign.server_port}")
        thread.join()
    assert other.returncode == 1 and "status 200, but not from Parley" in other.stderr


def test_certificates_that_are_trusted_by_name(start, tmp_path):
    certificate, key = make_certificate(tmp_path)
    server = start("--tls-certificate", str(certificate), "--tls-key", str(key))
    where = ["--server", f"wss://127.0.0.1:{server.port}"]
    strange = share(tmp_path, "a", *where)
    assert strange.returncode == 1 and "certificate" in strange.stderr
    # Trusted, it is asked, and has no such note.
    trusted = share(tmp_path, "a", *where, "--trust", str(certificate))
    assert trusted.returncode == 1 and "certificate" not in trusted.stderr and "note" in trusted.stderr
