#!/usr/bin/env python3
"""Runs the tests of the parts named, and ends with one line for all of them.

    Scripts/run_tests.py growth swift fuzz web clients browser

`PART=NAME,NAME` runs some of a part: test targets of Swift, or test files.

Each part is run by its own runner, whose output is shown and written to artifacts/logs. The other parts run even if one
fails. The counts are read from the runners' output; a runner that fails without naming a failed test counts as one
failure. The failures are repeated at the end, with the time of each part, before the final line.

The tests that measure processor time run alone, since other processes would use their caches. All other parts run
concurrently, since they wait for most of their time; the output of a part is shown when the earlier parts have ended.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "artifacts" / "logs"
PYTHON = os.environ.get("PYTHON", ".venv/bin/python")


class Counts:
    """The numbers that a runner has reported."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.concluded = False

    def add(self, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {self.skipped} skipped" if self.skipped else text


def read_swift(lines):
    """`✔ Test "name" passed after …` for each test, then `✔ Test run with 12 tests …`."""
    counts = Counts()
    for line in lines:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        run = re.search(r"Test run with (\d+) tests?\b.* (passed|failed) after", line)
        if run:
            counts.concluded = True
            total = int(run.group(1))
            counts.passed = max(0, total - counts.failed - counts.skipped)
        # Names of tests may contain such words, so only the end of the line decides.
        elif re.match(r"\S+ +Test (?!case |run ).* failed after [\d.]+ seconds\b[^\"]*$", line):
            counts.failed += 1
        elif re.match(r"\S+ +Test (?!case |run ).* skipped(\.|: \".*\")$", line):
            counts.skipped += 1
    return counts


def read_node(lines):
    """`# pass 12`, `# fail 0`, `# skipped 0` at the end, with another sign on a terminal."""
    found = {}
    for line in lines:
        match = re.match(r"\S+ (pass|fail|cancelled|skipped) (\d+)$", line)
        if match:
            found[match.group(1)] = int(match.group(2))
    counts = Counts()
    counts.concluded = "pass" in found
    counts.add(
        found.get("pass", 0),
        found.get("fail", 0) + found.get("cancelled", 0),
        found.get("skipped", 0),
    )
    return counts


def read_pytest(lines):
    """`==== 1 failed, 12 passed in 3.45s ====`."""
    counts = Counts()
    for line in lines:
        if not re.search(r"\b(passed|failed|errors?|skipped)\b.* in \d", line):
            continue
        found = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", line)}
        counts = Counts()
        counts.concluded = True
        counts.add(
            found.get("passed", 0) + found.get("xfailed", 0),
            found.get("failed", 0)
            + found.get("error", 0)
            + found.get("errors", 0)
            + found.get("xpassed", 0),
            found.get("skipped", 0),
        )
    return counts


def read_fuzz(lines):
    """`fuzz Messages: 150 kept inputs and 5000 runs passed` for each target."""
    counts = Counts()
    for line in lines:
        match = re.match(r"fuzz \w+: .*\b(passed|failed)$", line)
        if match:
            counts.concluded = True
            counts.add(match.group(1) == "passed", match.group(1) == "failed", 0)
    return counts


# Patterns of the lines in which each runner reports failures.
TELLS_OF_FAILURE = {
    "growth": r"\S+ +Test (?!case |run ).* (recorded an issue|failed after)\b",
    "swift": r"\S+ +Test (?!case |run ).* (recorded an issue|failed after)\b",
    "fuzz": r"fuzz \w+: .*\bfailed$",
    "web": r"not ok \d+ - |✖ ",
    "clients": r"(FAILED|ERROR) \S",
    "browser": r"(FAILED|ERROR) \S",
}
FAILURES_SHOWN = 12


def failures(part, lines):
    """Returns a runner's lines about failures, shortened to `FAILURES_SHOWN` lines."""
    plain = (re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in lines)
    found = [line[:300] for line in plain if re.match(TELLS_OF_FAILURE[part], line)]
    left = len(found) - FAILURES_SHOWN
    return found[:FAILURES_SHOWN] + ([f"and {left} lines more"] if left > 0 else [])


def is_worth_showing(part, line):
    """Whether a line is shown. Swift Testing reports the start and the end of each test; the end is enough."""
    if part not in ("growth", "swift"):
        return True
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
    return not re.match(r"\S+ +(Test|Suite) .* started\.$|\S+ +Test case passing ", plain) and (
        not re.match(r"\S+ +Test case .* passed after", plain)
    )


def pytest_command(folders, files, *options):
    return [PYTHON, "-m", "pytest", "-q", "--color=no", "-m", "not long", *options, *(files or folders)]


# Clients spend three quarters of their time waiting for pings, grace periods and the end of tokens; pages half of it.
CLIENT_FOLDERS = ["Tests/System", "Tests/Clients", "Clients/python/tests"]
CLIENT_OPTIONS = ["--numprocesses=4", "--dist=worksteal"]
BROWSER_FOLDERS = ["Tests/Browser"]
BROWSER_OPTIONS = ["--numprocesses=3", "--dist=worksteal"]


def node_command(_):
    files = sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "Tests" / "Web").rglob("*.test.*js")
        if "node_modules" not in path.parts
    )
    return [shutil.which("node") or "node", "--test", *files] if files else None


