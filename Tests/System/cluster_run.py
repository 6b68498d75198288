"""Clients that type at three gateways on one database. The gateways are killed, stopped and cut off.

The programs are real: gateways, PostgreSQL, a proxy between each gateway and the database that cuts connections,
and HAProxy in front of the gateways. Clients of two dialects connect to a gateway that HAProxy selects, and so do
people of every dialect in a room. At the end, all received changes and publications are compared with the
log and the room. `make cluster-test` runs this:

    .venv/bin/python Tests/System/cluster_run.py --kills 1000 --stops 200 --cuts 100 --seed 1

With promotions, the database has a synchronous standby, which replaces it.

A run prints its seed, which determines the order of faults, but not the state of the programs at each fault.
"""

import argparse
import contextlib
import gc
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time

import log_checker
from crash_run import BREAKS, SPICE, NativeTypist, WhalerTypist
from database_line import DatabaseLine
from native_client import Unavailable
from operations import splice
from parley_server import ParleyServer
from patience import SECONDS
from postgres_server import PostgresServer
from ports import free_port
from proxies import filled
from room_run import GRACE_SECONDS, RoomRun

TEXT_MAX = 3_000
# Seconds after an event in which pauses of clients at other gateways are recorded.
AFTERMATH = 3.0
# The number of events between two checks for people who are shown although they have left.
GHOSTS_EVERY = 25
# The maximum wait of other clients in seconds; longer waits are reported.
PAUSE_MAX = 0.7
NAMES = ("one", "two", "three")


class Balancer:
    """HAProxy with the back ends of the example configuration, without encryption."""

    def __init__(self, folder, servers):
        self.port = free_port()
        text = filled(
            "haproxy-nodes.cfg",
            {
                "bind :443 ssl crt /etc/haproxy/certs/notes.example.org.pem alpn h2,http/1.1": (
                    f"bind 127.0.0.1:{self.port}"
                ),
                # A header tells each client its gateway.
                "  balance leastconn": "  balance leastconn\n  http-response set-header x-gateway %s",
                "X-Forwarded-Proto https": "X-Forwarded-Proto http",
                "bind :80": f"bind 127.0.0.1:{free_port()}",
                **{
                    f"10.0.0.{number}:8080": f"127.0.0.1:{server.port}"
                    for number, server in enumerate(servers, 1)
                },
            },
        )
        assert len(servers) == len(NAMES)
        configuration = pathlib.Path(folder) / "haproxy.cfg"
        configuration.write_text(text)
        self.log = open(pathlib.Path(folder) / "haproxy.log", "wb")
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", configuration], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, env={"PATH": "/usr/sbin:/usr/bin:/bin"},
        )  # fmt: skip

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class TypingThread(threading.Thread):
    """A client that types continuously and reconnects whenever its connection breaks."""

    def __init__(self, run, typist, seed):
        super().__init__(daemon=True)
        self.run_of = run
        self.typist = typist
        self.rng = random.Random(seed)
        self.failure = None
        self.edits = 0
        # The times of acknowledgements, each with the time of sending, and the times of breaks.
        self.acknowledged = []
        self.breaks = []
        self.sent_at = None
        self.gateway = None
        self.is_over = threading.Event()

    def run(self):
        try:
            while not self.is_over.is_set():
                self.step()
        except BaseException as error:
            self.failure = error
            raise

    @contextlib.contextmanager
    def bearing_breaks(self):
        try:
            yield
        except (*BREAKS, Unavailable) as error:
            if isinstance(error, AssertionError):
                raise
            self.lose()

    def lose(self):
        if self.typist.is_connected:
            self.breaks.append(time.monotonic())
        client = getattr(getattr(self.typist, "editor", None), "client", None)
        if client:
            with contextlib.suppress(OSError):
                client.socket.socket.shutdown(2)
        self.typist.lose()
        self.is_over.wait(self.rng.uniform(0.01, 0.05))

    def step(self):
        typist = self.typist
        if not typist.is_connected:
            with self.bearing_breaks():
                typist.connect(self.run_of.balancer)
                answer = typist.editor.client.socket.response
                self.gateway = NAMES.index(answer.headers["x-gateway"])
                self.note()
            return
        with self.bearing_breaks():
            if self.rng.random() < 0.5:
                self.type()
            typist.editor.pump(self.rng.expovariate(20))
            self.note()
            while typist.editor.pump():
                self.note()

    def type(self):
        editor = self.typist.editor
        text = editor.text
        position = self.rng.randint(0, min(len(text), 40 if self.rng.random() < 0.5 else len(text)))
        deleted = TEXT_MAX // 2 if len(text) > TEXT_MAX else self.rng.choice([0, 0, 0, 1, 4])
        deleted = min(deleted, len(text) - position)
        self.edits += 1
        word = f"<{self.name}.{self.edits}{self.rng.choice(SPICE)}>"
        editor.edit(splice(text, position, deleted, word))

    def has_typed(self, since):
        """Returns whether a change that was sent later than a time is acknowledged."""
        moment, taken = self.acknowledged[-1] if self.acknowledged else (0, 0)
        return moment - taken > since

    def note(self):
        """Records the time that the change in flight has taken, when it is acknowledged."""
        editor = self.typist.editor
        number = len(editor.confirmed)
        open_change = editor.in_flight if hasattr(editor, "in_flight") else editor.pending
        now = time.monotonic()
        if self.sent_at and number != self.sent_at[1]:
            self.acknowledged.append((now, now - self.sent_at[0]))
            self.sent_at = None
        if open_change and not self.sent_at:
            self.sent_at = (now, number)
        if not open_change:
            self.sent_at = None


