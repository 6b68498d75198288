"""Ports for servers that are named before they start, or that start again where they were."""

import contextlib
import itertools
import os
import socket

# Below those that systems choose themselves: no other server or connection gets one of these meanwhile.
PORTS = range(20_000, 32_000)
tried = itertools.count(os.getpid() * 7_919)


def free_port():
    """A port that this process names once, and that is free."""
    while True:
        port = PORTS[next(tried) % len(PORTS)]
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
