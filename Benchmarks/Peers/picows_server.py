"""picows, on uvloop: /echo answers each message, /pub goes out to all at /sub."""

import asyncio
import sys

import uvloop
from picows import WSListener, WSMsgType, ws_create_server

subscribers = set()


class Subscriber(WSListener):
    def on_ws_connected(self, transport):
        subscribers.add(transport)

    def on_ws_disconnected(self, transport):
        subscribers.discard(transport)

    def on_ws_frame(self, transport, frame):
        pass


class Publisher(WSListener):
    def on_ws_frame(self, transport, frame):
        message = frame.get_payload_as_bytes()
        for subscriber in subscribers:
            subscriber.send(WSMsgType.TEXT, message)


class Echo(WSListener):
    def on_ws_frame(self, transport, frame):
        transport.send(frame.msg_type, frame.get_payload_as_memoryview())


LISTENERS = {b"/sub": Subscriber, b"/pub": Publisher}


def listener(request):
    return LISTENERS.get(request.path, Echo)()


async def main(port):
    server = await ws_create_server(listener, "127.0.0.1", port)
    await server.serve_forever()


uvloop.run(main(int(sys.argv[1])))