class ClusterRun:
    """Three gateways, and notes with clients of both dialects."""

    def __init__(self, folder, seed, documents=2, natives=2, whalers=1, flags=(), postgres=(), has_standby=False):
        self.rng = random.Random(seed)
        self.seed = seed
        self.counts = {}
        self.again = {}
        # The times after which the connections of cut-off gateways were restored.
        self.whole_again = []
        self.pauses = []
        self.events = []
        self.stack = contextlib.ExitStack()
        try:
            self.build(pathlib.Path(folder), documents, natives, whalers, flags, postgres, has_standby)
        except BaseException:
            self.stack.close()
            raise

    def build(self, folder, documents, natives, whalers, flags, postgres, has_standby):
        # A standby reconnects to its restarted primary soon.
        postgres = (*postgres, "wal_retrieve_retry_interval=200ms")
        self.postgres = self.database(PostgresServer(postgres))
        address = self.postgres.new_database()
        databases = [self.postgres]
        if has_standby:
            self.standby = self.database(PostgresServer(postgres, follows=self.postgres))
            self.postgres.has_commits_wait(True)
            databases.append(self.standby)
        self.lines, self.servers = [], []
        for number in range(3):
            lines = [DatabaseLine(database.folder) for database in databases]
            for line in lines:
                self.stack.callback(line.close)
            self.lines.append(lines)
            place = folder / f"node{number}"
            place.mkdir()
            hosts = ",".join(line.folder for line in lines)
            server = ParleyServer(
                place, "--store-url", address.replace(str(self.postgres.folder), hosts),
                "--trusted-proxy", "127.0.0.1", "--room-history-max", "1000000",
                "--presence-grace", f"{GRACE_SECONDS}s", *flags,
            )  # fmt: skip
            self.stack.callback(lambda server=server: server.is_running and server.kill())
            self.servers.append(server.start())
        self.balancer = Balancer(folder, self.servers)
        self.stack.callback(self.balancer.stop)
        self.documents = [
            self.servers[0].create_note(f"Note {number}") for number in range(documents)
        ]
        self.typists = {
            document: [
                *(NativeTypist(f"n{d}.{n}", document) for n in range(natives)),
                *(WhalerTypist(f"w{d}.{n}", document) for n in range(whalers)),
            ]
            for d, document in enumerate(self.documents)
        }
        everybody = [typist for group in self.typists.values() for typist in group]
        self.threads = [
            TypingThread(self, typist, self.rng.getrandbits(32)) for typist in everybody
        ]
        self.room = RoomRun(self.balancer.port, random.Random(self.seed ^ 0x4005))
        self.stack.callback(self.room.close)

    def database(self, server):
        self.stack.callback(server.remove)
        return server.start()

    def start(self):
        self.began, self.pressed = time.monotonic(), pressed()
        for thread in self.threads:
            thread.start()
        self.room.start()
        self.await_all()

    # Events.

    def happen(self, kind):
        """Causes one fault of a gateway, then waits until all clients type again."""
        node = self.rng.randrange(3)
        touched = {thread for thread in self.threads if thread.gateway == node}
        began = self.struck = self.mended = time.monotonic()
        getattr(self, kind)(node)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        # Wait for changes sent after the fault; otherwise a client could still be waiting at the next event.
        self.await_all()
        self.await_ready()
        # Observe clients at other gateways for some time.
        while time.monotonic() < began + AFTERMATH / 2:
            self.check_threads()
            threading.Event().wait(0.05)
        self.measure(kind, began, touched)

    def kill(self, node):
        self.servers[node].kill()
        self.struck = time.monotonic()
        self.wait(self.rng.uniform(0, 0.6))
        self.servers[node].start()

    def stop(self, node):
        """Stops the process for a time, and continues it."""
        process = self.servers[node].process
        process.send_signal(signal.SIGSTOP)
        self.struck = time.monotonic()
        self.wait(self.rng.choice([0.3, 1, 2.5]))
        process.send_signal(signal.SIGCONT)

    def cut(self, node):
        loss = self.rng.choice(["deaf", "mute", "none"])
        if loss != "none":
            self.tell(node, loss)
            self.struck = time.monotonic()
            self.wait(self.rng.uniform(0.05, 0.5))
        self.tell(node, "down")
        if loss == "none":
            self.struck = time.monotonic()
        self.wait(self.rng.uniform(0, 1.5))
        self.tell(node, "mend")
        self.mended = time.monotonic()

    def tell(self, node, word):
        for line in self.lines[node]:
            line.tell(word)

    def restart(self, node):
        """Kills and restarts the database."""
        self.postgres.kill()
        self.struck = time.monotonic()
        self.wait(self.rng.uniform(0, 0.5))
        self.postgres.start()

    def promotion(self, node):
        """Kills the database for good. Its standby replaces it, and gets a new standby."""
        self.postgres.kill()
        self.struck = time.monotonic()
        self.wait(self.rng.uniform(0, 0.5))
        self.standby.promote()
        self.postgres, self.standby = self.standby, self.postgres
        self.standby.copy(self.postgres)
        self.standby.start()
        self.postgres.has_commits_wait(True)

    def wait(self, seconds):
        threading.Event().wait(seconds)

    def check_threads(self):
        for thread in self.threads:
            if thread.failure:
                raise thread.failure
        self.room.check_threads()
        for server in self.servers:
            assert server.is_running, server.log.read_text()[-2_000:]

    def await_all(self):
        """Waits until each client has an acknowledgement for an edit that it sent after the call."""
        since = time.monotonic()
        deadline = since + SECONDS
        while not all(thread.has_typed(since) for thread in self.threads):
            self.check_threads()
            assert time.monotonic() < deadline, [
                (thread.typist.is_connected, thread.acknowledged[-1:], since)
                for thread in self.threads
            ]
            self.wait(0.02)

    def await_ready(self):
        for server in self.servers:
            while server.request("GET", "/ready")[0] != 200:
                self.wait(0.05)

    def measure(self, kind, began, touched):
        end = time.monotonic()
        for thread in self.threads:
            if thread in touched:
                # Acknowledgements of changes sent before the fault do not count, only those of changes that were
                # sent or resent after it.
                broken = min((moment for moment in thread.breaks if moment > self.struck), default=end)
                again = min(
                    (
                        moment for moment, taken in thread.acknowledged
                        if moment - taken > self.struck or moment > broken
                    ),
                    default=end,
                )  # fmt: skip
                self.again.setdefault(kind, []).append(again - began)
                if kind == "cut":
                    self.whole_again.append(max(again - self.mended, 0))
            else:
                waits = [taken for moment, taken in thread.acknowledged if began <= moment <= end]
                self.pauses.append((kind, max(waits, default=0)))
                if max(waits, default=0) > PAUSE_MAX:
                    self.tell_long_wait(kind, began, thread, max(waits))
        for thread in self.threads:
            thread.breaks.clear()
            del thread.acknowledged[:-1]
        # Collect only young objects, between two events. Collecting all objects of a long run would delay all clients for
        # seconds, which would look like waiting for a gateway.
        gc.collect(1)

    def tell_long_wait(self, kind, began, thread, wait):
        """Reports a client at another gateway that had to wait nevertheless."""
        print(
            f"event {sum(self.counts.values())}, a {kind}: a {type(thread.typist).__name__} at {NAMES[thread.gateway]}"
            f" waited {wait * 1000:.0f} ms; breaks, ms after it: "
            f"{[round((moment - began) * 1000) for moment in thread.breaks]}; ended after "
            f"{(time.monotonic() - began) * 1000:.0f} ms, at {time.time():.3f}",
            flush=True,
        )  # fmt: skip

    # The end.

    def settle(self):
        """Stops typing, and lets all clients read to the end of the log."""
        for thread in self.threads:
            thread.is_over.set()
        for thread in self.threads:
            thread.join()
            if thread.failure:
                raise thread.failure
        for thread in self.threads:
            typist = thread.typist
            while not typist.is_connected or self.open_change(typist):
                with thread.bearing_breaks():
                    if not typist.is_connected:
                        typist.connect(self.balancer)
                    if self.open_change(typist):
                        typist.editor.pump(1)
        for group in self.typists.values():
            head = max(typist.editor.revision for typist in group)
            for typist in group:
                typist.editor.reach(head)
            assert len({typist.editor.text for typist in group}) == 1, "they have not converged"

    @staticmethod
    def open_change(typist):
        editor = typist.editor
        return editor.pending if isinstance(typist, WhalerTypist) else editor.in_flight

    def finish(self):
        """Settles, ends all gateways, and compares. Returns measurements."""
        self.settle()
        self.room.settle()
        in_room = self.room.check(self.servers[0])
        counters = self.counters()
        for thread in self.threads:
            thread.typist.close()
        for server in self.servers:
            assert server.stop() == 0, server.log.read_text()[-2_000:]
        log_checker.run(self.servers[0], "check")
        changes = 0
        for document, group in self.typists.items():
            changes += log_checker.check_document(
                self.servers[0], document,
                [typist.editor for typist in group if isinstance(typist, NativeTypist)],
                [editor for typist in group for editor in typist.editors],
            ).revision  # fmt: skip
        natives = [t.typist.editor for t in self.threads if isinstance(t.typist, NativeTypist)]
        whalers = [editor for t in self.threads for editor in t.typist.editors]
        figures = {
            **{f"{kind}s": count for kind, count in sorted(self.counts.items())},
            "edits typed": sum(thread.edits for thread in self.threads),
            "changes in the logs": changes,
            "acknowledged, native": sum(len(editor.confirmed) for editor in natives),
            "acknowledged, Whaler": sum(len(editor.confirmed) for editor in whalers),
            "sent again": sum(editor.resent for editor in natives),
            "acknowledged edits lost": 0,
            "edits doubled": 0,
        }
        for kind, seconds in sorted(self.again.items()):
            figures[f"typing again after a {kind}, ms, p50 p99 most"] = shares(seconds)
        if self.whole_again:
            key = "typing again after a cut is over, ms, p50 p99 most"
            figures[key] = shares(self.whole_again)
        for kind in sorted(self.counts):
            seconds = [seconds for name, seconds in self.pauses if name == kind]
            if seconds:
                figures[f"others' longest wait at a {kind}, ms, p50 p99 most"] = shares(seconds)
        if self.pressed is not None:
            # Waits are not meaningful if other processes use the machine.
            share = (pressed() - self.pressed) / (time.monotonic() - self.began)
            figures["of the time something waited for a processor, %"] = round(100 * share)
        figures["in the room"] = in_room
        figures["counters of the gateways' last runs"] = counters
        return figures

    def counters(self):
        found = {}
        for server in self.servers:
            for line in server.request("GET", "/metrics")[2].decode().splitlines():
                name, _, value = line.partition(" ")
                if name.removeprefix("parley_").removesuffix("_total") in COUNTERS:
                    found[name] = found.get(name, 0) + int(float(value))
        return found

    def close(self):
        for thread in self.threads:
            thread.is_over.set()
        for server in self.servers:
            if server.is_running:
                server.process.send_signal(signal.SIGCONT)
        self.stack.close()


