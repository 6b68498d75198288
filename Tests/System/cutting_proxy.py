"""An unreliable network: forwards TCP to a server, and cuts connections.

The life of a connection is counted in bytes of both directions, so that a cut can be anywhere,
even within a frame or the handshake.
"""

import random
import selectors
from patience import SECONDS
import socket
import struct
import threading


class CuttingProxy:
    """A proxy with its own thread, which runs until it is closed. Clients connect to `port`."""

    def __init__(self, server_port, seed, bytes_min, bytes_max):
        self.server_port = server_port
        self.rng = random.Random(seed)
        self.lives = (bytes_min, bytes_max)
        self.cuts = {"reset": 0, "end": 0, "silence": 0}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.silenced = set()
        self.lock = threading.Lock()
        self.is_whole = False
        # Disable this for clients that wait for a reply without detecting a silent connection.
        self.may_silence = True
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.waker, self.wakened = socket.socketpair()
        self.selector.register(self.wakened, selectors.EVENT_READ, None)
        self.links = set()
        self.have_cut = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def is_silent(self, client_port):
        """Returns whether a connection looks open, but forwards nothing."""
        with self.lock:
            return client_port in self.silenced

    def mend(self):
        """Stops cutting connections."""
        with self.lock:
            self.is_whole = True

    def wear(self):
        """Resumes cutting after `mend`. Each connection has the rest of its life."""
        with self.lock:
            self.is_whole = False

    def cut_all(self):
        """Ends all open connections, including silent ones."""
        self.have_cut.clear()
        self.waker.send(b"c")
        self.have_cut.wait()

    def close(self):
        self.waker.send(b"x")
        self.thread.join()

    def _run(self):
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.listener:
                    self._accept()
                elif key.fileobj is self.wakened:
                    if self.wakened.recv(1) == b"x":
                        return self._end()
                    for link in list(self.links):
                        self._close(link)
                    self.have_cut.set()
                elif key.data in self.links and not key.data.is_silent:
                    self._forward(key.data, key.fileobj)

    def _end(self):
        for link in list(self.links):
            self._close(link)
        for end in (self.listener, self.waker, self.wakened):
            end.close()
        self.selector.close()

    def _accept(self):
        client, _ = self.listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self.server_port), timeout=SECONDS)
        except OSError:
            client.close()
            return
        client.settimeout(SECONDS)
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = _Link(client, server, self.rng.randint(*self.lives))
        self.links.add(link)
        self.selector.register(client, selectors.EVENT_READ, link)
        self.selector.register(server, selectors.EVENT_READ, link)

    def _forward(self, link, source):
        sink = link.server if source is link.client else link.client
        try:
            data = source.recv(65536)
            with self.lock:
                passing = len(data) if self.is_whole else min(len(data), link.bytes_left)
                link.bytes_left -= 0 if self.is_whole else passing
            sink.sendall(data[:passing])
        except OSError:
            return self._close(link)
        if not data:
            self._close(link)
        elif passing < len(data):
            kinds = ["reset", "end", "silence"]
            self._cut(link, self.rng.choice(kinds if self.may_silence else kinds[:2]))

    def _cut(self, link, kind):
        self.cuts[kind] += 1
        if kind == "silence":
            link.is_silent = True
            for end in (link.client, link.server):
                self.selector.unregister(end)
            with self.lock:
                self.silenced.add(link.client_port)
            return
        if kind == "reset":
            for end in (link.client, link.server):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._close(link)

    def _close(self, link):
        if link not in self.links:
            return
        self.links.remove(link)
        for end in (link.client, link.server):
            if not link.is_silent:
                self.selector.unregister(end)
            end.close()


class _Link:
    """One connection, with its two sockets."""

    def __init__(self, client, server, bytes_left):
        self.client = client
        self.server = server
        self.client_port = client.getpeername()[1]
        self.bytes_left = bytes_left
        self.is_silent = False
