"""Python's websockets, on uvloop: /echo answers each message, /pub goes out to all at /sub."""

import asyncio
import sys

import uvloop
from websockets.asyncio.server import broadcast, serve

subscribers = set()


async def handle(connection):
    path = connection.request.path
    if path == "/sub":
        subscribers.add(connection)
        try:
            await connection.wait_closed()
        finally:
            subscribers.discard(connection)
    elif path == "/pub":
        async for message in connection:
            broadcast(subscribers, message)
    else:
        async for message in connection:
            await connection.send(message)


async def main(port):
    async with serve(
        handle, "127.0.0.1", port, compression=None, ping_interval=None, max_queue=None
    ):
        await asyncio.get_running_loop().create_future()


uvloop.run(main(int(sys.argv[1])))
