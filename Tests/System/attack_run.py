"""Anonymous clients that try to exhaust shared limits, and measurements of all other clients.

    .venv/bin/python Tests/System/attack_run.py bodies|handshakes|logins|mixed [--unlimited]
    make attack-test SECONDS_ATTACK=600

The server checks tokens and passwords. Attackers have separate addresses (127.0.0.2 and up) and no
token; `--unlimited` disables the limits that restrict them, to show the limits' effect. `mixed` runs all
attacks while 50 clients type in one note, and reports how long their edits take.
"""

import argparse
import asyncio
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from parley_server import ParleyServer, built
from stalled_run import resident_bytes
from test_login import PASSWORD, add_user
from test_tokens import EVERYTHING, SECRET, token

LOAD = built("parley-load", "PARLEY_LOAD")
MEGABYTE = 1_000_000
# Loopback addresses. The server trusts 127.0.0.1 as a proxy, and limits all others.
ATTACKER = "127.0.0.2"
OTHER = "127.0.0.3"
# The settings of --unlimited.
UNLIMITED = [
    "--reception-size-max", "0",
    "--address-connections-max", "0", "--address-connect-rate", "0", "--address-request-rate", "0",
    "--address-message-rate", "0", "--address-byte-rate", "0",
]  # fmt: skip


def serve(folder, *flags):
    """Starts a server that checks tokens and passwords."""
    folder = pathlib.Path(folder)
    secret = folder / "secret"
    secret.write_bytes(SECRET)
    users = folder / "users"
    for name in ["ada@example.org", "bea@example.org"]:
        add_user(users, name, "document:*=all")
    return ParleyServer(
        folder, "--hmac-secret-file", str(secret), "--audience", "parley", "--users-file", str(users),
        "--trusted-proxy", "127.0.0.1", *flags,
    ).start()  # fmt: skip


class Line:
    """One TCP connection from a chosen address."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port, address):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, local_addr=(address, 0), limit=1 << 20
        )
        return cls(reader, writer)

    async def ask(self, method, path, body=b"", **headers):
        """Sends one request and reads its answer: status, headers and body."""
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        return await self.answer()

    async def answer(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        body = await self.reader.readexactly(int(fields.get("content-length", 0)))
        return int(head[0].split()[1]), fields, body

    def close(self):
        self.writer.transport.abort()


async def elapse(event, seconds):
    """Waits for an event, up to a number of seconds."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        pass


async def ask(port, address, method, path, body=b"", **headers):
    """Sends one request on a new connection."""
    line = await Line.open(port, address)
    try:
        return await line.ask(method, path, body, **headers)
    finally:
        line.close()


# MARK: Bodies that never end

BODY = 4_100_000
SENT = 3_990_000


