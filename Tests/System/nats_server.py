"""A NATS server for tests, on a free port."""

import socket
import subprocess
import threading

from ports import free_port


class NatsServer:
    def __init__(self):
        self.port = free_port()
        self.process = None

    @property
    def address(self):
        return f"nats://127.0.0.1:{self.port}"

    def start(self):
        """Starts the server, and returns when it accepts connections."""
        self.process = subprocess.Popen(
            ["nats-server", "-a", "127.0.0.1", "-p", str(self.port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/sbin:/usr/bin:/bin"},
        )  # fmt: skip
        while True:
            assert self.process.poll() is None, "expected nats-server; install the package"
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                threading.Event().wait(0.01)

    def stop(self):
        self.process.kill()
        self.process.wait()
