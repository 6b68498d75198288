"""Opens many connections that have said who they are and follow a room, and leaves them at that.

`parley-load idle` speaks neither TLS nor tokens; this does both, as slowly as Python does: what is
measured is the server's memory, not its speed.
"""

import asyncio
import json
import os
import pathlib
import ssl
import subprocess

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def secrets(parley, folder):
    """A secret to sign with, and a token that may follow every room; returns flags and token."""
    secret = pathlib.Path(folder) / "secret"
    secret.write_text("for the measurement of idle connections alone")
    token = subprocess.run(
        [parley, "token", "make", "--user", "idle", "--room", "*=read", "--secret", secret],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    return f"--hmac-secret-file {secret}", token


def certificate(folder):
    """A certificate that signs itself; returns flags."""
    files = [pathlib.Path(folder) / name for name in ("certificate.pem", "key.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return f"--tls-certificate {files[0]} --tls-key {files[1]}"


def frame(kind, data):
    """A masked text frame; a mask of zeros leaves the text as it is."""
    text = json.dumps({"messageId": "m", "type": kind, "data": data}).encode()
    length = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + len(text).to_bytes(2)
    return b"\x81" + length + bytes(4) + text


async def open_one(port, tls, token):
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n"
        "Sec-WebSocket-Protocol: parley.v1\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    writer.write(frame("hello", {"name": "Idle", "token": token}))
    await reader.readuntil(b'"type":"welcome"')
    writer.write(frame("subscribe", {"room": "idle"}))
    await reader.readuntil(b'"type":"subscribed"')
    return writer


async def open_many(count, port, tls, token, at_once=50):
    writers = []
    for first in range(0, count, at_once):
        number = min(at_once, count - first)
        writers += await asyncio.gather(*(open_one(port, tls, token) for _ in range(number)))
    return writers


def resident_bytes(process):
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bytes_each(process, port, token, tls, count):
    """What so many connections add to a process, each; the first hundred pay for what all share."""

    async def run():
        first = await open_many(100, port, tls, token)
        before = resident_bytes(process)
        rest = await open_many(count, port, tls, token)
        growth = resident_bytes(process) - before
        for writer in first + rest:
            writer.transport.abort()
        return growth / count

    return asyncio.run(run())
