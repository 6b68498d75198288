"""Signing in at an identity provider (OpenID Connect), against the real program."""

import base64
import http.client
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest
from identity_providers import CLIENT, HANG, SECRET, LyingProvider, Visitor
from parley_server import PROGRAM, ROOT, ParleyServer
from patience import SECONDS
from test_doctor import examine
from test_login import log_in, post, put_user
from test_operations_page import Shell, steps
from test_tokens import bearer, greet, new_key

PAGE = "https://notes.example.org"
WRITERS = "writers document:*=read,write,manage,presence"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sign-in")


@pytest.fixture(scope="module")
def secret(folder):
    file = folder / "client-secret"
    file.write_text(SECRET + "\n")
    return file


def settings(provider, secret, *more):
    return [
        "--public-url", PAGE, "--oidc-issuer", provider.issuer, "--oidc-client-id", CLIENT,
        "--oidc-client-secret-file", secret, "--oidc-group", WRITERS, *more,
    ]  # fmt: skip


@pytest.fixture
def provider():
    running = LyingProvider()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def one(folder, secret):
    """A server with its provider, for all that leaves nothing behind."""
    provider = LyingProvider()
    server = ParleyServer(folder, *settings(provider, secret)).start()
    server.provider = provider
    yield server
    assert server.stop() == 0, server.log.read_text()
    provider.stop()


@pytest.fixture
def honest(one):
    """The same server, whose provider tells the truth again."""
    one.provider.lies = {}
    one.provider.userinfo = {}
    one.provider.user = {"sub": "u-1", "name": "Ada L.", "groups": ["writers"]}
    return one


def problem(address):
    assert address.startswith(PAGE + "/#sign-in-problem="), address
    return address.rsplit("=", 1)[1]


# Successful sign-ins.


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_user_of_a_real_provider_comes_in_with_the_rights_of_the_groups(start, secret, monkeypatch):
    monkeypatch.setitem(os.environ, "AUTHLIB_INSECURE_TRANSPORT", "1")
    oidc_provider_mock = pytest.importorskip("oidc_provider_mock")
    with oidc_provider_mock.run_server_in_thread() as running:
        issuer = f"http://localhost:{running.server_port}"
        claims = {"email": "ada@example.org", "email_verified": True, "name": "Ada L.", "groups": ["all", "writers"]}
        put = urllib.request.Request(
            issuer + "/users/ada", json.dumps(claims).encode(), {"Content-Type": "application/json"}, method="PUT"
        )
        urllib.request.urlopen(put).close()
        server = start(
            "--public-url", PAGE, "--oidc-issuer", issuer, "--oidc-client-id", CLIENT,
            "--oidc-client-secret-file", secret, "--oidc-user-claim", "email",
            "--oidc-email-domain", "example.org", "--oidc-group", WRITERS,
        )  # fmt: skip
        visitor = Visitor(server)
        address = urllib.parse.urlsplit(visitor.begin())
        connection = http.client.HTTPConnection("localhost", running.server_port, timeout=SECONDS)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", f"{address.path}?{address.query}", "sub=ada", form)
        back = connection.getresponse()
        assert back.status == 302
        assert visitor.come_back(back.headers["location"]) == PAGE + "/#signed-in"
        answer = visitor.take()[1]
    assert answer["data"]["response"] == {"id": "ada@example.org", "email": "ada@example.org", "name": "Ada L."}
    access = answer["data"]["tokens"]["accessToken"]
    assert server.request("POST", "/api/notes", {"title": "Mine"}, bearer(access))[0] == 201
    client, reply = greet(server, access, name="Root")
    assert reply == "welcome"


def test_its_cookies_are_for_this_server_alone_and_no_script_reads_them(honest):
    visitor = Visitor(honest)
    visitor.sign_in(honest.provider)
    names = {line.split("=")[0] for line in visitor.set}
    assert names == {"__Host-parley-browser", "__Host-parley-ticket"}
    for line in visitor.set:
        words = line.split("; ")[1:]
        assert {"Path=/", "HttpOnly", "Secure"} < set(words), line
        assert ("SameSite=Strict" if "ticket" in line else "SameSite=Lax") in words, line
    assert "__Host-parley-ticket" not in visitor.cookies, "the ticket is used"


def test_the_page_learns_how_people_sign_in(honest, start, tmp_path):
    answer = json.loads(honest.request("GET", "/api/user/ways")[2])
    assert answer == {
        "password": False, "provider": {"name": "127.0.0.1", "address": PAGE + "/api/user/provider"},
    }  # fmt: skip
    plain = start()
    assert json.loads(plain.request("GET", "/api/user/ways")[2]) == {"password": False}
    for method, path in [("GET", ""), ("POST", ""), ("GET", "/return")]:
        assert plain.request(method, "/api/user/provider" + path)[0] == 404


