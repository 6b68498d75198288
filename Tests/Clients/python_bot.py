"""A bot on the Python package, told what to do by lines of JSON.

    python_bot.py http://127.0.0.1:8080 NOTE ROOM [formats]

    ["insert", "line: ", "x"]    writes x at the end of the line with these words; without any, in front; a fourth value is
                                 the attributes of x, if the bot was started with "formats"
    ["publish", 7]               publishes 7, and says ["published", 7] when it is stored
    ["text"]                     says ["text", …] once everything is saved
    ["delta"]                    says ["delta", …], the text with its formatting

Not a test, but what tests run. Says ["heard", 7] of each publication, and ["gap"] of one that is missing.
"""

import asyncio
import json
import sys

import parley


def say(*happening):
    print(json.dumps(happening), flush=True)


def insert(note, line, text, attributes=None):
    start = note.text.index(line)
    at = note.text.index("\n", start) if line else 0
    if attributes is None:
        note.insert(at, text)
    else:
        note.update([{"retain": at}, {"insert": text, "attributes": attributes}])


async def listen(room):
    news = room.publications()
    async for each in news:
        if isinstance(each, parley.Publication):
            say("heard", each.data)
        elif isinstance(each, parley.Gap):
            say("gap")


async def publish(room, data):
    await room.publish(data)
    say("published", data)


async def main(url, note_id, room_name, formats=""):
    async with parley.connect(url, name="Python bot") as client:
        note, room = await client.note(note_id, formats=formats == "formats"), client.room(room_name)
        await room.opened()
        tasks = {asyncio.ensure_future(listen(room))}
        say("here")
        while line := await asyncio.to_thread(sys.stdin.readline):
            command, *arguments = json.loads(line)
            if command == "insert":
                insert(note, *arguments)
            elif command == "publish":
                tasks.add(asyncio.ensure_future(publish(room, *arguments)))
            elif command == "text":
                await note.saved()
                say("text", note.text)
            elif command == "delta":
                say("delta", note.delta)
        for task in tasks:
            task.cancel()


asyncio.run(main(*sys.argv[1:]))
