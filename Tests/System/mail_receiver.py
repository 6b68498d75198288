"""Mail servers that answer as a test requests: aiosmtpd, and sockets that break the protocol."""

import contextlib
import queue
import socket
import threading
from email import message_from_bytes
from email.policy import SMTP

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from patience import SECONDS
from ports import free_port


class ReceivedMail:
    """A message, and the addresses of its envelope."""

    def __init__(self, envelope, session):
        self.sender = envelope.mail_from
        self.recipients = envelope.rcpt_tos
        self.raw = envelope.content
        self.message = message_from_bytes(self.raw, policy=SMTP)
        self.is_sealed = session.ssl is not None

    @property
    def id(self):
        return self.message["message-id"]

    @property
    def texts(self):
        parts = [part for part in self.message.walk() if not part.is_multipart()]
        return {part.get_content_type(): part.get_content() for part in parts}


class MailReceiver:
    """Takes messages, or answers with the result of `recipient(address)` or `taken(mail)` if it is a text."""

    def __init__(self, *, recipient=lambda address: None, taken=lambda mail: None, login=None, **options):
        self.mails = queue.Queue()
        self.recipient = recipient
        self.taken = taken
        self.logins = []
        receiver = self

        class Handler:
            async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
                if answer := receiver.recipient(address):
                    return answer
                envelope.rcpt_tos.append(address)
                return "250 fine"

            async def handle_DATA(self, server, session, envelope):
                mail = ReceivedMail(envelope, session)
                if answer := receiver.taken(mail):
                    return answer
                receiver.mails.put(mail)
                return "250 taken"

        def authenticate(server, session, envelope, mechanism, data):
            given = (data.login.decode(), data.password.decode())
            receiver.logins.append(given)
            # Not handled: aiosmtpd answers.
            return AuthResult(success=given == login, handled=False)

        if login:
            options |= {"authenticator": authenticate, "auth_required": True}
        self.port = free_port()
        self.controller = Controller(Handler(), hostname="127.0.0.1", port=self.port, **options)

    def __enter__(self):
        self.controller.start()
        return self

    def __exit__(self, *_):
        self.controller.stop()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def next(self):
        return self.mails.get(timeout=SECONDS)


@contextlib.contextmanager
def strange_server(serve):
    """Calls `serve(connection, released)` for each connection, in a thread; yields the port."""
    released = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def work():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                serve(connection, released)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        released.set()
        # Ends a waiting `accept`, which closing alone does not.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(SECONDS)
