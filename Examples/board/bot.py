"""Moves the first card of a board that is not done one column further: python3 bot.py http://127.0.0.1:8080 plans"""
import asyncio
import sys
import parley

COLUMNS = ["todo", "doing", "done"]

def cards(board) -> list[str]:
    """Returns the names of the cards, in their order. The number of moves is not a card."""
    names = [name for name, card in board.items() if isinstance(card, dict) and "text" in card]
    return sorted(names, key=lambda name: board[name]["order"])

async def move(board, name: str, column: str) -> bool:
    """Moves a card to the end of a column, unless it has changed since it was read. Returns whether it did."""
    last = [board[other]["order"] for other in cards(board) if board[other]["column"] == column][-1:]
    fields = {"column": column, "order": parley.OrderKey.between(*(last or [None]), None), "by": "Bot"}
    try:
        changes = [{"merge": name, "with": fields}, {"add": "moves", "by": 1}]
        await board.change(changes, if_offsets={name: board.offset(name)})
    except parley.ValueConflict:
        return False
    return True

async def main(gateway: str, room: str) -> None:
    async with parley.connect(gateway, name="Bot") as client:
        board = client.room(room).values
        await board.ready()
        for name in cards(board):
            column = board[name]["column"]
            if column != "done" and await move(board, name, COLUMNS[COLUMNS.index(column) + 1]):
                return
if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
