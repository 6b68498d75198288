"""The description at /api/openapi.json, and what the server does with whatever it allows."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from parley_server import PROGRAM, ROOT, ParleyServer
from test_login import put_user
from test_tokens import SECRET, bearer, new_key

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def described(server):
    status, headers, body = server.request("GET", "/api/openapi.json")
    assert (status, headers["content-type"]) == (200, "application/json")
    return json.loads(body)


def operations(description):
    """Method, path and operation of everything that is described."""
    for path, item in description["paths"].items():
        for method in METHODS & set(item):
            yield method.upper(), path, item[method]


def flags(folder):
    """Returns the flags of a server with everything that is described, and a key to all of it."""
    (folder / "secret").write_bytes(SECRET)
    put_user(folder / "users", "ada@example.org")
    key = new_key(folder, "everything", "operator", "document:*=all", "room:*=all")
    return key, [
        "--hmac-secret-file", folder / "secret", "--audience", "parley", "--users-file", folder / "users",
        "--api-key-file", folder / "api-keys", "--document-length-max", "100000",
        "--public-url", "https://notes.example.org", "--oidc-issuer", "http://127.0.0.1:9",
        "--oidc-client-id", "parley", "--oidc-right", "document:*=read",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    key, settings = flags(folder)
    server = ParleyServer(folder, *settings).start()
    server.key = key
    yield server
    assert server.is_running and server.stop() == 0, f"the server has ended: {server.log.read_text()[-2000:]}"


@pytest.fixture
def guarded(lasting):
    """A server with everything that is described, for all that looks at nothing that the others make."""
    yield lasting
    assert lasting.is_running, f"the server has died: {lasting.log.read_text()[-2000:]}"


@pytest.fixture
def fresh(start, tmp_path):
    """The same with nothing in it, so that the same requests get the same answers."""
    key, settings = flags(tmp_path)
    server = start(*settings)
    server.key = key
    return server


def test_it_needs_no_key_and_is_of_this_version(guarded):
    description = described(guarded)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
    assert description["info"]["version"] == version.split()[1]
    assert description["openapi"].startswith("3.1")


def test_clients_learn_what_the_server_speaks_without_a_key(guarded):
    status, headers, body = guarded.request("GET", "/sdk/version.json")
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
    assert (status, headers["content-type"]) == (200, "application/json")
    answer = json.loads(body)
    assert list(answer) == ["protocol", "capabilities", "version"]
    assert answer["protocol"] == "parley.v1"
    assert answer["version"] == version.split()[1]
    assert answer["capabilities"] == sorted(answer["capabilities"])
    assert {"create", "documentHistory", "numbers"} <= set(answer["capabilities"])
    assert guarded.request("POST", "/sdk/version.json")[0] == 405


def test_what_is_documented_is_described_and_the_other_way_round(server):
    """Both name the same requests: the tables of HTTP.md, and the description."""
    text = (ROOT / "Documentation" / "HTTP.md").read_text()
    rows = re.findall(r"^\| `(GET|POST|PUT|PATCH|DELETE) (/[^`?]*)", text, re.MULTILINE)
    documented = {
        (method, path) for method, path in rows
        if re.match(r"/(api/|sdk/|health$|ready$|metrics$)", path)
    }  # fmt: skip
    assert len(documented) > 30
    assert {(method, path) for method, path, _ in operations(described(server))} == documented


def test_names_of_operations_are_unique_and_every_error_has_its_form(server):
    description = described(server)
    names = [operation["operationId"] for _, _, operation in operations(description)]
    assert len(names) == len(set(names))
    for _, path, operation in operations(description):
        if not path.startswith("/api/") or operation.get("security") == []:
            continue
        for status, response in operation["responses"].items():
            is_error = status >= "400"
            assert is_error == response.get("$ref", "").startswith("#/components/responses/"), path


def test_every_path_answers_head_as_get_and_other_methods_with_those_it_takes(guarded):
    for path, item in described(guarded)["paths"].items():
        here = re.sub(r"\{\w+\}", "1", path)
        taken = {method.upper() for method in METHODS & set(item)}
        taken |= {"HEAD"} if "GET" in taken else set()
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            if method in taken and method != "HEAD":
                continue
            status, headers, body = guarded.request(method, here, None, bearer(guarded.key))
            if method in taken:
                asked = guarded.request("GET", here, None, bearer(guarded.key))
                assert (status, body) == (asked[0], b""), (method, path)
                assert headers["content-type"] == asked[1]["content-type"]
                continue
            # Health checks of some proxies ask by OPTIONS.
            is_check = method == "OPTIONS" and not path.startswith("/api/")
            assert status == (204 if is_check else 405), (method, path)
            assert set(headers["allow"].split(", ")) - {"OPTIONS"} == taken, (method, path)


def test_an_unknown_path_is_answered_with_404(guarded):
    status, headers, body = guarded.request("GET", "/api/nothing", None, bearer(guarded.key))
    assert (status, headers["content-type"]) == (404, "application/json")
    assert json.loads(body)["code"] == "notOffered"


@pytest.mark.parametrize(
    "path, kind, status",
    [
        ("notes", "application/json; charset=utf-8", 201), ("notes", "application/x+json", 201),
        ("notes", "application/x-www-form-urlencoded", 201), ("notes", "text/plain", 415),
        ("notes", "application/xml", 415), ("notes", "json", 415),
        ("publish", "multipart/form-data", 415), ("users/ada/disconnect", "text/xml", 415),
    ],
)  # fmt: skip
def test_a_body_of_another_type_is_not_read(guarded, path, kind, status):
    headers = {**bearer(guarded.key), "Content-Type": kind}
    body = b'{"title":"Typed"}'
    answered, fields, answer = guarded.request("POST", "/api/" + path, body, headers)
    assert answered == status
    if status == 415:
        assert json.loads(answer)["code"] == "badMessage"
        assert fields["accept"] == "application/json"


@pytest.mark.parametrize(
    "kind, status", [("text/markdown", 200), ("text/plain;charset=utf-8", 200), ("image/png", 415)]
)
def test_a_text_is_a_text(guarded, kind, status):
    headers = {**bearer(guarded.key), "Content-Type": kind}
    made = guarded.request("POST", "/api/notes", {"title": "Typed"}, bearer(guarded.key))
    path = made[1]["location"]
    assert path == "/api/notes/" + json.loads(made[2])["id"]
    assert guarded.request("PUT", path + "/text", b"milk", headers)[0] == status


@pytest.mark.timeout(1800)
def test_whatever_it_allows_and_forbids_is_answered_as_it_says(fresh, tmp_path):
    """schemathesis makes requests from the description, good ones and bad ones."""
    run = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli",
            "--config-file", ROOT / "Tests" / "System" / "schemathesis.toml", "run",
            f"{fresh.origin}/api/openapi.json", "--url", fresh.origin,
            "--header", f"Authorization: Bearer {fresh.key}", "--no-color",
        ],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        # The tables of Unicode, which take a second to compute, are kept with what else is built.
        env={
            **os.environ, "PYTHONPATH": str(ROOT / "Tests" / "System"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(pathlib.Path(os.environ.get("PYTHONPYCACHEPREFIX") or tmp_path) / "hypothesis"),
        },
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert fresh.request("GET", "/health")[0] == 200
