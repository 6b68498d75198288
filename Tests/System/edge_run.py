"""Sends malformed byte streams to the real program, and checks after each that it still serves.

A test runs a thousand streams; `make edge-fuzz` runs any number.
"""

import argparse
import contextlib
import http.client
import pathlib
import socket
import ssl
import tempfile

from byte_streams import pieces
from native_client import NativeClient
from parley_server import ParleyServer
from patience import SECONDS
from test_tls import make_certificate


def throw(port, seed, context):
    """Sends a stream, ends the sending side, and reads until the server closes."""
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), SECONDS)) as plain:
        connection = context.wrap_socket(plain, server_hostname="127.0.0.1") if context else plain
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            for piece in pieces(seed):
                connection.sendall(piece)
            # End only TCP, also under TLS: neither side sends a close notification here.
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
        connection.close()


def assert_well(port, context):
    """Checks that the server answers a valid request."""
    if context:
        asking = http.client.HTTPSConnection("127.0.0.1", port, timeout=SECONDS, context=context)
    else:
        asking = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    with contextlib.closing(asking):
        asking.request("GET", "/health")
        assert asking.getresponse().status == 200


def run(server, context, seeds, typist=None):
    """Sends the streams of the seeds. A typing client, if given, must always be answered."""
    document = joined = None
    if typist:
        document = server.create_note("Typed on")
        joined = typist.join(document)
    revision = 0
    for seed in seeds:
        try:
            throw(server.port, seed, context)
            assert_well(server.port, context)
            if typist and seed % 10 == 0:
                operation = ["x", revision] if revision else ["x"]
                kind, data = typist.change(
                    document, {**joined, "revision": revision}, revision + 1, operation
                )
                assert kind == "acknowledged", (kind, data)
                revision = data["revision"]
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    return revision


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--tls", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        flags, context = ["--echo-path", "/echo", "--address-connect-rate", "0"], None
        if arguments.tls:
            certificate, key = make_certificate(path)
            flags += ["--tls-certificate", str(certificate), "--tls-key", str(key)]
            context = ssl.create_default_context(cafile=certificate)
        server = ParleyServer(path, *flags).start()
        try:
            typist = None if context else NativeClient(server)
            run(server, context, range(arguments.first, arguments.first + arguments.cases), typist)
        finally:
            code = server.stop()
        print(f"{arguments.cases} streams; the server ended with {code}")
        assert code == 0


if __name__ == "__main__":
    main()
