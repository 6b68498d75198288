"""Links for new passwords: by mail, and from the operator; and the queue in which messages wait."""

import json
import re
import subprocess
import threading

import pytest
from mail_receiver import MailReceiver, strange_server
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS, wait_until
from postgres_server import PostgresServer
from test_login import PASSWORD, RIGHTS, log_in, post, put_user, tokens
from test_mail import silent_at_the_end
from test_metrics import one, scrape
from test_users import OTHER, listed, user

PAGE = "https://notes.example.org"
LINK = re.compile(re.escape(PAGE) + r"/#reset=(pr_[A-Za-z0-9_-]{50,})")
ACCEPTED = "If this account has a mail address, a link is on its way"
QUICK = ["--mail-retry-min", "10ms", "--mail-retry-max", "50ms"]


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "users"
    put_user(file, "ada", "mail:ada@example.org", *RIGHTS, name="Ada L.")
    put_user(file, "bea@example.org", *RIGHTS)
    put_user(file, "cid", "mail:shared@example.org", *RIGHTS)
    put_user(file, "dan", "mail:shared@example.org", *RIGHTS)
    return file


@pytest.fixture
def receiver():
    with MailReceiver() as receiver:
        yield receiver


def flags(receiver, file):
    return [
        "--users-file", file, "--smtp-url", receiver.url, "--mail-from", "parley@example.org", "--public-url", PAGE, *QUICK,
    ]  # fmt: skip


@pytest.fixture
def served(start, file, receiver):
    return start(*flags(receiver, file))


def forget(server, name, address=None, **headers):
    status, _, answer = server.request("POST", "/api/user/forgot", {"email": name}, headers)
    return status, json.loads(answer)


def token_in(mail):
    (token,) = set(LINK.findall(mail.texts["text/plain"]))
    assert token in mail.texts["text/html"]
    return token


def reset(server, token, password=OTHER):
    return post(server, "/api/user/reset", {"reset": token, "newPassword": password})[1]


def attempts(server, outcome):
    samples, _ = scrape(server)
    return samples.get(("parley_mail_messages_total", (("outcome", outcome),)), 0)


@pytest.mark.parametrize("name", ["ada", " ADA ", "ada@example.org", "ADA@example.org"])
def test_a_link_arrives_and_gives_a_new_password_once(served, receiver, name):
    session = tokens(served, "ada")
    assert forget(served, name) == (
        200, {"code": 1002, "message": ACCEPTED, "hasError": False, "data": {}},
    )  # fmt: skip
    mail = receiver.next()
    assert mail.recipients == ["ada@example.org"]
    token = token_in(mail)
    assert reset(served, token, "short")["code"] == 4013
    answer = reset(served, token)
    assert (answer["code"], answer["data"]["response"]["id"]) == (1000, "ada")
    assert log_in(served, "ada", PASSWORD)["code"] == 4001
    assert log_in(served, "ada", OTHER)["code"] == 1000
    # Other sessions have ended, and the link with them.
    assert post(served, "/api/user/refresh", {"refreshToken": session["refreshToken"]})[1]["code"] == 4004
    assert reset(served, token, PASSWORD)["code"] == 4014
    assert log_in(served, "ada", OTHER)["code"] == 1000


@pytest.mark.parametrize("name", ["nobody", "bea@example.org", "cid@example.org", "shared@example.org", "x" * 200])
def test_the_answer_does_not_say_which_accounts_exist(served, receiver, name):
    assert forget(served, name) == (200, {"code": 1002, "message": ACCEPTED, "hasError": False, "data": {}})
    forget(served, "ada")
    assert receiver.next().recipients == ["ada@example.org"]
    assert receiver.mails.empty()


def test_a_message_has_the_language_of_the_browser(served, receiver):
    forget(served, "ada", **{"accept-language": "xx, fr-CH;q=0.9, en;q=0.5"})
    assert receiver.next().message["subject"] == "Nouveau mot de passe pour Parley"


def test_links_do_not_depend_on_the_host_of_a_request(served, receiver):
    forget(served, "ada", **{"x-forwarded-host": "evil.example"})
    assert "evil" not in receiver.next().texts["text/plain"]