SWIFT_TEST = ["swift", "test", "-c", "release", "--disable-xctest", "--skip-build"]
# The names of the tests that measure processor time; ParleyArchitectureTests requires them.
MEASURING = "/growth"



def swift_command(targets, *, measuring):
    """Returns the command that runs the tests of these targets, or of all."""
    among = f"^({'|'.join(targets)})[.].*" if targets else ""
    if measuring:
        return [*SWIFT_TEST, "--filter", among + MEASURING]
    return [*SWIFT_TEST, "--skip", MEASURING, *(["--filter", among] if among else [])]


# For each part: its title, its command for a selection of tests, and the parser of its output.
PARTS = {
    "growth": ("Swift Testing, processor time", lambda names: swift_command(names, measuring=True), read_swift),
    "swift": ("Swift Testing", lambda names: swift_command(names, measuring=False), read_swift),
    "fuzz": ("libFuzzer", lambda _: ["Scripts/fuzz.sh", "replay"], read_fuzz),
    "web": ("node", node_command, read_node),
    "clients": (
        f"pytest {' '.join(CLIENT_FOLDERS)}",
        lambda files: pytest_command(CLIENT_FOLDERS, files, *CLIENT_OPTIONS),
        read_pytest,
    ),
    "browser": (
        "pytest Tests/Browser",
        lambda files: pytest_command(BROWSER_FOLDERS, files, *BROWSER_OPTIONS),
        read_pytest,
    ),
}


# Each of these parts has its own servers and folders.
RUNS_BESIDE = {"fuzz", "web", "clients", "browser"}


class Run(threading.Thread):
    """A thread that runs one part.

    `result`: the title, the counts, whether the part passed, its lines about failures, and its cost.
    """

    def __init__(self, part, names):
        super().__init__()
        self.part = part
        self.names = names
        self.result = (part, Counts(), False, [], "0 s")
        self.shown = threading.Lock()
        self.is_in_front = False
        self.waiting = []

    def show(self, text):
        with self.shown:
            if self.is_in_front:
                print(text, flush=True)
            else:
                self.waiting.append(text)

    def come_to_front(self):
        with self.shown:
            for text in self.waiting:
                print(text)
            sys.stdout.flush()
            self.is_in_front = True

    def run(self):
        self.result = run(self.part, self.names, self.show)


def groups(parts):
    """Returns the parts in order. Parts that run concurrently are in one list."""
    grouped = []
    for part in parts:
        if part in RUNS_BESIDE and grouped:
            grouped[-1].append(part)
        else:
            grouped.append([part])
    return grouped


def run_all(parts):
    """Runs parts, given with the tests selected of each."""
    results = []
    for group in groups(parts):
        runs = [Run(part, parts[part]) for part in group]
        for each in runs:
            each.start()
        for each in runs:
            each.come_to_front()
            each.join()
            results.append(each.result)
    return results


def run(part, names, show):
    """Runs one part, or the tests named. Returns the content of `Run.result`."""
    title, command, read = PARTS[part]
    arguments = command(names)
    if arguments is None:
        return title, Counts(), True, [], "0 s"
    show(f"\n--- {title}")
    lines = []
    began = time.monotonic()
    # The workers of pytest compile each module once, outside the folders of the sources.
    environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(ROOT / ".build" / "python-bytecode"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with (
        open(LOGS / f"{part}.log", "w", encoding="utf-8") as log,
        subprocess.Popen(
            arguments,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        for line in process.stdout:
            log.write(line)
            lines.append(line.rstrip("\n"))
            if is_worth_showing(part, lines[-1]):
                show(lines[-1])
        # Unlike `wait`, this reports the processor time of the part and its children.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(status)
    counts = read(lines)
    good = status == 0 and counts.concluded and counts.failed == 0
    if not good and counts.failed == 0:
        counts.failed = 1
        show(f"{title} ended with status {status} and did not say which test failed")
    cost = f"{time.monotonic() - began:.0f} s ({usage.ru_utime + usage.ru_stime:.0f} s of processor time)"
    show(f"--- {title}: {counts} in {cost}")
    return title, counts, good, [] if good else failures(part, lines), cost


def main(arguments):
    parts = {part: [name for name in names.split(",") if name] for part, _, names in (one.partition("=") for one in arguments)}
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        sys.exit(f"expected some of {', '.join(PARTS)}; got {' '.join(parts) or 'nothing'}")
    LOGS.mkdir(parents=True, exist_ok=True)
    results = run_all(parts)
    total = Counts()
    print()
    for title, counts, good, said, cost in results:
        print(f"{'ok ' if good else 'BAD'}  {title}: {counts} in {cost}")
        for line in said:
            print(f"       {line}")
        total.add(counts.passed, counts.failed, counts.skipped)
    print()
    print(total, flush=True)
    sys.exit(0 if all(good for _, _, good, _, _ in results) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
