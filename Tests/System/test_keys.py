"""Keys that tokens are checked with: every algorithm, by name, from sets, changed under way."""

import base64
import json
import pathlib
import subprocess
import time

import pytest
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS, SECONDS
from test_tokens import EVERYTHING, SECRET, bearer, encode, greet, token

ALGORITHMS = {
    "RS256": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "ES256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "EdDSA": ["-algorithm", "ED25519"],
}


def new_pair(folder, name, algorithm):
    """Creates a private and a public key with OpenSSL. Returns both paths."""
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    for arguments in (
        ["genpkey", *ALGORITHMS[algorithm], "-out", private],
        ["pkey", "-in", private, "-pubout", "-out", public],
    ):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
    return private, public


def make(private, *flags, user="ada", grants=("--document", "*=all", "--room", "*=all")):
    """Returns a token made with the command line."""
    return subprocess.run(
        [PROGRAM, "token", "make", "--user", user, "--key", private, *grants, *flags],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip


def status(server, value):
    return server.request("GET", "/api/notes", headers=bearer(value))[0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_kind_of_key_lets_in_what_it_signed(start, tmp_path, algorithm):
    private, public = new_pair(tmp_path, "one", algorithm)
    stranger, _ = new_pair(tmp_path, "another", algorithm)
    server = start("--auth-key", public)
    good = make(private)
    header = json.loads(base64.urlsafe_b64decode(good.split(".")[0] + "=="))
    assert header["alg"] == algorithm
    assert greet(server, good)[1] == "welcome"
    assert greet(server, make(stranger))[1] == "error"
    # The public key is no secret to sign with.
    confused = token(EVERYTHING, secret=public.read_bytes(), aud=None)
    assert status(server, confused) == 401
    claims = encode(json.dumps({"sub": "eve", "exp": time.time() + 60}).encode())
    head, _, signature = good.split(".")
    assert status(server, f"{head}.{claims}.{signature}") == 401


def test_keys_are_told_apart_by_their_names(start, tmp_path):
    old, old_public = new_pair(tmp_path, "old", "EdDSA")
    new, new_public = new_pair(tmp_path, "new", "ES256")
    server = start("--auth-key", f"2025={old_public}", "--auth-key", f"2026={new_public}")
    assert status(server, make(old, "--kid", "2025")) == 200
    assert status(server, make(new, "--kid", "2026")) == 200
    for wrong in (make(old, "--kid", "2026"), make(old, "--kid", "2024")):
        assert status(server, wrong) == 401


def key_set(**secrets):
    return json.dumps(
        {"keys": [{"kty": "oct", "kid": kid, "k": encode(secret)} for kid, secret in secrets.items()]}
    )


def replace(file, text):
    new = pathlib.Path(str(file) + ".new")
    new.write_text(text)
    new.replace(file)


def until(condition):
    """Asks again until it is so; a server looks at its files about once a second."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "nothing has changed"


def test_a_key_set_is_read_again_when_it_changes(start, tmp_path):
    file = tmp_path / "keys.json"
    file.write_text(key_set(one=SECRET))
    server = start("--jwks-file", file, "--audience", "parley")
    one = token(EVERYTHING, header={"alg": "HS256", "kid": "one"})
    two = token(EVERYTHING, secret=SECRET[::-1], header={"alg": "HS256", "kid": "two"})
    assert (status(server, one), status(server, two)) == (200, 401)
    replace(file, key_set(two=SECRET[::-1]))
    until(lambda: status(server, two) == 200)
    assert status(server, one) == 401
    # With an unreadable file the former keys remain, and the failure is logged.
    replace(file, "nonsense")
    until(lambda: "keys not read again" in server.log.read_text() or status(server, two) != 200)
    assert status(server, two) == 200


def test_a_token_is_for_this_audience_and_from_this_issuer(start, tmp_path):
    private, public = new_pair(tmp_path, "one", "EdDSA")
    server = start("--auth-key", public, "--audience", "parley", "--issuer", "https://id.example")
    good = ["--audience", "parley", "--issuer", "https://id.example"]
    assert status(server, make(private, *good)) == 200
    for wrong in (good[:2], good[2:], ["--audience", "x", *good[2:]], [*good[:3], "https://other"]):
        assert status(server, make(private, *wrong)) == 401


def test_clocks_may_differ_at_most_by_the_skew(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start("--hmac-secret-file", secret, "--audience", "parley", "--clock-skew", "10m")
    now = time.time()
    assert status(server, token(EVERYTHING, exp=now - 300)) == 200
    assert status(server, token(EVERYTHING, nbf=now + 300)) == 200
    assert status(server, token(EVERYTHING, exp=now - 700)) == 401
    assert status(server, token(EVERYTHING, nbf=now + 700)) == 401


def test_a_token_in_the_url_counts_where_the_operator_says_so(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start("--hmac-secret-file", secret, "--audience", "parley", "--allow-token-in-url")
    assert server.request("GET", "/api/notes?token=" + token(EVERYTHING))[0] == 200
    assert server.request("GET", "/api/notes?token=" + token(EVERYTHING, exp=1))[0] == 401
    assert token(EVERYTHING)[:20] not in server.log.read_text()


@pytest.mark.parametrize(
    "flag, text, said",
    [
        ("--auth-key", "nonsense", "PEM public key"),
        ("--hmac-secret-file", "tiny", "at least 32 bytes"),
        ("--jwks-file", "{}", "keys"),
        ("--api-key-file", "nonsense", "expected NAME sha256:"),
        ("--users-file", "nonsense", "expected USER scrypt$"),
    ],
)
def test_the_server_does_not_start_with_an_unusable_key_file(tmp_path, flag, text, said):
    file = tmp_path / "file"
    file.write_text(text)
    for command in ("serve", "check"):
        result = subprocess.run(
            [PROGRAM, command, "--port", "0", "--data-dir", tmp_path / "data", flag, file],
            capture_output=True, text=True, timeout=PROGRAM_SECONDS,
        )  # fmt: skip
        assert result.returncode in (1, 2)
        assert said in result.stderr
        assert str(file) in result.stderr
        assert text not in result.stderr.replace(str(file), "")
