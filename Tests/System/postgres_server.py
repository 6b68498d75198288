"""PostgreSQL for the tests, with a new data folder and without a TCP port. It ends with the tests."""

import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from patience import PROGRAM_SECONDS, wait_until

# PostgreSQL refuses to run as root.
USER = "postgres"


def binaries():
    """Returns the folder with the programs of the newest version."""
    versions = sorted(
        pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)
    )
    assert versions, "expected PostgreSQL's initdb; install the package postgresql"
    return versions[-1]


class PostgresServer:
    """A server with any number of databases."""

    def __init__(self, settings=(), parent=None, follows=None):
        """Creates a server, or a standby if `follows` is a running server."""
        in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-pg-", dir=parent or in_memory))
        self.folder.chmod(0o755)
        if os.getuid() == 0:
            shutil.chown(self.folder, USER)
        self.numbers = itertools.count(1)
        self.settings = list(settings)
        self.process = None
        if follows:
            self.copy(follows)
            return
        self.run(
            "initdb", "-D", self.folder / "data", "-U", "parley", "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync",
        )  # fmt: skip

    def copy(self, primary):
        """Replaces the data with that of another server, and follows it from the next start on."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        self.run(
            "pg_basebackup", "-D", self.folder / "data", "-h", primary.folder, "-U", "parley",
            "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
        )  # fmt: skip

    def has_commits_wait(self, wait):
        """Makes commits wait for a standby, after it has caught up; or no longer."""
        if not wait:
            self.configure("RESET synchronous_standby_names")
            return
        self.configure("SET synchronous_standby_names = '*'")
        wait_until(lambda: self.execute("SHOW synchronous_standby_names") == ["*"])
        # The checkpointer passes the names of standbys to commits, and reads the settings before it makes a checkpoint.
        self.execute("CHECKPOINT")
        behind = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= "
        reached = self.execute("SELECT pg_current_wal_lsn()")[0]
        wait_until(lambda: self.execute(f"{behind}'{reached}'") == ["1"])

    def configure(self, words):
        self.execute(f"ALTER SYSTEM {words}")
        self.execute("SELECT pg_reload_conf()")

    def promote(self):
        """Promotes a standby, whose commits wait for no other."""
        self.has_commits_wait(False)
        assert self.execute("SELECT pg_promote()") == ["t"]

    @property
    def owner(self):
        return {"user": USER, "group": USER, "extra_groups": []} if os.getuid() == 0 else {}

    def run(self, program, *arguments, check=True):
        """Runs a program of PostgreSQL, and returns its output."""
        ended = subprocess.run(
            [binaries() / program, *arguments], check=False, capture_output=True, text=True,
            cwd="/", timeout=PROGRAM_SECONDS, **self.owner,
        )  # fmt: skip
        assert not check or ended.returncode == 0, ended.stderr
        return ended.stdout

    def start(self):
        """Starts the server, and returns when it takes connections."""
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    binaries() / "postgres", "-D", self.folder / "data", "-k", self.folder,
                    "-c", "listen_addresses=", "-c", "shared_buffers=32MB",
                    *(part for setting in self.settings for part in ("-c", setting)),
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", **self.owner,
            )  # fmt: skip
        wait_until(self.is_ready)
        return self

    def is_ready(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        # 0 is ready; 1 and 2 are on the way there.
        command = [binaries() / "pg_isready", "-q", "-h", self.folder, "-d", "postgres"]
        return subprocess.run(command, check=False).returncode == 0

    def kill(self):
        """Ends all of the server's processes at once, as a crash would."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=PROGRAM_SECONDS)

    def freeze(self, is_frozen):
        """Stops all of the server's processes, or continues them."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for number in [self.process.pid, *map(int, children.read_text().split())]:
            os.kill(number, signal.SIGSTOP if is_frozen else signal.SIGCONT)

    def stop(self):
        """Ends the server: connections are closed."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=PROGRAM_SECONDS)

    def remove(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder)

    def execute(self, sql, database="postgres"):
        """Runs SQL, and returns its rows as text."""
        return self.run(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U",
            "parley", "-d", database, "-c", sql,
        ).splitlines()  # fmt: skip

    def new_database(self):
        """Creates an empty database, and returns its address."""
        name = f"test{next(self.numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return f"postgres:///{name}?host={self.folder}&user=parley"
