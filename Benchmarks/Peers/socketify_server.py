"""uWebSockets, under socketify: /echo answers each message, /pub goes out to all at /sub.

Publishing is uWebSockets' own: topics, and one buffer for each socket and turn.
"""

import sys

from socketify import App, AppListenOptions, CompressOptions, OpCode

app = App()
PLAIN = {"compression": CompressOptions.DISABLED, "idle_timeout": 0, "max_backpressure": 64 << 20}


def subscribe(socket):
    socket.subscribe("bench")


def publish(socket, message, opcode):
    app.publish("bench", message, OpCode.TEXT)


def echo(socket, message, opcode):
    socket.send(message, opcode)


app.ws("/sub", {**PLAIN, "open": subscribe})
app.ws("/pub", {**PLAIN, "message": publish})
app.ws("/echo", {**PLAIN, "message": echo})
app.listen(AppListenOptions(host="127.0.0.1", port=int(sys.argv[1])), lambda _: None)
app.run()
