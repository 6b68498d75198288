"""Malformed byte streams: generated from a grammar, then corrupted.

A stream is a list of pieces, each sent at once. It depends only on its seed, so that a case that
failed can be sent again: `python Tests/System/edge_run.py --first SEED --cases 1`.
"""

import random
import struct

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "G ET", ""]
TARGETS = [
    "/", "/health", "/api/notes", "/api/notes/a", "/api/notes/a/text?revision=1", "/socket/", "/faye",
    "/ws", "/echo", "*", "http://other/health", "/a/../../b", "/%2e%2e/x", "/%00", "/%zz", "/?" + "q" * 300,
    "/" + "a" * 9_000, "//health", "/api/notes?limit=1&after=%FF", "/caf\u00e9",
]  # fmt: skip
NAMES = [
    "Host", "X-Auth", "X-Forwarded", "If", "User", "Accept-CH", "Content-Type", "Connection", "Upgrade",
    "Expect", "Authorization", "Cookie", "Origin", "X-Forwarded-For", "If-Match", "Range",
    "Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol", "Transfer-Encoding", "Content-Length", "TE",
    "Bad Name", "", ":colon", "\u00e9",
]  # fmt: skip
VALUES = [
    "localhost", "a", "", "close", "keep-alive", "upgrade", "websocket", "h2c", "100-continue", "chunked",
    "chunked, chunked", "gzip", "5", "-1", "0", "99999999999999999999", "5, 5", "parley.v1", "*",
    "bytes=0-", "permessage-deflate; " * 20, "x" * 20_000, "a\tb", "a\x00b", "\u00e9", "null",
]  # fmt: skip
UPGRADE = (
    "GET {} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{}\r\n"
)


def body(chance):
    return bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 5, 60, 3_000])))


def request(chance):
    """Returns a request, in most cases a valid one."""
    method, target = chance.choice(METHODS[:7]), chance.choice(TARGETS[:8])
    if chance.random() < 0.2:
        method, target = chance.choice(METHODS), chance.choice(TARGETS)
    lines = [f"{method} {target} HTTP/1.1"]
    if chance.random() < 0.9:
        lines.append("Host: localhost")
    for _ in range(chance.choice([0, 0, 1, 2, 5, 150])):
        lines.append(f"{chance.choice(NAMES)}: {chance.choice(VALUES)}")
    payload = b""
    form = chance.random()
    if form < 0.3:
        payload = body(chance)
        lines.append(f"Content-Length: {len(payload)}")
    elif form < 0.5:
        lines.append("Transfer-Encoding: chunked")
        for _ in range(chance.randrange(4)):
            piece = body(chance) or b"x"
            extension = chance.choice([b"", b";a=b", b";" + b"e" * 5_000])
            payload += b"%x" % len(piece) + extension + b"\r\n" + piece + b"\r\n"
        payload += b"0\r\n" + chance.choice([b"", b"T: v\r\n"]) + b"\r\n"
    end = chance.choice(["\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r"])
    return (end.join(lines) + end + end).encode("utf-8", "surrogatepass") + payload


def frame(chance):
    """Returns a frame, in most cases a valid one."""
    opcode = chance.choice([0, 1, 1, 1, 2, 8, 9, 10, 3, 15])
    payload = chance.choice(
        [b"", b"{}", b'{"messageId":"m","type":"ping","data":{}}', b"\x03\xe8bye", b"\xff", b"x" * 126,
         b"y" * 70_000, b"\xf0\x9f\x98"]
    )  # fmt: skip
    length = chance.choice([len(payload)] * 8 + [0, 1 << 31, 1 << 62, (1 << 64) - 1])
    first = opcode | (0x80 if chance.random() < 0.8 else 0) | chance.choice([0] * 8 + [0x40, 0x20, 0x10])
    masked = 0x80 if chance.random() < 0.9 else 0
    if length < 126 and chance.random() < 0.9:
        head = struct.pack(">BB", first, masked | length)
    elif length < 65_536 and chance.random() < 0.9:
        head = struct.pack(">BBH", first, masked | 126, length)
    else:
        head = struct.pack(">BBQ", first, masked | 127, length)
    if not masked:
        return head + payload
    key = bytes(chance.randrange(256) for _ in range(4))
    return head + key + bytes(byte ^ key[index & 3] for index, byte in enumerate(payload))


def spoil(chance, stream):
    """Cuts, duplicates, reorders or changes bytes."""
    for _ in range(chance.choice([0, 0, 1, 2, 4])):
        if not stream:
            break
        at = chance.randrange(len(stream))
        other = min(len(stream), at + chance.choice([1, 2, 10, 200]))
        match chance.randrange(5):
            case 0:
                stream = stream[:at] + bytes([chance.randrange(256)]) + stream[at + 1 :]
            case 1:
                stream = stream[:at] + stream[other:]
            case 2:
                stream = stream[:other] + stream[at:]
            case 3:
                stream = stream[at:] + stream[:at]
            case _:
                stream = stream[:at]
    return stream


def pieces(seed):
    """Returns the pieces of a stream."""
    chance = random.Random(seed)
    parts = [request(chance) for _ in range(chance.choice([1, 1, 2, 3, 12]))]
    if chance.random() < 0.5:
        path = chance.choice(["/ws", "/echo", "/socket/?EIO=4&transport=websocket", "/faye", "/no"])
        offer = chance.choice(["", "Sec-WebSocket-Protocol: parley.v1\r\n"])
        handshake = UPGRADE.format(path, offer).encode()
        frames = [frame(chance) for _ in range(chance.choice([0, 1, 3, 20]))]
        # Frames before the response, or without any request.
        parts = chance.choice([[handshake], [*parts[:1], handshake], [handshake, *parts[:1]]]) + frames
    stream = spoil(chance, b"".join(parts))
    cuts = sorted(chance.randrange(len(stream) + 1) for _ in range(chance.choice([0, 0, 1, 3])))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
