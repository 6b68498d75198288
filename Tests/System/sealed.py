"""A WebSocket over TLS whose OpenSSL session is used by only one thread.

The library for WebSockets reads in one thread and writes in another. On one session that sometimes stops for ever.
"""

import contextlib
import select
import socket
import ssl
import threading
import urllib.parse

from websockets.sync.client import connect

# The errors of a non-blocking socket that would have to wait.
NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def connect_sealed(address, context, **options):
    """A WebSocket at a `wss:` address."""
    url = urllib.parse.urlsplit(address)
    sealed = context.wrap_socket(socket.create_connection((url.hostname, url.port)), server_hostname=url.hostname)
    near, far = socket.socketpair()
    threading.Thread(target=forward, args=(sealed, far), daemon=True).start()
    return connect(url._replace(scheme="ws").geturl(), sock=near, compression=None, **options)


def forward(sealed, plain):
    """Passes bytes on between two sockets until one of them ends."""
    others = {sealed: plain, plain: sealed}
    unsent = {sealed: b"", plain: b""}
    with sealed, plain, contextlib.suppress(OSError):
        for end in others:
            end.setblocking(False)
        while True:
            readers = [end for end, other in others.items() if not unsent[other]]
            writers = [end for end in others if unsent[end]]
            # Bytes that the session has already decrypted do not make the socket readable.
            select.select(readers, writers, [], 0 if sealed.pending() else None)
            for end in readers:
                with contextlib.suppress(*NOT_YET):
                    data = end.recv(65_536)
                    if not data:
                        return
                    unsent[others[end]] = data
            for end in others:
                with contextlib.suppress(*NOT_YET):
                    unsent[end] = unsent[end][end.send(unsent[end]) :] if unsent[end] else b""
