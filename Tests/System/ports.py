"""Ports for servers that are named before they start, or that start again where they were."""

import contextlib
import fcntl
import os
import pathlib
import socket
import tempfile

# Ports below the ephemeral range, so that the system gives them to no other server or connection meanwhile.
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
    """Returns a free port that no other process of the tests gets while a server starts."""
    while True:
        port = PORTS[next_number() % len(PORTS)]
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