async def unfinished_body(port, address, path, hold):
    """Announces a body of 4.1 MB and sends 3.99 MB of it. Returns the server's answer, if any."""
    line = await Line.open(port, address)
    try:
        line.writer.write(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {BODY}\r\n\r\n".encode()
        )
        chunk = b"x" * 65_536
        try:
            for _ in range(SENT // len(chunk)):
                line.writer.write(chunk)
                await line.writer.drain()
        except ConnectionError:
            pass
        done, waiting = await asyncio.wait(
            [asyncio.create_task(line.reader.read(200)), asyncio.create_task(hold.wait())],
            return_when=asyncio.FIRST_COMPLETED,
        )
        said = b""
        for task in done:
            try:
                said = task.result() if isinstance(task.result(), bytes) else b""
            except ConnectionError:
                said = b"cut"
        for task in waiting:
            task.cancel()
        await hold.wait()
        return said
    finally:
        line.close()


async def unfinished_frame(port, address, path, hold):
    """Does the same with one WebSocket message, before sending a token."""
    line = await Line.open(port, address)
    try:
        line.writer.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"{'Sec-WebSocket-Protocol: parley.v1' if path == '/ws' else 'X-Nothing: 1'}\r\n\r\n".encode()
        )
        head = await line.reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in head, head
        line.writer.write(bytes([0x81, 0xFF]) + BODY.to_bytes(8, "big") + bytes(4))
        chunk = b"x" * 65_536
        try:
            for _ in range(SENT // len(chunk)):
                line.writer.write(chunk)
                await line.writer.drain()
        except ConnectionError:
            pass
        await hold.wait()
    finally:
        line.close()


BODY_PATHS = ["/api/notes", "/faye", "/socket/?EIO=4&transport=polling", "/api/user/login", "/v3/groups/x"]
FRAME_PATHS = ["/ws", "/faye"]


async def attack_with_bodies(port, count, addresses, hold):
    """Opens `count` connections, each with an unfinished body or message, until `hold` is set."""
    tasks = []
    for index in range(count):
        address = addresses[index % len(addresses)]
        if index % 4 == 3:
            work = unfinished_frame(port, address, FRAME_PATHS[index // 4 % 2], hold)
        else:
            work = unfinished_body(port, address, BODY_PATHS[index % len(BODY_PATHS)], hold)
        tasks.append(asyncio.create_task(work))
    return tasks


async def peak_memory(server, hold, seconds):
    """Returns the largest resident size within a number of seconds."""
    peak = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        peak = max(peak, resident_bytes(server))
        await elapse(hold, 0.02)
    return peak


async def measure_bodies(server, count=400, seconds=8):
    """Returns the growth of memory while anonymous connections have unfinished bodies, in bytes."""
    before = resident_bytes(server)
    hold = asyncio.Event()
    tasks = await attack_with_bodies(server.port, count, [ATTACKER], hold)
    peak = await peak_memory(server, hold, seconds)
    hold.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    return peak - before


# MARK: Sessions without a token

HANDSHAKE = json.dumps(
    [{"channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["long-polling"]}]
).encode()
ENGINE = "/socket/?EIO=4&transport=polling"


async def handshakes(port, address, count, family="bayeux"):
    """Begins sessions without a token on consecutive connections. Returns the number of sessions."""
    begun = 0
    line = None
    for _ in range(count):
        try:
            line = line or await Line.open(port, address)
            if family == "bayeux":
                status, _, body = await line.ask(
                    "POST", "/faye", HANDSHAKE, Content_Type="application/json"
                )
                begun += status == 200 and json.loads(body)[0].get("successful", False)
            else:
                status, _, body = await line.ask("GET", ENGINE)
                begun += status == 200
        except (ConnectionError, asyncio.IncompleteReadError):
            line = None
    if line:
        line.close()
    return begun


async def new_clients(port, address):
    """Returns whether a new client of each dialect gets a session at once."""
    status, _, body = await ask(port, address, "POST", "/faye", HANDSHAKE, Content_Type="application/json")
    bayeux = status == 200 and json.loads(body)[0]["successful"]
    status, _, _ = await ask(port, address, "GET", ENGINE)
    return {"bayeux": bayeux, "socketio": status == 200}


async def measure_handshakes(server, count=10_000):
    began = time.monotonic()
    begun = sum(await asyncio.gather(*(handshakes(server.port, ATTACKER, count // 8) for _ in range(8))))
    seconds = time.monotonic() - began
    return {"begun": begun, "seconds": round(seconds, 2)} | await new_clients(server.port, OTHER)


# MARK: Logins


async def log_in(port, address, user="ada@example.org", password=PASSWORD):
    body = json.dumps({"email": user, "password": password}).encode()
    began = time.monotonic()
    status, _, _ = await ask(port, address, "POST", "/api/user/login", body, Content_Type="application/json")
    return status, time.monotonic() - began


async def measure_logins(server, count=40):
    """Measures logins of other users during many attempts of one address, and during one attempt of many addresses."""
    _, alone = await log_in(server.port, "127.0.3.2", "bea@example.org")
    attempts = [
        asyncio.create_task(log_in(server.port, ATTACKER, f"nobody{index}@example.org", "wrong"))
        for index in range(count)
    ]
    # The attempts are sent before the other logins.
    await asyncio.wait(attempts, timeout=0.05)
    others = [
        asyncio.create_task(log_in(server.port, f"127.0.1.{index + 1}", "bea@example.org"))
        for index in range(8)
    ]
    first = [status for status, _ in await asyncio.gather(*others)]
    await asyncio.gather(*attempts)
    crowd = [
        asyncio.create_task(log_in(server.port, f"127.0.2.{index + 1}", f"other{index}@example.org", "wrong"))
        for index in range(count)
    ]
    await asyncio.wait(crowd, timeout=0.05)
    last, seconds = await log_in(server.port, "127.0.3.1", "bea@example.org")
    await asyncio.gather(*crowd)
    # The time in the queue, without the time to hash the password.
    return {"others": first, "next": last, "next_waited_seconds": round(seconds - alone, 2)}


# MARK: All attacks while clients type

HOSTILE = [
    b"[" + b"{}," * 5_000 + b"{}]",
    b"{" + b",".join(b'"%d":0' % index for index in range(1_800)) + b"}",
    b"[" * 8_000 + b"]" * 8_000,
    b'[{"channel":"/meta/handshake","ext":"' + b"\\u0001" * 2_600 + b'"}]',
]


async def attack_with_shapes(port, address, stop):
    """Sends hostile bodies on consecutive connections."""
    choice = random.Random(1)
    while not stop.is_set():
        try:
            line = await Line.open(port, address)
            for _ in range(50):
                if stop.is_set():
                    break
                await line.ask(
                    "POST", choice.choice(["/faye", "/api/user/login", "/v3/groups/x"]),
                    choice.choice(HOSTILE), Content_Type="application/json",
                )  # fmt: skip
            line.close()
        except (ConnectionError, OSError, asyncio.IncompleteReadError):
            await elapse(stop, 0.05)


async def repeat(stop, work):
    """Repeats an attack until the end, immediately after each refusal."""
    while not stop.is_set():
        try:
            await work()
        except (ConnectionError, OSError, asyncio.IncompleteReadError, AssertionError):
            await elapse(stop, 0.05)


async def attack(port, seconds):
    """Runs attacks of all kinds from four addresses for a number of seconds."""
    stop = asyncio.Event()
    addresses = [f"127.0.4.{index + 1}" for index in range(4)]

    async def bodies():
        hold = asyncio.Event()
        tasks = await attack_with_bodies(port, 100, addresses, hold)
        await asyncio.wait(tasks, timeout=10)
        hold.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def sessions(family):
        await handshakes(port, random.choice(addresses), 500, family)

    async def logins():
        await asyncio.gather(
            *(log_in(port, addresses[0], f"nobody{index}@example.org", "wrong") for index in range(40))
        )

    work = [
        repeat(stop, bodies), repeat(stop, lambda: sessions("bayeux")), repeat(stop, lambda: sessions("socketio")),
        repeat(stop, logins), *(attack_with_shapes(port, address, stop) for address in addresses),
    ]  # fmt: skip
    tasks = [asyncio.create_task(each) for each in work]
    await elapse(stop, seconds)
    stop.set()
    await asyncio.wait(tasks, timeout=30)
    for task in tasks:
        task.cancel()


def measure_mixed(server, seconds, typists):
    """Returns the measurements of typing clients during the attacks, and the server's memory at the end."""
    before = resident_bytes(server)
    load = subprocess.Popen(
        [
            LOAD, "typists", "--typists", str(typists), "--notes", "1", "--interval", "200", "--size", "10000",
            "--seconds", str(seconds), "--warm", "2", "--port", str(server.port), "--pid", str(server.process.pid),
            "--token", token(EVERYTHING, seconds=seconds + 600),
        ],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    attackers = threading.Thread(target=lambda: asyncio.run(attack(server.port, seconds + 2)))
    attackers.start()
    said, _ = load.communicate()
    attackers.join()
    report = json.loads(said)
    report["server_grew_bytes"] = resident_bytes(server) - before
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attack", choices=["bodies", "handshakes", "logins", "mixed"])
    parser.add_argument("--unlimited", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--typists", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = serve(folder, *(UNLIMITED if options.unlimited else []))
        try:
            if options.attack == "bodies":
                found = {"grew_megabytes": asyncio.run(measure_bodies(server)) // MEGABYTE}
                good = found["grew_megabytes"] < 100
            elif options.attack == "handshakes":
                found = asyncio.run(measure_handshakes(server))
                good = found["bayeux"] and found["socketio"]
            elif options.attack == "logins":
                found = asyncio.run(measure_logins(server))
                good = found["next"] == 200 and found["next_waited_seconds"] < 2 and set(found["others"]) == {200}
            else:
                found = measure_mixed(server, options.seconds, options.typists)
                good = found["undelivered"] == 0 and found["unacknowledged"] == 0
            print(json.dumps(found))
        finally:
            server.stop()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
