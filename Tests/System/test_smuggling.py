"""Requests whose length or end two readers could see in two ways, sent through real proxies: what a proxy
passes on as one request is one request to the server, and nothing inside a body is ever another.

A recorder is between the two. A request that the proxy passes on carries the header that the
example adds, which no client here sends; a request that the server sees gets an answer.
"""

import json
import re
import shutil
import socket
import ssl
import threading

import pytest
from parley_server import ParleyServer
from patience import SECONDS
from proxies import Proxy

PASSED_ON = re.compile(rb"\r\nx-forwarded-proto: https\r\n", re.IGNORECASE)


def note(title, *lines, target=b"/api/notes"):
    """A whole request that makes a note."""
    body = json.dumps({"title": title}).encode()
    lines = [b"Content-Type: application/json", b"Content-Length: %d" % len(body), *lines]
    return head(b"POST " + target + b" HTTP/1.1", *lines) + body


def head(first, *lines):
    return b"\r\n".join([first, b"Host: localhost", *lines, b"", b""])


INNER = note("smuggled")


def post(*lines, body=b""):
    return head(b"POST /api/notes HTTP/1.1", *lines) + body


def both(coding, chunks=b"0\r\n\r\n" + INNER, name=b"Transfer-Encoding: "):
    """A body that ends before a hidden request by its chunks, and behind it by its length."""
    return post(name + coding, b"Content-Length: %d" % len(chunks), body=chunks)


def chunked(body, *lines):
    return post(b"Transfer-Encoding: chunked", *lines, body=body)


def chunk(data, size=None, end=b"\r\n"):
    return (size or b"%x" % len(data)) + b"\r\n" + data + end


LAST = b"0\r\n\r\n"
LENGTH = b"Content-Length: %d" % len(INNER)
GET = head(b"GET /api/notes?limit=1 HTTP/1.1")
UPGRADE = [b"Connection: Upgrade", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]

