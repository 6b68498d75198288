"""The real program, started on a free port with a new data folder."""

import http.client
import json
import os
import pathlib
import signal
import subprocess

from patience import SECONDS
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def built(name, variable):
    """Returns the path of a built program, which an environment variable may replace.

    Child processes inherit the choice under another name: Parley reads each variable that begins with `PARLEY_` as a
    setting, and rejects those that it does not know.
    """
    inherited = variable.removeprefix("PARLEY_") + "_UNDER_TEST"
    if variable in os.environ:
        os.environ[inherited] = os.path.abspath(os.environ.pop(variable))
    return os.environ.get(inherited, str(ROOT / ".build" / "release" / name))


PROGRAM = built("parley", "PARLEY_PROGRAM")


class ParleyServer:
    """Runs `parley serve`; can be killed and started again over the same data."""

    def __init__(self, folder, *flags, environment=None, before_start=None):
        self.data = pathlib.Path(folder) / "data"
        self.log = pathlib.Path(folder) / "parley.log"
        self.flags = list(flags)
        self.environment = environment or {}
        self.before_start = before_start
        self.port = free_port()
        self.output = []
        self.process = None

    def start(self):
        """Starts the program, and returns when it listens: on the port it had before, if any."""
        return self.launch().await_listening()

    def launch(self):
        """Starts the program without waiting for it to listen."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")
        } | self.environment
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [
                    PROGRAM, "serve", "--port", str(self.port), "--data-dir", str(self.data),
                    "--web-dir", str(ROOT / "Web"), *self.flags,
                ],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                env=environment, cwd=self.data.parent,
                preexec_fn=self.before_start,
            )  # fmt: skip
        self.output = []
        return self

    def await_listening(self):
        """Returns when a launched program listens."""
        for line in self.process.stdout:
            self.output.append(line.rstrip("\n"))
            if line.startswith("listening on "):
                self.port = int(line.rsplit(":", 1)[1])
                return self
        raise AssertionError(
            f"parley ended with {self.process.wait()} before it listened:\n"
            + "\n".join(self.output)
            + self.log.read_text()
        )

    def kill(self):
        """Ends the program as a power cut would: SIGKILL, no last words."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """Stops the program in order, and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        self.output += self.process.stdout.read().splitlines()
        self.process.stdout.close()
        return self.process.wait()

    @property
    def store_flags(self):
        """Returns the flags for its database; none for a file."""
        if "--store-url" not in self.flags:
            return []
        place = self.flags.index("--store-url")
        return self.flags[place : place + 2]

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, headers=None):
        """Sends an HTTP request. Returns status, headers and body as bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def create_note(self, title="A note"):
        """Creates a note, and returns its id."""
        status, _, body = self.request("POST", "/api/notes", {"title": title})
        assert status == 201, (status, body)
        return json.loads(body)["id"]
