"""Messages by SMTP: `parley mail test`, with mail servers that answer, refuse, lie and hang."""

import ssl
import subprocess

import pytest
from mail_receiver import MailReceiver, strange_server
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS
from test_tls import make_certificate

FROM = "Parley <parley@example.org>"


def send(url, *flags, code=0, address="ada@example.org"):
    """Returns the output of `parley mail test`, or its error."""
    ended = subprocess.run(
        [PROGRAM, "mail", "test", address, "--smtp-url", url, "--mail-from", FROM, *map(str, flags)],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    return ended.stderr.strip() if code else ended.stdout.strip()


@pytest.fixture
def pair(tmp_path):
    return make_certificate(tmp_path)


@pytest.fixture
def sealed(pair):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    return context


def test_a_message_arrives_as_text_and_html():
    with MailReceiver() as receiver:
        assert send(receiver.url) == "The mail server took the message."
        mail = receiver.next()
        assert (mail.sender, mail.recipients) == ("parley@example.org", ["ada@example.org"])
        assert mail.message["from"] == FROM
        assert mail.message["to"] == "ada@example.org"
        assert mail.message["subject"] == "Test message from Parley"
        assert mail.message["auto-submitted"] == "auto-generated"
        assert set(mail.texts) == {"text/plain", "text/html"}
        assert mail.id.endswith("@example.org>")
        # Another message has another id.
        send(receiver.url)
        assert receiver.next().id != mail.id


@pytest.mark.parametrize("language", ["ar", "de", "en", "es", "fr", "ja"])
def test_messages_have_a_language(language):
    with MailReceiver() as receiver:
        send(receiver.url, "--language", language)
        mail = receiver.next()
        assert mail.message["content-language"] == language
        assert f'lang="{language}"' in mail.texts["text/html"]
        assert ('dir="rtl"' in mail.texts["text/html"]) == (language == "ar")


def test_starttls_and_a_login(sealed, pair):
    login = ("parley", "pä:ss@word/")
    url = "smtp://parley:p%C3%A4%3Ass%40word%2F@127.0.0.1"
    with MailReceiver(tls_context=sealed, require_starttls=True, login=login) as receiver:
        flags = ["--smtp-starttls", "required", "--smtp-ca-file", pair[0]]
        send(f"{url}:{receiver.port}", *flags)
        mail = receiver.next()
        assert mail.is_sealed
        assert receiver.logins == [login]
        error = send(f"smtp://parley:wrong@127.0.0.1:{receiver.port}", *flags, code=1)
        assert "does not accept name and password" in error and "wrong" not in error
        assert "does not accept name and password" in send(receiver.url, *flags, code=1)
        # The certificate is checked.
        assert "certificate is not valid" in send(receiver.url, *flags[:2], code=1)
        assert receiver.mails.empty()


def test_tls_from_the_first_byte(sealed, pair):
    with MailReceiver(ssl_context=sealed) as receiver:
        url = f"smtps://127.0.0.1:{receiver.port}"
        send(url, "--smtp-ca-file", pair[0])
        assert receiver.next().sender == "parley@example.org"
        assert "certificate is not valid" in send(url, code=1)


def test_nothing_is_sent_unencrypted_where_encryption_is_required():
    with MailReceiver() as receiver:
        error = send(receiver.url, "--smtp-starttls", "required", code=1)
        assert "cannot be encrypted" in error
        assert "cannot be encrypted" in send(receiver.url.replace("smtp:", "smtps:"), code=1)
        assert receiver.mails.empty()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("450 4.2.0 greylisted, ada@example.org", "does not take the message now (450)"),
        ("550 5.1.1 no such user ada@example.org", "refuses the message (550)"),
        ("421 4.3.2 shutting down", "not ready (421)"),
        ("530 5.7.0 authenticate first", "does not accept name and password (530)"),
    ],
)
def test_a_refusal_is_told_without_the_servers_words(answer, words):
    with MailReceiver(recipient=lambda address: answer) as receiver:
        error = send(receiver.url, code=1)
        assert words in error and "ada" not in error
    with MailReceiver(taken=lambda mail: answer) as receiver:
        error = send(receiver.url, code=1)
        assert words in error and "ada" not in error


def greets(text, then=b""):
    def serve(connection, released):
        connection.sendall(text)
        if then:
            connection.recv(1_000)
            connection.sendall(then)
        released.wait()

    return serve


def floods(connection, released):
    connection.sendall(b"220 ready\r\n")
    connection.recv(1_000)
    while not released.is_set():
        connection.sendall(b"250-" + b"x" * 900 + b"\r\n")


def one_endless_line(connection, released):
    connection.sendall(b"220 ")
    while not released.is_set():
        connection.sendall(b"x" * 900)


