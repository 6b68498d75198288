"""A service that records its calls, and answers as a test requests."""

import http.server
import json
import queue
import threading

from patience import SECONDS

HANG = "hang"
DROP = "drop"


class Call:
    """A call and its answer."""

    def __init__(self, path, headers, body, answer):
        self.path = path
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body
        self.answer = answer

    @property
    def id(self):
        return self.headers["webhook-id"]

    @property
    def data(self):
        return json.loads(self.body)

    @property
    def events(self):
        return self.data["events"]


class HookReceiver:
    """Answers with 204, or with the result of `answer(call)`: a status, a status with headers, HANG or DROP."""

    def __init__(self, answer=lambda call: 204):
        self.answer = answer
        self.calls = queue.Queue()
        self.released = threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                call = Call(self.path, self.headers, body, None)
                call.answer = answer = receiver.answer(call)
                receiver.calls.put(call)
                if answer == HANG:
                    receiver.released.wait()
                if answer in (HANG, DROP):
                    self.close_connection = True
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                body = b"" if status == 204 else b"read by nobody"
                if body:
                    self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            # Callers may be killed.
            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?app=1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        """Returns the next call, with any answer."""
        return self.calls.get(timeout=SECONDS)

    def next_taken(self):
        """Returns the next call that was answered with success."""
        while True:
            call = self.next()
            if call.answer == 204:
                return call

    def events_until(self, is_last):
        """Returns all accepted events up to a certain one, without repetitions."""
        events = {}
        while not any(is_last(event) for event in events.values()):
            for event in self.next_taken().events:
                assert events.setdefault(event["id"], event) == event
        return list(events.values())

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
