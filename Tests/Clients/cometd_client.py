"""aiocometd, told what to do by lines of JSON.

    cometd_client.py http://127.0.0.1:8080/faye TOKEN websocket

Not a test, but what tests run. Says what happens as lines of JSON.
"""

import asyncio
import json
import sys

import aiohttp  # noqa: F401, before asyncio is bent to what aiocometd knows


def without_loop(original):
    """Since Python 3.10 no function takes a loop; aiocometd, which is older, passes one."""
    return lambda *arguments, loop=None, **options: original(*arguments, **options)


for name in ["sleep", "wait", "wait_for", "Condition", "Event", "Lock", "Queue", "Semaphore"]:
    setattr(asyncio, name, without_loop(getattr(asyncio, name)))

from aiocometd import Client, ConnectionType, Extension  # noqa: E402
from aiocometd.exceptions import AiocometdException  # noqa: E402


def say(*happening):
    print(json.dumps(happening), flush=True)


class Credentials(Extension):
    """Puts the token into every message."""

    def __init__(self, token):
        self.token = token

    async def outgoing(self, payload, headers):
        for message in payload:
            message["ext"] = {"access_token": self.token}

    async def incoming(self, payload, headers=None):
        pass


async def relay(client):
    try:
        async for message in client:
            # Kept alive every half minute, as on a busy machine a test may meet.
            if message["data"] != {"type": "ping"}:
                say("event", message["channel"], message["data"])
    except AiocometdException as error:
        say("failed", "receive", repr(error))


async def main(address, token, kind):
    credentials = Credentials(token)
    client = Client(address, ConnectionType(kind), extensions=[credentials])
    await client.open()
    say("up", client.connection_type.value)
    relaying = asyncio.ensure_future(relay(client))
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command, *arguments = json.loads(line)
        if command == "token":
            credentials.token = arguments[0]
            say("done", command)
            continue
        try:
            result = await getattr(client, command)(*arguments)
            say("done", command, *([result["successful"]] if command == "publish" else arguments))
        except AiocometdException as error:
            answer = error.args[1] if len(error.args) > 1 else {}
            say("refused", command, answer.get("error") if isinstance(answer, dict) else repr(error))
    relaying.cancel()
    await client.close()


asyncio.run(main(*sys.argv[1:]))