def test_two_windows_of_one_browser_sign_in_side_by_side(honest):
    visitor = Visitor(honest)
    one, other = visitor.begin(), visitor.begin()
    assert one != other
    for address in (one, other):
        assert visitor.come_back(honest.provider.authorise(address)) == PAGE + "/#signed-in"


def test_claims_missing_in_the_id_token_are_requested(honest):
    honest.provider.user = {"sub": "u-1"}
    honest.provider.userinfo = {"name": "Ada from afar", "groups": "writers", "iss": "nonsense"}
    visitor = Visitor(honest)
    assert visitor.come_back(honest.provider.authorise(visitor.begin())) == PAGE + "/#signed-in"
    assert visitor.take()[1]["data"]["response"]["name"] == "Ada from afar"
    honest.provider.userinfo["sub"] = "u-2"
    assert problem(visitor.come_back(honest.provider.authorise(visitor.begin()))) == "misbehaves"


def test_tokens_are_renewed_until_the_session_ends_or_is_revoked(start, provider, secret, tmp_path):
    operator = new_key(tmp_path, "admin", "operator")
    users = tmp_path / "users"
    put_user(users, "bea@example.org", "document:*=read")
    server = start(
        *settings(provider, secret, "--api-key-file", tmp_path / "api-keys", "--users-file", users,
        "--oidc-session-time", "60s"),
    )  # fmt: skip
    pair = Visitor(server).sign_in(provider)
    assert log_in(server, "bea@example.org")["code"] == 1000
    answer = post(server, "/api/user/refresh", {"refreshToken": pair["refreshToken"]})[1]
    assert answer["code"] == 1000 and answer["data"]["response"]["name"] == "Ada L."
    renewed = answer["data"]["tokens"]
    client, reply = greet(server, renewed["accessToken"])
    assert reply == "welcome"
    # A token for new ones opens nothing, nor does a ticket.
    assert greet(server, renewed["refreshToken"])[1] == "error"
    assert server.request("POST", "/api/revoke", {"user": "u-1"}, bearer(operator))[0] == 200
    assert client.close_code() == 4508
    for token in (pair["refreshToken"], renewed["refreshToken"]):
        assert post(server, "/api/user/refresh", {"refreshToken": token})[1]["code"] == 4004
    assert greet(server, Visitor(server).sign_in(provider)["accessToken"])[1] == "welcome"


def test_changed_keys_of_the_provider_apply_at_once(honest):
    visitor = Visitor(honest)
    visitor.sign_in(honest.provider)
    for name in ("second", "second", "first"):
        honest.provider.change_keys(name)
        visitor.sign_in(honest.provider)


def test_a_provider_that_was_down_at_the_start_is_retried(start, provider, secret):
    provider.lies = {"status": {"/.well-known/openid-configuration": 503}}
    server = start(*settings(provider, secret))
    visitor = Visitor(server)
    assert problem(visitor.begin()) == "unreachable"
    assert server.request("GET", "/health")[0] == 200
    provider.lies = {}
    visitor.sign_in(provider)


# Lies.

