"""Moves the oldest card of a board one column further: python3 bot.py http://127.0.0.1:8080 plans"""
import asyncio
import sys
import parley

COLUMNS = ["todo", "doing", "done"]

async def main(gateway: str, room: str) -> None:
    async with parley.connect(gateway, name="Bot") as client:
        board = client.room(room).values
        await board.ready()
        for name, card in sorted(board.items(), key=lambda item: item[1]["order"]):
            if card["column"] == "done":
                continue
            column = COLUMNS[COLUMNS.index(card["column"]) + 1]
            try:
                # Only if the card has not changed since it was read.
                await board.change(
                    [{"merge": name, "with": {"column": column, "by": "Bot"}}], if_offsets={name: board.offset(name)})
            except parley.ValueConflict:
                continue
            return
asyncio.run(main(sys.argv[1], sys.argv[2]))
