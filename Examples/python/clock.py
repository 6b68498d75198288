"""Adds the time to a note: python3 clock.py http://127.0.0.1:8080 NOTE"""
import asyncio, datetime, sys
import parley

async def main(url: str, note_id: str) -> None:
    async with parley.connect(url, name="Clock") as client:
        note = await client.note(note_id)
        note.append(f"It is {datetime.datetime.now():%H:%M}.\n")

asyncio.run(main(*sys.argv[1:]))
