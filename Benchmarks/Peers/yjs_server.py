"""A Yjs server, pycrdt-websocket over websockets on uvloop: its documents are in memory alone."""

import asyncio
import sys

import uvloop
from pycrdt.websocket import WebsocketServer
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed


class Channel:
    """A connection as pycrdt-websocket wants it."""

    def __init__(self, connection):
        self.connection = connection
        self.path = connection.request.path

    async def send(self, message):
        await self.connection.send(message)

    async def recv(self):
        return await self.connection.recv()

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return await self.recv()
        except ConnectionClosed:
            raise StopAsyncIteration from None


async def main(port):
    async with WebsocketServer(auto_clean_rooms=False) as rooms:
        # Of two who come while a room begins, the second would never be answered.
        await rooms.get_room("/bench")

        async def handle(connection):
            await rooms.serve(Channel(connection))

        async with serve(
            handle, "127.0.0.1", port, compression=None, ping_interval=None, max_queue=None
        ):
            await asyncio.get_running_loop().create_future()


uvloop.run(main(int(sys.argv[1])))
