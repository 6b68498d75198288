"""The proxies' examples under Packaging/proxies: each is started as it is, but for ports and paths, and
everything is reached through it, encrypted, at the root of the site and below a path."""

import json
import re
import shutil
import socket
from urllib.parse import urljoin, urlparse

import pytest
from parley_server import ParleyServer
from proxies import Proxy


@pytest.fixture(scope="module", params=["nginx", "haproxy", "caddy"])
def proxy(request, tmp_path_factory):
    assert shutil.which(request.param, path="/usr/sbin:/usr/bin"), "make installs it"
    folder = tmp_path_factory.mktemp(request.param)
    server = ParleyServer(folder, "--trusted-proxy", "127.0.0.1").start()
    proxy = Proxy(request.param, folder, server)
    try:
        yield proxy.await_ready()
    finally:
        proxy.stop()
        assert server.stop() == 0


PREFIXES = ["", "/parley"]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_page_and_all_that_it_loads(proxy, prefix):
    for page in ("/", "/n/some-note", "/admin"):
        status, text = proxy.fetch(prefix + page)
        assert (status, "<!doctype html>" in text.lower()) == (200, True)
        here = f"https://x{prefix}{page}"
        links = re.findall(r'(?:href|src)="([^"#]+)', text)
        assert len(links) > 3
        for link in set(links):
            path = urlparse(urljoin(here, link)).path
            assert path == prefix + "/" or path.startswith(prefix + "/assets/"), (link, path)
            assert proxy.fetch(path)[0] == 200, path


@pytest.mark.parametrize("prefix", PREFIXES)
def test_notes_over_http_and_websocket(proxy, prefix):
    origin = f"https://127.0.0.1:{proxy.port}"
    status, body = proxy.fetch(
        prefix + "/api/notes", "-H", "content-type: application/json", "-H", f"origin: {origin}",
        "-d", '{"title":"behind"}',
    )  # fmt: skip
    assert status == 201
    note = json.loads(body)["id"]
    large = "x" * 1_500_000
    file = proxy.folder / "large"
    file.write_text(large)
    status, _ = proxy.fetch(
        f"{prefix}/api/notes/{note}/text", "-X", "PUT", "-H", "content-type: text/plain",
        "--data-binary", f"@{file}",
    )  # fmt: skip
    assert status == 200
    assert json.loads(proxy.fetch(f"{prefix}/api/notes/{note}/text")[1])["text"] == large
    with proxy.open(prefix + "/ws", subprotocols=["parley.v1"], origin=origin) as line:
        line.send('{"messageId":"1","type":"hello","data":{"name":"A","color":"#3366cc"}}')
        assert json.loads(line.recv(timeout=30))["type"] == "welcome"
        line.send(json.dumps({"messageId": "2", "type": "join", "data": {"documentId": note}}))
        while (message := json.loads(line.recv(timeout=30)))["messageId"] != "2":
            pass
        assert message["type"] == "joined"


@pytest.mark.parametrize("prefix", PREFIXES)
def test_socket_io_by_polling_and_by_websocket(proxy, prefix):
    status, body = proxy.fetch(prefix + "/socket/?EIO=4&transport=polling")
    assert status == 200
    assert body.startswith('0{"sid"')
    with proxy.open(prefix + "/socket/?EIO=4&transport=websocket") as line:
        assert line.recv(timeout=30).startswith('0{"sid"')


@pytest.mark.parametrize("prefix", PREFIXES)
def test_faye_by_polling_and_by_websocket(proxy, prefix):
    handshake = json.dumps(
        [{"channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["websocket"]}]
    )
    status, body = proxy.fetch(
        prefix + "/faye", "-H", "content-type: application/json", "-d", handshake
    )
    assert status == 200
    assert json.loads(body)[0]["successful"] is True
    with proxy.open(prefix + "/faye") as line:
        line.send(handshake)
        assert json.loads(line.recv(timeout=30))[0]["successful"] is True


def test_unencrypted_requests_are_redirected(proxy):
    if not (proxy.folder / "Caddyfile").exists():
        with socket.create_connection(("127.0.0.1", proxy.plain_port), timeout=30) as line:
            line.sendall(b"GET /n/a HTTP/1.1\r\nHost: notes.example.org\r\nConnection: close\r\n\r\n")
            answer = b""
            while piece := line.recv(4096):
                answer += piece
        assert re.match(rb"HTTP/1.1 30[12]", answer)
        assert b"https://notes.example.org/n/a" in answer.replace(b":443", b"")
