"""A program between a gateway and its database that can cut their connections.

    database_line.py /folder/.s.PGSQL.5432 /target/.s.PGSQL.5432

It reads one command on each line and answers `done`:

    mend      everything is forwarded
    down      all connections end, and new ones are refused
    deaf      on open connections, bytes of the gateway do not reach the database
    mute      on open connections, bytes of the database do not reach the gateway
"""

import asyncio
import contextlib
import subprocess
import sys
import tempfile

from parley_server import ROOT


class DatabaseLine:
    """Runs the program. `folder` is the host for a gateway's connection."""

    def __init__(self, target_folder):
        self.place = tempfile.TemporaryDirectory(prefix="parley-line-")
        self.folder = self.place.name
        self.process = subprocess.Popen(
            [
                sys.executable, str(ROOT / "Tests" / "System" / "database_line.py"),
                f"{self.folder}/.s.PGSQL.5432", f"{target_folder}/.s.PGSQL.5432",
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout.readline() == "done\n"

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.place.cleanup()


class Line:
    def __init__(self, target):
        self.target = target
        self.links = set()
        self.is_down = False

    async def link(self, reader, writer):
        if self.is_down:
            writer.close()
            return
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self.target)
        except OSError:
            writer.close()
            return
        link = {"deaf": False, "mute": False, "writers": (writer, far_writer)}
        self.links.add(id(link))
        by_id[id(link)] = link
        passing = [
            asyncio.ensure_future(self.forward(reader, far_writer, link, "deaf")),
            asyncio.ensure_future(self.forward(far_reader, writer, link, "mute")),
        ]
        await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        for task in passing:
            task.cancel()
        for end in link["writers"]:
            end.close()
        self.links.discard(id(link))
        by_id.pop(id(link))

    async def forward(self, reader, writer, link, lost):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not link[lost]:
                    writer.write(data)
                    await writer.drain()

    def obey(self, word):
        self.is_down = word == "down"
        for number in list(self.links):
            if word == "down":
                for end in by_id[number]["writers"]:
                    end.transport.abort()
            elif word in ("deaf", "mute"):
                by_id[number][word] = True


by_id = {}


async def main(place, target):
    line = Line(target)
    await asyncio.start_unix_server(line.link, place)
    print("done", flush=True)
    words = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(words), sys.stdin
    )
    while word := await words.readline():
        line.obey(word.decode().strip())
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
