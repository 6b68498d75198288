"""Adds the time to a note: python3 clock.py http://127.0.0.1:8080/n/NOTE"""
import asyncio
import sys
import time
import parley

async def main(address: str) -> None:
    async with parley.open_note(address, name="Clock") as note:
        note.append(time.strftime("It is %H:%M.\n"))
asyncio.run(main(sys.argv[1]))