LIES = {
    "another issuer": {"claims": {"iss": "https://evil.example.org"}},
    "another audience": {"claims": {"aud": "somebody"}},
    "no audience": {"claims": {"aud": None}},
    "several audiences, none of them named": {"claims": {"aud": [CLIENT, "somebody"]}},
    "another party": {"claims": {"aud": [CLIENT, "somebody"], "azp": "somebody"}},
    "another nonce": {"claims": {"nonce": "of another sign-in"}},
    "no nonce": {"claims": {"nonce": None}},
    "no subject": {"claims": {"sub": None}},
    "an end long ago": {"claims": {"exp": 1_700_000_000}},
    "no end": {"claims": {"exp": None}},
    "from the future": {"claims": {"iat": 4_000_000_000}},
    "too old": {"claims": {"iat": 0}},
    "not yet": {"claims": {"nbf": 4_000_000_000}},
    "no signature": {"header": {"alg": "none"}},
    "a public key as a secret": {"header": {"alg": "HS256"}},
    "a key that is not there": {"header": {"kid": "another"}},
    "no id token": {"tokens": {"id_token": None}},
    "garbage": {"tokens": {"id_token": "x.y"}},
    "a broken answer": {"keys": b"[", "header": {"kid": "unknown"}},
    "a client that it does not know": {"status": {"/token": 401}},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_provider_signs_no_user_in(honest, lie):
    visitor = Visitor(honest)
    address = visitor.begin()
    honest.provider.lies = LIES[lie]
    before = len(honest.provider.asked)
    assert problem(visitor.come_back(honest.provider.authorise(address))) == "misbehaves"
    assert len(honest.provider.asked) - before <= 2, "keys are fetched once for a token"
    assert visitor.take()[1]["code"] == 4004


def test_another_key_with_the_same_id_is_rejected(honest):
    visitor = Visitor(honest)
    visitor.sign_in(honest.provider)
    name = honest.provider.keys[0].kid
    genuine = {"keys": [key.as_dict(private=False) for key in honest.provider.keys]}
    honest.provider.change_keys(name)
    honest.provider.lies = {"keys": genuine}
    assert problem(visitor.come_back(honest.provider.authorise(visitor.begin()))) == "misbehaves"


@pytest.mark.parametrize(
    "field, value",
    [
        ("issuer", "https://evil.example.org"), ("token_endpoint", "file:///etc/passwd"), ("jwks_uri", None),
    ],
)  # fmt: skip
def test_a_wrong_description_redirects_no_browser(start, provider, secret, field, value):
    provider.lies = {"description": {field: value}}
    assert problem(Visitor(start(*settings(provider, secret))).begin()) == "misbehaves"


# Requests from elsewhere.


def test_only_the_browser_that_began_can_finish(honest):
    visitor, thief = Visitor(honest), Visitor(honest)
    back = honest.provider.authorise(visitor.begin())
    assert problem(thief.come_back(back)) == "expired"
    thief.begin()
    assert problem(thief.come_back(back)) == "expired"
    assert visitor.come_back(back) == PAGE + "/#signed-in"
    # Once.
    assert problem(visitor.come_back(back)) == "used"
    broken = back[:-2] + ("AA" if not back.endswith("AA") else "BB")
    for address in (broken, back.split("?")[0], back.split("?")[0] + "?state=%ff&code=x"):
        assert problem(visitor.come_back(address)) == "expired"


def test_only_known_error_codes_of_the_provider_are_shown(honest):
    visitor = Visitor(honest)
    back = honest.provider.authorise(visitor.begin())
    state = back.split("state=")[1]
    path = "/api/user/provider/return?state=" + state
    for query, expected in [
        ("&error=access_denied", "denied"), ("&error=https://evil.example.org", "unreachable"), ("", "misbehaves"),
        ("&code=" + "x" * 5_000, "misbehaves"), ("&code=unknown", "used"),
        ("&code=x&iss=https://evil.example.org", "misbehaves"),
    ]:  # fmt: skip
        assert problem(visitor.go(path + query)) == expected, query


def test_a_provider_that_promises_to_name_itself_has_to(start, provider, secret):
    # RFC 9207, section 2.4: an answer without the promised name may be another provider's.
    provider.lies = {"description": {"authorization_response_iss_parameter_supported": True}}
    visitor = Visitor(start(*settings(provider, secret)))
    back = provider.authorise(visitor.begin())
    asked = len(provider.asked)
    assert problem(visitor.come_back(back)) == "misbehaves"
    assert len(provider.asked) == asked, "the code was sent on"
    named = "&" + urllib.parse.urlencode({"iss": provider.issuer})
    assert visitor.come_back(provider.authorise(visitor.begin()) + named) == PAGE + "/#signed-in"


def test_no_browser_is_redirected_elsewhere(honest):
    visitor = Visitor(honest)
    for query in ("?next=https://evil.example.org", "?next=//evil.example.org", "?redirect_uri=x"):
        response, _ = visitor.ask("GET", "/api/user/provider" + query, {"Host": "evil.example.org"})
        assert response.headers["location"].startswith(honest.provider.issuer + "/authorize?")
        assert "evil" not in response.headers["location"]
    assert visitor.come_back(honest.provider.authorise(visitor.begin())) == PAGE + "/#signed-in"


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example.org"}, {"Sec-Fetch-Site": "cross-site"}])
def test_another_sites_page_takes_no_tokens(honest, headers):
    visitor = Visitor(honest)
    visitor.come_back(honest.provider.authorise(visitor.begin()))
    assert visitor.take(**headers)[0] == 403
    kept = dict(visitor.cookies)
    assert visitor.take()[1]["code"] == 1000
    assert visitor.take()[1]["code"] == 4004, "once"
    visitor.cookies = kept
    assert visitor.take()[1]["code"] == 4004, "once, even for who has kept it"


@pytest.mark.parametrize(
    "user",
    [
        {"sub": "u-2"}, {"sub": "u-2", "groups": ["readers"]}, {"sub": "share/x", "groups": ["writers"]},
        {"sub": "key:x", "groups": ["writers"]}, {"sub": "a b", "groups": ["writers"]},
        {"sub": "x" * 300, "groups": ["writers"]},
    ],
)  # fmt: skip
def test_a_user_without_rights_is_not_signed_in(honest, user):
    honest.provider.user = {"name": "Eve", **user}
    visitor = Visitor(honest)
    assert problem(visitor.come_back(honest.provider.authorise(visitor.begin()))) == "notAllowed"
    assert visitor.take()[1]["code"] == 4004


def test_a_right_with_the_users_id_opens_nothing_to_an_id_that_is_a_pattern(start, provider, secret):
    right = ["--oidc-right", "folder:home/{user}/*=all", "--oidc-right", "folder:{user}=all"]
    server = start(*settings(provider, secret, *right, "--oidc-group", "guests room:hall=read"))
    users = ["*", "..", "ann/x", "a*"]
    for user in users:
        provider.user = {"sub": user, "name": "Eve", "groups": ["guests"]}
        access = Visitor(server).sign_in(provider)["accessToken"]
        claims = json.loads(base64.urlsafe_b64decode(access.split(".")[1] + "=="))
        assert "folders" not in claims["parley"] and claims["parley"]["rooms"][0]["match"] == "hall", user
    assert server.log.read_text().count("rights with {user} not granted") == len(users)
    # Without other rights there is nothing to sign in for.
    provider.user = {"sub": "*", "name": "Eve"}
    visitor = Visitor(server)
    assert problem(visitor.come_back(provider.authorise(visitor.begin()))) == "notAllowed"
    provider.user = {"sub": "ann", "name": "Ann"}
    claims = Visitor(server).sign_in(provider)["accessToken"].split(".")[1]
    folders = json.loads(base64.urlsafe_b64decode(claims + "=="))["parley"]["folders"]
    assert [folder["match"] for folder in folders] == ["home/ann/*", "ann"]


def test_addresses_count_only_when_they_are_verified_and_of_the_domain(start, provider, secret):
    server = start(
        *settings(provider, secret, "--oidc-email-domain", "example.org", "--oidc-user-claim", "email",
        "--oidc-groups-claim", "realm_access.roles", "--oidc-user-prefix", "sso/"),
    )  # fmt: skip
    good = {"email": "Ada@Example.org", "email_verified": True}
    for change, expected in [
        ({}, None), ({"email_verified": "true"}, None), ({"email_verified": False}, "notAllowed"),
        ({"email_verified": None}, "notAllowed"), ({"email": "ada@example.org.evil.org"}, "notAllowed"),
        ({"email": "ada@evil.org@example.org"}, "notAllowed"), ({"email": 7}, "notAllowed"),
        ({"realm_access": {"roles": ["x"]}}, "notAllowed"), ({"realm_access": ["writers"]}, "notAllowed"),
    ]:  # fmt: skip
        user = {"sub": "u", "name": "\u202eAda\n", "realm_access": {"roles": ["writers"]}, **good, **change}
        provider.user = {name: value for name, value in user.items() if value is not None}
        visitor = Visitor(server)
        place = visitor.come_back(provider.authorise(visitor.begin()))
        if expected:
            assert problem(place) == expected, change
        else:
            assert visitor.take()[1]["data"]["response"] == {
                "id": "sso/ada@example.org", "email": "sso/ada@example.org", "name": "Ada",
            }  # fmt: skip
    # One source names an address, the other says that its own is verified: that is not the former.
    del provider.user["email_verified"]
    provider.user |= {"email": "boss@example.org", "realm_access": {"roles": ["writers"]}}
    provider.userinfo = {"email": "ada@example.org", "email_verified": True}
    visitor = Visitor(server)
    visitor.come_back(provider.authorise(visitor.begin()))
    assert visitor.take()[1]["data"]["response"]["id"] == "sso/ada@example.org"
    # A letter that would become a "k".
    provider.user |= {"email": "\u212aim@example.org", "email_verified": True}
    visitor.come_back(provider.authorise(visitor.begin()))
    assert visitor.take()[1]["data"]["response"]["id"] == "sso/\u212aim@example.org"


# Slow providers, and many concurrent sign-ins.


def test_a_slow_provider_delays_no_other_request(start, provider, secret):
    server = start(*settings(provider, secret, "--oidc-timeout", "400ms"))
    visitor = Visitor(server)
    address = visitor.begin()
    provider.lies = {"status": {"/token": HANG}}
    assert problem(visitor.come_back(provider.authorise(address))) == "unreachable"
    provider.lies = {}
    visitor.sign_in(provider)


def test_sign_ins_under_way_are_bounded(start, provider, secret):
    server = start(*settings(provider, secret, "--oidc-timeout", "60s"))
    provider.lies = {"status": {"/.well-known/openid-configuration": HANG}}
    waiting = []
    for _ in range(64):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        connection.request("GET", "/api/user/provider")
        waiting.append(connection)
    for _ in waiting:
        assert provider.arrived.acquire(timeout=SECONDS)
    assert problem(Visitor(server).begin()) == "busy"
    assert server.request("GET", "/health")[0] == 200
    provider.lies = {}
    provider.released.set()
    for connection in waiting:
        assert problem(connection.getresponse().headers["location"]) == "unreachable"
        connection.close()
    Visitor(server).sign_in(provider)


def test_no_secret_code_or_token_is_in_the_log(start, provider, secret):
    server = start(*settings(provider, secret, "--log-level", "trace"))
    visitor = Visitor(server)
    back = provider.authorise(visitor.begin(), code="the-code-of-this-test")
    browser = visitor.cookies["__Host-parley-browser"]
    visitor.come_back(back)
    ticket = visitor.cookies["__Host-parley-ticket"]
    pair = visitor.take()[1]["data"]["tokens"]
    provider.lies = {"claims": {"iss": "https://evil.example.org/secret-path"}}
    visitor.come_back(provider.authorise(visitor.begin()))
    text = server.log.read_text()
    assert "sign-in at the provider failed" in text and "issuer" in text
    state = back.split("state=")[1]
    for value in (SECRET, "the-code-of-this-test", state, browser, ticket, "secret-path", "opaque", *pair.values()):
        assert value not in text


# Settings.


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--oidc-issuer", "https://id.example.org"], "belong together"),
        (["--oidc-issuer", "http://id.example.org"], "http:// only for this machine"),
        (["--oidc-issuer", "https://id.example.org", "--oidc-client-id", "x"], "public-url"),
        (["--oidc-issuer", "https://id.example.org", "--oidc-client-id", "x", "--public-url", PAGE], "oidc-right"),
        (["--oidc-right", "document:*=fly"], "got fly"),
        (["--oidc-group", "writers"], "a group and its rights"),
        (["--oidc-scope", "profile", "--oidc-issuer", "https://id.example.org", "--oidc-client-id", "x",
          "--public-url", PAGE, "--oidc-right", "room:*=read"], "openid"),
        (["--oidc-client-secret-file", "/nowhere", "--oidc-issuer", "https://id.example.org", "--oidc-client-id",
          "x", "--public-url", PAGE, "--oidc-right", "room:*=read"], "/nowhere"),
    ],
)  # fmt: skip
def test_incompatible_settings_are_refused_with_a_reason(tmp_path, flags, said):
    checked = subprocess.run(
        [PROGRAM, "check", "--data-dir", tmp_path / "data", *flags], capture_output=True, text=True
    )
    assert checked.returncode == 2 and said in checked.stderr, checked.stderr


def test_the_doctor_asks_the_provider(tmp_path, provider, secret):
    flags = settings(provider, secret)
    code, findings = examine(tmp_path, *flags)
    (severity, text), = findings["sign-in"]
    assert (code, severity) == (0, "ok") and f"{PAGE}/api/user/provider/return" in text
    provider.lies = {"description": {"issuer": "https://another.example.org"}}
    code, findings = examine(tmp_path, *flags)
    assert code == 1 and findings["sign-in"][0][0] == "problem"
    assert "another issuer" in findings["sign-in"][0][1]


def test_every_command_of_the_page_works(tmp_path, provider):
    page = (ROOT / "Documentation" / "SignIn.md").read_text()
    shell = Shell(tmp_path)
    commands = [command for _, command in steps(page)]
    try:
        for command in commands:
            command = command.replace("https://id.example.org", provider.issuer)
            (shell.serve if command.startswith("parley serve") else shell.run)(command)
    finally:
        shell.stop()
    assert len(commands) == 7
    for line in re.findall(r"^ {4,6}(parley .*)$", page, re.MULTILINE):
        assert any(line in command for command in commands), f"put <!-- run --> above: {line}"
