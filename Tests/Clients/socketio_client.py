"""python-socketio, of whichever version is found, told what to do by lines of JSON.

    socketio_client.py http://127.0.0.1:8080 websocket
    socketio_client.py http://127.0.0.1:8080 polling,websocket
    socketio_client.py http://127.0.0.1:8080 websocket '{"recovery": true}'   what CONNECT says

Not a test, but what tests run. Says what happens as lines of JSON.
"""

import json
import sys
import threading

import socketio
from patience import SECONDS

lock = threading.Lock()


def say(*happening):
    with lock:
        print(json.dumps(happening), flush=True)


def tell_answer(client):
    """Reports the server's answer to CONNECT, of which the client itself keeps only the name."""
    handle = client._handle_connect

    def tell(namespace, data):
        say("entered", data)
        handle(namespace, data)

    client._handle_connect = tell


def main(origin, transports, hello=None):
    client = socketio.Client(reconnection=False)
    options = {}
    if hello:
        tell_answer(client)
        options["auth"] = json.loads(hello)

    def relay(name):
        client.on(name, lambda *arguments: say("event", name, *arguments))

    for name in [
        "authenticated", "unauthorized", "message", "realtime:join:success",
        "realtime:join:error", "realtime:leave:success", "realtime:leave:error",
        "realtime:event", "realtime:event:error", "realtime:resource",
    ]:  # fmt: skip
        relay(name)
    client.on("connect", lambda: say("connected", client.transport()))
    client.on("disconnect", lambda *_: say("disconnected"))
    client.connect(origin, socketio_path="/socket", transports=transports.split(","), **options)
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            if command == "emit":
                client.emit(*arguments)
                say("done", "emit")
            elif command == "call":
                say("done", "call", client.call(arguments[0], arguments[1], timeout=SECONDS))
            elif command == "break":
                # As a network does: without a word to the server.
                client.eio.ws.shutdown()
                say("done", "break")
            elif command == "transport":
                say("done", "transport", client.transport())
        except Exception as error:  # whatever it is, the test is to see it
            say("failed", command, repr(error))
    client.disconnect()


main(*sys.argv[1:])
