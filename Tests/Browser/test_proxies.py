"""The message of the page behind a proxy that forwards HTTP, but not WebSockets."""

import re
import socket
import threading

from playwright.sync_api import expect


class StrippingProxy:
    """Forwards TCP to a server, and removes `Upgrade` from requests, as proxies do by default."""

    def __init__(self, port):
        self.target = port
        self.strips = True
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                # The server is restarting; later connections reach it.
                client.close()
                continue
            for pair in ((client, server, self.strips), (server, client, False)):
                threading.Thread(target=self.forward, args=pair, daemon=True).start()

    @staticmethod
    def forward(source, target, strips):
        try:
            while data := source.recv(65536):
                target.sendall(re.sub(rb"(?i)\r\nupgrade: [^\r]*", b"", data) if strips else data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


def test_a_proxy_that_does_not_forward_websockets_is_reported(server, person):
    """Text typed meanwhile is stored, and reaches the server when the proxy is fixed."""
    note = server.create("Behind a proxy")
    proxy = StrippingProxy(server.port)
    proxy.strips = False
    server.url = proxy.url
    ann = person("Ann").open(note)
    ann.type("before ")
    ann.wait_until_saved()

    proxy.strips = True
    server.kill()
    server.start()
    ann.type("meanwhile")
    blocked = re.compile("Live connections do not get through")
    expect(ann.page.locator("#notices")).to_contain_text(blocked)
    expect(ann.page.locator("#line-text")).to_contain_text(blocked)
    ann.picture("behind-a-proxy")

    proxy.strips = False
    ann.wait_until_saved()
    expect(ann.page.locator("#notices")).not_to_contain_text(blocked)
    person("Bo").open(note).wait_for_text("before meanwhile")
    proxy.close()