def pressed():
    """Returns the seconds for which processes of this machine have waited for a processor; `None` if unknown."""
    with contextlib.suppress(OSError):
        words = pathlib.Path("/proc/pressure/cpu").read_text().split()
        return int(words[4].removeprefix("total=")) / 1e6
    return None


# The counters that a run sums up.
COUNTERS = {
    "commit_conflicts", "adopted_entries", "resubmitted_changes", "sessions_begun",
    "fenced_changes", "unknown_outcomes", "hints_sent", "hints_heard", "store_reconnects",
    "broker_reconnects",
}  # fmt: skip


def shares(seconds):
    ordered = sorted(seconds)
    return [
        round(1_000 * ordered[min(int(len(ordered) * part), len(ordered) - 1)])
        for part in (0.5, 0.99, 1)
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for kind, count in (("kill", 1_000), ("stop", 200), ("cut", 100), ("restart", 20), ("promotion", 20)):
        parser.add_argument(f"--{kind}s", type=int, default=count)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--broker-url", help="as the setting; the database unless named")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    gc.disable()
    kinds = [
        kind for kind in ("kill", "stop", "cut", "restart", "promotion")
        for _ in range(getattr(arguments, kind + "s"))
    ]  # fmt: skip
    random.Random(arguments.seed ^ 0x5EED).shuffle(kinds)
    flags = ["--broker-url", arguments.broker_url] if arguments.broker_url else []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = ClusterRun(
            folder, arguments.seed, flags=flags, has_standby=arguments.promotions > 0
        )  # fmt: skip
        try:
            run.start()
            for number, kind in enumerate(kinds, 1):
                run.happen(kind)
                if number % GHOSTS_EVERY == 0 or number == len(kinds):
                    run.room.look_for_ghosts(run.servers)
                if number % 50 == 0:
                    print(f"{number} events, {time.monotonic() - began:.0f} s", flush=True)
            figures = run.finish()
        finally:
            run.close()
    figures["seconds"] = round(time.monotonic() - began)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
