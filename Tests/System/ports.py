"""Ports for servers that are named before they start, or that start again where they were."""

import contextlib
import fcntl
import os
import pathlib
import socket
import tempfile

# Below those that systems choose themselves: no other server or connection gets one of these meanwhile.
PORTS = range(20_000, 32_000)
# The number of ports that processes of this user have named, which all of them share.
COUNT = pathlib.Path(tempfile.gettempdir()) / f"parley-test-ports-{os.getuid()}"


def next_number():
    with open(COUNT, "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = int(file.read() or 0)
        file.truncate(0)
        file.write(str(number + 1))
    return number


def free_port():
    """A port that is free, and that no other process names while its server starts."""
    while True:
        port = PORTS[next_number() % len(PORTS)]
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