def test_requests_are_limited_for_each_account_and_address(start, file, receiver):
    server = start(*flags(receiver, file), "--trusted-proxy", "127.0.0.1")
    near, far = {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-for": "192.0.2.2"}
    for _ in range(10):
        assert forget(server, "ada", **near)[0] == 200
    for name in ("ada", "nobody"):
        status, headers, _ = server.request("POST", "/api/user/forgot", {"email": name}, near)
        assert status == 429 and 0 < int(headers["retry-after"]) <= 3_600
        assert forget(server, name, **far)[0] == 200
    for _ in range(3):
        assert receiver.next().recipients == ["ada@example.org"]
    wait_until(lambda: attempts(server, "sent") == 3)
    assert receiver.mails.empty()


@pytest.mark.parametrize("token", ["", "pr_", "pr_AAAA", "x", "pr_" + "A" * 100, "pi_abc", "pr_" + "A" * 10_000])
def test_other_texts_are_no_links(served, token):
    assert reset(served, token)["code"] == 4014
    assert log_in(served, "ada")["code"] == 1000


def test_a_link_of_one_user_is_of_no_other(served, receiver):
    forget(served, "ada")
    token = token_in(receiver.next())
    changed = token[:-2] + ("A" if token[-2] != "A" else "B") + token[-1]
    assert reset(served, changed)["code"] == 4014
    # The link ends when the password is changed otherwise, too.
    body = {"email": "ada", "password": PASSWORD, "newPassword": OTHER}
    assert post(served, "/api/user/password", body)[1]["code"] == 1000
    assert reset(served, token)["code"] == 4014


def test_one_of_several_requests_with_a_link_succeeds(served, receiver):
    forget(served, "ada")
    token = token_in(receiver.next())
    codes = []
    threads = [
        threading.Thread(target=lambda n=n: codes.append(reset(served, token, f"new password {n}")["code"]))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [1000, 4014, 4014, 4014]


def test_neither_tokens_nor_addresses_are_logged(served, receiver):
    forget(served, "ada")
    token = token_in(receiver.next())
    reset(served, token)
    reset(served, token)
    receiver.recipient = lambda address: "550 5.1.1 no mailbox ada@example.org"
    forget(served, "ada")
    wait_until(lambda: "mail refused" in served.log.read_text())
    log = served.log.read_text()
    assert token not in log and "ada@example.org" not in log.lower()
    # A dead letter has no link.
    dead = subprocess.run([PROGRAM, "webhooks", "--data-dir", served.data], capture_output=True, text=True)
    assert "pr_" not in dead.stdout


def test_greylisted_mail_waits_and_is_the_same_message(served, receiver):
    seen = []
    receiver.taken = lambda mail: seen.append(mail) or ("450 4.2.0 try later" if len(seen) < 3 else None)
    forget(served, "ada")
    mail = receiver.next()
    assert len(seen) == 3
    assert {other.id for other in seen} == {mail.id}
    assert {other.raw for other in seen} == {mail.raw}
    wait_until(lambda: attempts(served, "sent") == 1)
    samples, _ = scrape(served)
    assert attempts(served, "postponed") == 2
    assert one(samples, "parley_mail_queue") == one(samples, "parley_mail_dropped_total") == 0


def test_one_recipient_who_is_postponed_holds_up_no_other(start, file, receiver):
    put_user(file, "eva", "mail:eva@example.org", *RIGHTS)
    server = start(*flags(receiver, file))
    receiver.recipient = lambda address: "450 4.2.0 try later" if address.startswith("ada") else None
    forget(server, "ada")
    forget(server, "eva")
    assert receiver.next().recipients == ["eva@example.org"]


def test_nothing_is_lost_when_the_server_is_killed(served, receiver):
    """The message was committed, so it is sent after each restart until the mail server has taken it."""
    receiver.recipient = lambda address: "421 4.3.2 not now"
    forget(served, "ada")
    wait_until(lambda: "mail not sent" in served.log.read_text())
    reached, released = threading.Event(), threading.Event()
    seen = []

    def taken(mail):
        # Killed after the whole message was sent, before the answer.
        seen.append(mail)
        if len(seen) == 1:
            reached.set()
            released.wait(PROGRAM_SECONDS)
            return "421 4.3.2 gone"
        return None

    receiver.taken = taken
    receiver.recipient = lambda address: None
    assert reached.wait(PROGRAM_SECONDS)
    served.kill()
    released.set()
    served.start()
    mail = receiver.next()
    assert seen[0].id == mail.id
    wait_until(lambda: attempts(served, "sent") == 1)
    served.kill()
    served.start()
    assert reset(served, token_in(mail))["code"] == 1000
    assert receiver.mails.empty()


def test_one_node_sends_and_another_takes_over(start, file, receiver):
    database = PostgresServer().start()
    address = database.new_database()
    try:
        first = start(*flags(receiver, file), "--store-url", address)
        second = start(*flags(receiver, file), "--store-url", address)
        forget(first, "ada")
        forget(second, "ada")
        ids = {receiver.next().id for _ in range(2)}
        assert len(ids) == 2
        # A message that is not settled yet would be sent again.
        wait_until(lambda: attempts(first, "sent") + attempts(second, "sent") == 2)
        first.kill()
        forget(second, "ada")
        # A link of one node is valid at the other.
        assert reset(second, token_in(receiver.next()))["code"] == 1000
        assert receiver.mails.empty()
        first.start()
    finally:
        database.remove()


def test_a_mail_server_that_says_nothing_at_the_end_delays_no_stop(start, file):
    with strange_server(silent_at_the_end) as port:
        server = start(
            "--users-file", file, "--smtp-url", f"smtp://127.0.0.1:{port}", "--mail-from", "parley@example.org",
            "--public-url", PAGE,
        )  # fmt: skip
        forget(server, "ada")
        wait_until(lambda: attempts(server, "sent") == 1)
        forget(server, "ada")
        # Otherwise the server ends by force.
        assert server.stop() == 0
        server.start()
        wait_until(lambda: attempts(server, "sent") == 1)


def test_without_mail_the_server_is_as_before(start, file):
    server = start("--users-file", file)
    status, answer = forget(server, "ada")
    assert (status, answer["code"]) == (404, 5001)
    ways = json.loads(server.request("GET", "/api/user/ways")[2])
    assert "forgot" not in ways
    assert "parley_mail" not in server.request("GET", "/metrics")[2].decode()


def test_the_page_learns_that_links_are_sent(served):
    assert json.loads(served.request("GET", "/api/user/ways")[2])["forgot"] is True


def command(server, *words, code=0):
    ended = subprocess.run(
        [PROGRAM, "user", *words, "--users-file", server.flags[server.flags.index("--users-file") + 1], "--data-dir", server.data],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    return ended.stdout.strip(), ended.stderr


def test_an_operator_hands_out_a_link(start, file):
    server = start("--users-file", file)
    link, _ = command(server, "reset", "bea@example.org", "--page", PAGE)
    assert reset(server, LINK.fullmatch(link)[1])["code"] == 1000
    assert log_in(server, "bea@example.org", OTHER)["code"] == 1000
    assert "no such user" in command(server, "reset", "nobody", code=1)[1]
    assert "has no mail address" in command(server, "reset", "bea@example.org", "--mail", "--page", PAGE, code=2)[1]


def test_an_operator_sends_a_link(served, receiver):
    out, _ = command(
        served, "reset", "ada", "--mail", "--language", "de", "--page", PAGE, "--smtp-url", receiver.url,
        "--mail-from", "parley@example.org",
    )  # fmt: skip
    assert out == ""
    mail = receiver.next()
    assert mail.message["subject"] == "Neues Passwort für Parley"
    assert reset(served, token_in(mail))["code"] == 1000


def test_an_operator_sets_and_removes_an_address(file):
    assert user("set", "ada", "--mail", "new@example.org", "--file", file).returncode == 0
    assert listed(file)[0]["mail"] == "new@example.org"
    assert listed(file)[0]["rights"] == RIGHTS
    ended = user("set", "ada", "--mail", "new@example.org bcc:x", "--file", file)
    assert ended.returncode == 2 and "expected a mail address" in ended.stderr
    assert user("set", "ada", "--mail", "", "--file", file).returncode == 0
    assert "mail" not in listed(file)[0]
    assert user("add", "eva", "--mail", "a+b#%@example.org", "--file", file).returncode == 0
    assert listed(file)[-1]["mail"] == "a+b#%@example.org"