def closes(connection, released):
    connection.sendall(b"220 ready\r\n")
    connection.recv(1_000)


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (greets(b""), "did not answer in time"),
        (greets(b"220 ready\r\n"), "did not answer in time"),
        (greets(b"220-without\r\n220-an\r\n220-end\r\n"), "did not answer in time"),
        (greets(b"554 go away\r\n"), "not ready (554)"),
        (greets(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "did not answer in time"),
        (greets(b"220 ready\r\n", b"999 what\r\n"), "did not answer in time"),
        (floods, "failed"),
        (one_endless_line, "failed"),
        (closes, "failed"),
    ],
)
def test_a_server_that_breaks_the_protocol_is_left_in_time(serve, words):
    with strange_server(serve) as port:
        assert words in send(f"smtp://127.0.0.1:{port}", "--smtp-timeout", "2s", code=1)


def silent_at_the_end(connection, released):
    """Takes a message, and then answers nothing."""
    connection.sendall(b"220 ready\r\n")
    lines = connection.makefile("rb")
    for line in lines:
        word = line[:4].upper()
        if word == b"QUIT":
            # Until the client has closed the connection.
            connection.recv(1)
            return
        if word == b"DATA":
            connection.sendall(b"354 go on\r\n")
            while lines.readline() not in (b".\r\n", b""):
                pass
        connection.sendall(b"250 fine\r\n")


def test_a_taken_message_is_sent_whatever_follows():
    with strange_server(silent_at_the_end) as port:
        assert send(f"smtp://127.0.0.1:{port}") == "The mail server took the message."


def test_a_server_that_is_not_there():
    with strange_server(closes) as port:
        pass
    assert "connection to the mail server failed" in send(f"smtp://127.0.0.1:{port}", code=1)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--smtp-url", "smtp://mail.example.org"], "belong together"),
        (["--mail-from", "a@example.org"], "belong together"),
        (["--smtp-url", "http://mail.example.org"], "expects an address such as smtps://"),
        (["--smtp-url", "smtp://u:geheim@mail.example.org/x"], "expects an address such as smtps://"),
        (["--mail-from", "a@example.org\nBcc: e@example.org"], "expects a mail address"),
        (
            ["--smtp-url", "smtp://u:geheim@mail.example.org", "--mail-from", "a@example.org", "--smtp-starttls", "none"],
            "would send unencrypted",
        ),
    ],
)
def test_wrong_settings(flags, words):
    ended = subprocess.run(
        [PROGRAM, "mail", "test", "ada@example.org", *flags], capture_output=True, text=True, timeout=PROGRAM_SECONDS
    )
    assert ended.returncode == 2
    assert words in ended.stderr and "geheim" not in ended.stderr


@pytest.mark.parametrize("address", ["ada", "ada@example.org\r\nBcc: eve@example.org", "a b@example.org"])
def test_a_recipient_is_one_plain_address(address):
    with MailReceiver() as receiver:
        assert "expected a mail address" in send(receiver.url, code=2, address=address)
        assert receiver.mails.empty()


def test_a_password_is_not_shown():
    ended = subprocess.run(
        [PROGRAM, "check", "--smtp-url", "smtps://parley:geheim@mail.example.org", "--mail-from", FROM, "--json"],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert "geheim" not in ended.stdout + ended.stderr
    assert "smtps://mail.example.org:465" in ended.stdout


def invite(users, *flags, code=0):
    ended = subprocess.run(
        [PROGRAM, "invite", "make", "--users-file", users, "--data-dir", users.parent, "--mail-from", FROM, *map(str, flags)],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    return ended.stdout.strip(), ended.stderr


PAGE = ["--page", "https://notes.example.org"]


def test_an_invitation_is_sent(tmp_path):
    users = tmp_path / "users"
    users.touch()
    with MailReceiver() as receiver:
        link, _ = invite(users, "--smtp-url", receiver.url, "--mail", "ada@example.org", "--language", "fr", *PAGE)
        mail = receiver.next()
        assert mail.recipients == ["ada@example.org"]
        assert mail.message["subject"] == "Invitation à Parley"
        assert link.startswith("https://notes.example.org/#invite=pi_")
        assert link in mail.texts["text/plain"] and f'href="{link}"' in mail.texts["text/html"]
    with MailReceiver(recipient=lambda address: "550 no") as receiver:
        link, error = invite(users, "--smtp-url", receiver.url, "--mail", "ada@example.org", *PAGE, code=1)
        assert "#invite=pi_" in link and "pass the link on yourself" in error
        _, error = invite(users, "--smtp-url", receiver.url, "--mail", "ada@example.org", code=2)
        assert "--mail needs the page's address" in error
        _, error = invite(users, "--smtp-url", receiver.url, "--mail", "ada", *PAGE, code=2)
        assert "expected a mail address" in error
        _, error = invite(users, "--smtp-url", receiver.url, "--mail", "a@example.org", "--uses", "2", *PAGE, code=2)
        assert "--uses must be 1" in error
    # Wrong words make no invitation.
    assert len([line for line in (tmp_path / "invitations").read_text().splitlines() if "uses:1" in line]) == 2