CASES = {
    # Two lengths.
    "length twice, equal": post(LENGTH, LENGTH, body=INNER),
    "length twice, first short": post(b"Content-Length: 0", LENGTH, body=INNER),
    "length twice, last short": post(LENGTH, b"Content-Length: 0", body=INNER),
    "length as a list": post(b"Content-Length: 0, %d" % len(INNER), body=INNER),
    **{
        f"length {text!r}": post(b"Content-Length: " + text, body=INNER)
        for text in (
            b"", b"+%d" % len(INNER), b"-1", b"0x10", b"1_0", b"1.0", b"1e1", b"0 %d" % len(INNER),
            b"%d\x0b" % len(INNER), b"\xb2", b"18446744073709551616", b"00%d" % len(INNER),
        )
    },
    # A length and chunks.
    "length and chunks": both(b"chunked"),
    "chunks and a short length": chunked(chunk(INNER) + LAST, b"Content-Length: 4"),
    **{
        f"coding {text!r}": both(text)
        for text in (
            b"Chunked", b"chunked ", b"\tchunked", b"\x0bchunked", b"xchunked", b"chunked, identity",
            b"identity, chunked", b"chunked, chunked", b"gzip, chunked", b'"chunked"', b"chunked;q=1",
            b",chunked", b"chunked,", b"\x00chunked", b"",
        )
    },
    **{
        f"field {name!r}": both(b"chunked", name=name)
        for name in (
            b"Transfer-Encoding : ", b"Transfer-Encoding\t: ", b" Transfer-Encoding: ",
            b"X: x\nTransfer-Encoding: ", b"X: x\rTransfer-Encoding: ", b"X: x\r\n\tTransfer-Encoding: ",
            b"Transfer_Encoding: ", b"Transfer-Encodin: ", b"Transfer-Encoding-X: ",
            b"XTransfer-Encoding: ", b"Transfer-Encoding;: ", b"\x00Transfer-Encoding: ", b": ",
            b"Transfer-Encoding: x\r\nTransfer-Encoding: ", b"TRANSFER-ENCODING: ",
            b"Transfer-Encoding:\r\n ", b"Transfer-\xc3\x9cncoding: ",
        )
    },
    **{
        f"length field {name!r}": post(name + b"%d" % len(INNER), body=INNER)
        for name in (
            b"Content-Length : ", b"Content-Lengt: ", b"Content-Length-X: ", b"Content_Length: ",
            b" Content-Length: ", b"X: x\nContent-Length: ", b"Content-Length:\r\n ",
            b"Content-Length: 0\r\nX-Content-Length: ", b"CONTENT-LENGTH: ",
        )
    },
    # Chunks.
    "chunks": chunked(chunk(INNER) + LAST),
    "chunk extension": chunked(chunk(INNER, b"%x;a=b" % len(INNER)) + LAST),
    "chunk extension with a quoted line": chunked(chunk(INNER, b'%x;a="\r\nb"' % len(INNER)) + LAST),
    "chunk extension with a bare LF": chunked(chunk(INNER, b"%x;a\nb" % len(INNER)) + LAST),
    "last chunk with an extension": chunked(b"0;" + b"x" * 20 + b"\r\n\r\n"),
    **{
        f"chunk size {size!r}": chunked(chunk(INNER, size) + LAST)
        for size in (
            b"00%x" % len(INNER), b"0x%x" % len(INNER), b"+%x" % len(INNER), b" %x" % len(INNER),
            b"%x " % len(INNER), b"%x\t" % len(INNER), b"%x\x0b" % len(INNER), b"-1",
            b"1%016x" % len(INNER), b"%x_" % len(INNER),
        )
    },
    "chunk size with a bare LF": chunked(b"%x\n" % len(INNER) + INNER + b"\r\n" + LAST),
    "chunk longer than its size": chunked(chunk(b"x" + INNER, b"1") + LAST),
    "chunk that ends in LF": chunked(chunk(INNER, end=b"\n") + LAST),
    "last chunk that ends in LF": chunked(b"0\n\n" + INNER),
    "trailers": chunked(b"0\r\nContent-Length: %d\r\nX: y\r\n\r\n" % len(INNER) + INNER),
    "trailer with a bare LF": chunked(b"0\r\nX: y\n\r\n" + INNER),
    "chunks by HTTP/1.0": head(
        b"POST /api/notes HTTP/1.0", b"Transfer-Encoding: chunked", b"Connection: keep-alive"
    )
    + LAST
    + INNER,
    # Heads.
    "bare LF for all line ends": note("other").replace(b"\r\n", b"\n"),
    "bare LF before the end": head(b"GET /api/notes HTTP/1.1")[:-2] + b"\n" + INNER,
    "bare CR in a value": head(b"GET /api/notes HTTP/1.1", b"X: a\r" + INNER.split(b"\r\n")[0]) + INNER,
    "zero byte in a value": head(b"GET /api/notes HTTP/1.1", b"X: \x00", LENGTH) + INNER,
    "folded value": head(b"GET /api/notes HTTP/1.1", b"X: a\r\n b", LENGTH) + INNER,
    "line without a colon": head(b"GET /api/notes HTTP/1.1", b"nothing", LENGTH) + INNER,
    "two hosts": head(b"GET /api/notes HTTP/1.1", b"Host: other", LENGTH) + INNER,
    "no version": b"GET /api/notes\r\n\r\n" + INNER,
    "space in a target": head(b"GET /api/notes HTTP/1.1 /x HTTP/1.1", LENGTH) + INNER,
    "line break in a target": head(b"GET /api/notes?%0d%0aX:%20y HTTP/1.1"),
    "absolute target": note("absolute", target=b"http://localhost/api/notes"),
    "absolute target of another host": note("other", target=b"http://other.example/api/notes"),
    "target of two slashes": note("slashes", target=b"//api/notes"),
    "target with dots": note("dots", target=b"/a/../api/notes"),
    "target with a fragment": note("fragment", target=b"/api/notes#x"),
    # Methods and bodies.
    "two at once": GET + GET,
    "two notes at once": note("one") + note("two"),
    "empty lines between": b"\r\n" + GET + b"\r\n" + GET,
    "GET with a body": head(b"GET /api/notes HTTP/1.1", LENGTH) + INNER,
    "GET with chunks": head(b"GET /api/notes HTTP/1.1", b"Transfer-Encoding: chunked")
    + chunk(INNER)
    + LAST,
    "DELETE with a body": head(b"DELETE /api/notes/nope HTTP/1.1", LENGTH) + INNER,
    "OPTIONS with a body": head(b"OPTIONS /api/notes HTTP/1.1", LENGTH) + INNER,
    "unknown method with a body": head(b"FROB /api/notes HTTP/1.1", LENGTH) + INNER,
    "body where none is wanted": head(b"POST /health HTTP/1.1", LENGTH) + INNER,
    "expectation": post(b"Expect: 100-continue", LENGTH, body=INNER),
    "unknown expectation": post(b"Expect: 200-ok", LENGTH, body=INNER),
    "upgrade with a body": head(b"GET /ws HTTP/1.1", b"Upgrade: websocket", *UPGRADE, LENGTH) + INNER,
    "refused upgrade": head(
        b"GET /ws HTTP/1.1", b"Upgrade: websocket", *UPGRADE, b"Sec-WebSocket-Version: 7"
    )
    + INNER,
    "unknown upgrade": head(b"GET /api/notes HTTP/1.1", b"Upgrade: h2c", b"Connection: Upgrade", LENGTH)
    + INNER,
    "fields of one hop": post(b"Connection: close, Content-Length", LENGTH, body=INNER),
}  # fmt: skip


class Recorder:
    """Passes connections on, and keeps what went through each."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.links = []
        self.mutex = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                proxy, _ = self.listener.accept()
            except OSError:
                return
            link = Link(proxy, socket.create_connection(("127.0.0.1", self.target), SECONDS))
            with self.mutex:
                self.links.append(link)

    def take(self):
        """All connections until now, each after the server has ended it."""
        with self.mutex:
            links, self.links = self.links, []
        for link in links:
            link.end()
        # HAProxy looks whether the server is ready.
        return [link for link in links if link.asked and not link.asked.startswith(b"GET /ready ")]

    def close(self):
        self.listener.close()
        self.take()


class Link:
    def __init__(self, proxy, server):
        self.proxy, self.server = proxy, server
        self.asked = self.answered = b""
        self.up = threading.Thread(target=self.pass_up, daemon=True)
        self.down = threading.Thread(target=self.pass_down, daemon=True)
        self.up.start()
        self.down.start()

    def pass_up(self):
        try:
            while piece := self.proxy.recv(65_536):
                self.asked += piece
                self.server.sendall(piece)
        except OSError:
            pass
        try:
            self.server.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def pass_down(self):
        try:
            while piece := self.server.recv(65_536):
                self.answered += piece
                self.proxy.sendall(piece)
        except OSError:
            pass
        try:
            self.proxy.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def end(self):
        """Lets the server answer the requests that it has, and ends the connection."""
        try:
            self.proxy.shutdown(socket.SHUT_RD)
        except OSError:
            pass
        self.up.join()
        self.down.join()
        self.proxy.close()
        self.server.close()


def answers(said):
    """Statuses and bodies of the answers in a stream that has ended."""
    found = []
    while said:
        if not said.startswith(b"HTTP/"):
            # An answer without a head, to a request without a version.
            return [*found, (200, said)]
        head, _, rest = said.partition(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        fields = dict(
            line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
        )
        if fields.get(b"transfer-encoding") == b"chunked":
            body = b""
            while size := int((line := rest.partition(b"\r\n"))[0], 16):
                body, rest = body + line[2][:size], line[2][size + 2 :]
            said = rest.partition(b"\r\n\r\n")[2]
        elif b"content-length" in fields or status < 200:
            size = int(fields.get(b"content-length", b"0"))
            body, said = rest[:size], rest[size:]
        else:
            body, said = rest, b""
        if status >= 200:
            found.append((status, body))
    return found


def send(proxy, stream):
    """Sends a stream, and returns the answer until the proxy ends the connection."""
    context = ssl.create_default_context(cafile=proxy.certificate)
    plain = socket.create_connection(("127.0.0.1", proxy.port), SECONDS)
    with context.wrap_socket(plain, server_hostname="127.0.0.1") as line:
        said = b""
        try:
            line.sendall(stream)
            while piece := line.recv(65_536):
                said += piece
        except (ConnectionError, ssl.SSLError):
            pass
    return answers(said)


def exchange(proxy, recorder, stream):
    """Sends a stream and then one more request; returns the client's answer, and for each connection
    to the server the numbers of forwarded and of answered requests."""
    heard = send(proxy, stream + note("sentinel", b"Connection: close"))
    return heard, [
        (len(PASSED_ON.findall(link.asked)), len(answers(link.answered)), link)
        for link in recorder.take()
    ]


@pytest.fixture(scope="module", params=["nginx", "haproxy"])
def between(request, tmp_path_factory):
    assert shutil.which(request.param, path="/usr/sbin:/usr/bin"), "make installs it"
    folder = tmp_path_factory.mktemp(request.param)
    server = ParleyServer(folder, "--trusted-proxy", "127.0.0.1").start()
    recorder = Recorder(server.port)
    proxy = Proxy(request.param, folder, recorder)
    try:
        proxy.await_ready()
        recorder.take()
        yield proxy, recorder, server
    finally:
        proxy.stop()
        recorder.close()
        assert server.stop() == 0


@pytest.mark.parametrize("case", CASES)
def test_proxy_and_server_see_the_same_requests(between, case):
    proxy, recorder, server = between
    heard, counts = exchange(proxy, recorder, CASES[case])
    for passed_on, answered, link in counts:
        # After a request that it refused, the server has ended the connection.
        assert answered <= passed_on, (link.asked, link.answered)
        assert answered == passed_on or b"\r\nconnection: close\r\n" in link.answered.lower()
    titles = [json.loads(body)["title"] for status, body in heard if status == 201]
    assert titles.count("sentinel") <= 1
    assert "sentinel" not in titles[:-1], "an answer came to another's request"


class Careless:
    """A server that reads a head, answers, and takes whatever follows for the next head."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(line,), daemon=True).start()

    def answer(self, line):
        bytes = b""
        with line:
            while piece := line.recv(65_536):
                bytes += piece
                while (end := bytes.find(b"\r\n\r\n")) >= 0:
                    bytes = bytes[end + 4 :]
                    line.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")


@pytest.mark.parametrize("kind", ["nginx", "haproxy"])
@pytest.mark.parametrize("case", ["chunks", "GET with a body"])
def test_a_server_with_another_length_is_detected(kind, case, tmp_path):
    """The comparison above is one that a server can fail."""
    server = Careless()
    recorder = Recorder(server.port)
    proxy = Proxy(kind, tmp_path, recorder)
    try:
        proxy.await_ready()
        recorder.take()
        _, counts = exchange(proxy, recorder, CASES[case])
        assert any(answered > passed_on for passed_on, answered, _ in counts)
    finally:
        proxy.stop()
        server.listener.close()
        recorder.close()
