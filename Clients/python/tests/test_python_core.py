"""The client core of the Python package, as a shared library and as WebAssembly: the same through both."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading

import pytest
from parley_server import ROOT
from patience import PROGRAM_SECONDS
from python_core import LIBRARY, Line, lay_out

KINDS = ["library", "wasm"]
WORDS = ["a", "word ", "\n", "\r\n", "é", "e\u0301", "字", "😀", "👨‍👩‍👧", "\u0000", '"', "\\", "\u2028"]


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def package(laid_out):
    """The package's modules, loaded for these tests, which compile its WebAssembly once."""
    forget_package()
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(laid_out))
        import parley.core
        import parley.doors

        yield parley
    forget_package()


def forget_package():
    for name in [name for name in sys.modules if name.split(".")[0] == "parley"]:
        del sys.modules[name]


@pytest.fixture(params=KINDS)
def new_core(package, monkeypatch, request):
    monkeypatch.setenv("PARLEY_CORE", request.param)

    def new_core():
        core = package.core.Core(package.doors.create_core())
        assert core.kind == request.param
        return core

    return new_core


def run(program, folder, **environment):
    """Runs a program with the package; returns what it has printed."""
    ended = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, timeout=PROGRAM_SECONDS,
        env={"PYTHONPATH": ":".join(map(str, [folder, pathlib.Path(__file__).parent, ROOT / "Tests" / "System"])), "PATH": os.environ["PATH"], **environment},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, ended.stderr


def test_an_edit_is_sent_in_scalars_and_received_in_units(new_core):
    core = new_core()
    line = Line(core, "a😀b")
    line.take(core.edit(0, "d", [(3, 1, "字")]))
    assert line.messages[-1]["data"]["operation"] == [2, "字", -1]
    applied = [action.values for action in line.receive('[2,"👍",1]') if action.kind == "apply"]
    assert applied == [(1, ((3, 0, "👍"),), "")]
    assert core.text("d") == "a😀👍字" and core.revision("d") == 1


def test_what_does_not_fit_is_refused_and_changes_nothing(new_core, package):
    core = new_core()
    with pytest.raises(package.core.CoreError):
        core.handle(0, "start")
    line = Line(core, "text")
    for events in [("edit", "d", 2, 3, 1, "", 0, 1, ""), ("edit", "d", 1, 1), ("restore", "n", b"no", "text"), ("publish", "r")]:
        with pytest.raises(package.core.CoreError):
            core.handle(0, *events)
    for now in (-1, 2**54, 1e300, float("inf"), float("nan")):
        with pytest.raises(package.core.CoreError):
            core.handle(now, "wake")
    assert core.text("d") == "text" and core.text("never opened") is None
    line.edit(0, 4, "other")
    assert core.text("d") == "other"


def random_bytes(rng, line):
    """A call of the door: mostly events, whole or spoilt."""
    text = line.core.text("d") or ""
    units = len(text.encode("utf-16-le")) // 2
    word = "".join(rng.choices(WORDS, k=rng.randrange(4)))
    start = rng.randrange(units + 2)
    from parley.core import _EVENTS, _Writer

    kind, *values = rng.choice([
        ("edit", "d", 1, start, rng.randrange(3), word),
        ("edit", "d", 2, start, 1, word, start + rng.randrange(9), 0, word),
        ("select", "d", start, rng.randrange(units + 2)),
        ("received", line_of(rng, word, len(text), line)),
        ("received", word), ("open", word), ("leave", word), ("wake",), ("suspending",), ("closed", 1006), ("opened",),
        ("subscribe", word, 1, "e", 3), ("publish", "r", word, "", '{"a":[1,2,{"b":null}]}'), ("typing", "r", 1),
        ("kept", "d", 3), ("keepFailed", "d"), ("discard", "d"), ("profile", word, "#abc"), ("token", word),
    ])  # fmt: skip
    data = bytearray(_Writer(bytearray([_EVENTS[kind]])).write(*values).parts)
    if rng.random() < 0.3:
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    return bytes(data)


def line_of(rng, word, count, line):
    """A message of the server, now and then of another length than the text."""
    at = rng.randrange(count + 1)
    line.revision += 1
    return json.dumps({"messageId": "s", "type": rng.choice(["changes", "acknowledged", "presence", "pong"]), "data": {
        "documentId": "d", "revision": line.revision, "sequence": line.revision, "changes": [{
            "clientId": "bo", "sequence": line.revision,
            "operation": [part for part in (at, word, count - at) if part],
        }],
    }})  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_both_answer_alike_whatever_comes(package, monkeypatch, seed):
    """Every call has the same result and the same output; neither ends the process."""
    lines = []
    for kind in KINDS:
        monkeypatch.setenv("PARLEY_CORE", kind)
        lines.append(Line(package.core.Core(package.doors.create_core()), "a😀 text"))
    library, wasm = (line.core._door for line in lines)
    rng = random.Random(seed)
    for step in range(300):
        data = random_bytes(rng, lines[0])
        now = float(step * 100)
        results = [door.call("client_handle", data, now) for door in (library, wasm)]
        assert results[0] == results[1], (seed, step, data)
        assert library.output() == wasm.output(), (seed, step, data)
        for name in ("note_text", "note_people", "room_people", "kept_text", "note_revision"):
            id = rng.choice([b"d", b"r", data[-9:]])
            fields = len(id).to_bytes(8, "little") if rng.random() < 0.1 else package.core._Writer().write(id).parts[:8]
            calls = [door.call(name, bytes(fields) + id) for door in (library, wasm)]
            assert calls[0] == calls[1], (seed, step, name, id)
            assert library.output() == wasm.output(), (seed, step, name, id)


LONG_RUN = """
from python_core import Line, resident_bytes
from parley.core import Core
from parley.doors import create_core
core = Core(create_core())
line = Line(core, "wörd 字 " * 1500)
def memory():
    return resident_bytes() if core.kind == "library" else core._door._memory.data_len(core._door._store)
def go(count):
    for number in range(count):
        line.edit(number * 7919 % 9000, 1, "wv"[number % 2])
        if number % 10 == 0:
            line.receive('["x",%d]' % 10500)
            line.receive('[-1,%d]' % 10500)
go(EDITS // 10)
before = memory()
go(EDITS - EDITS // 10)
print(memory() - before, len(core.text("d")))
"""


# The memory of WebAssembly never shrinks and is counted to the byte, so fewer edits show a leak there.
@pytest.mark.parametrize("kind, edits, grown_max", [("library", 100_000, 1_000_000), ("wasm", 10_000, 500_000)])
def test_edits_leave_no_memory_behind(laid_out, kind, edits, grown_max):
    said, _ = run(LONG_RUN.replace("EDITS", str(edits)), laid_out, PARLEY_CORE=kind)
    grown, length = map(int, said.split())
    # A leak of ten bytes an edit would be 1 MB.
    assert length == 10_500 and grown < grown_max


@pytest.mark.parametrize("kind, clients", [("library", 2_000), ("wasm", 100)])
def test_cores_that_are_gone_leave_no_memory_behind(laid_out, kind, clients):
    said, _ = run(
        f"""
from python_core import Line, resident_bytes
from parley.core import Core
from parley.doors import create_core
def go(count):
    for _ in range(count):
        Line(Core(create_core()), "word " * 2000).edit(0, 1, "W")
go({clients} // 4)
before = resident_bytes()
go({clients})
print(resident_bytes() - before)
""",
        laid_out, PARLEY_CORE=kind,
    )  # fmt: skip
    # A text of 10 kB each would be 20 MB, a memory of WebAssembly's 100 MB.
    assert int(said) < 5_000_000


def test_cores_on_threads_of_their_own(new_core):
    texts = {}

    def write(number):
        line = Line(new_core(), "")
        for step in range(200):
            line.edit(0, 0, f"{number}.{step} ")
        texts[number] = line.core.text("d")

    threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(6):
        assert texts[number] == "".join(f"{number}.{step} " for step in reversed(range(200)))


def cut_off(library):
    library.write_bytes(library.read_bytes()[: 200_000])


def is_a_text(library):
    library.write_text("This is not a library.\n")


def of_another_machine(library):
    data = bytearray(library.read_bytes())
    data[18:20] = (183 if data[18] == 62 else 62).to_bytes(2, "little")
    library.write_bytes(data)


def another_library(library):
    library.write_bytes(of_the_compiler(library, "int other(void) { return 1; }"))


def of_another_version(library):
    names = "parley_client_new parley_client_free parley_client_output".split()
    rest = "".join(f"int {name}(void) {{ return 0; }}" for name in names)
    library.write_bytes(of_the_compiler(library, f"int parley_client_version(void) {{ return 99; }}{rest}"))


def of_the_compiler(library, source):
    made = library.with_name("made.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", made], input=source, text=True, check=True)
    return made.read_bytes()


def without_its_own_checksum(library):
    library.with_name(f"{library.name}.sha256").unlink()


def with_its_checksum(spoil):
    """Damages the library, with a checksum of the result: only loading it fails."""

    def spoil_both(library):
        spoil(library)
        command = "sha256sum libparleyclient.so >libparleyclient.so.sha256"
        subprocess.run(command, shell=True, check=True, cwd=library.parent)

    return spoil_both


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (cut_off, "does not match its checksum"), (is_a_text, "does not match its checksum"),
        (without_its_own_checksum, "has no checksum"),
        (with_its_checksum(is_a_text), "cannot be loaded"), (with_its_checksum(of_another_machine), "cannot be loaded"),
        (with_its_checksum(another_library), "cannot be loaded: .*parley_client_version"),
        (with_its_checksum(of_another_version), "expected interface version 2, got 99"),
    ],
)  # fmt: skip
def test_a_library_that_does_not_fit_gives_way(tmp_path, spoil, reason):
    lay_out(tmp_path)
    library = tmp_path / "parley" / LIBRARY.name
    spoil(library)
    program = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import parley
    from parley.doors import create_core
    from parley.core import Core
    from python_core import Line
    cores = [Core(create_core()) for _ in range(2)]
Line(cores[0], "text").edit(0, 1, "T")
print(cores[0].kind, cores[0].text("d"), *(f"{each.category.__name__}: {each.message}" for each in caught), sep="|")
"""
    kind, text, *warned = run(program, tmp_path)[0].strip().split("|")
    assert (kind, text, len(warned)) == ("wasm", "Text", 1)
    assert re.search(f"^LibraryUnavailable: .*{reason}.*using WebAssembly instead", warned[0])
    said, _ = run(
        "import parley, parley.doors\ntry: parley.doors.create_core()\nexcept parley.CoreUnavailable as e: print(e)",
        tmp_path, PARLEY_CORE="library",
    )  # fmt: skip
    assert "the client core cannot be loaded: the package's library" in said


def test_a_package_without_a_library_says_nothing(tmp_path):
    lay_out(tmp_path, library=False)
    program = "import parley.doors; print(parley.doors.create_core().kind)"
    said, warned = run(program, tmp_path)
    assert (said, warned) == ("wasm\n", "")


def test_a_machine_with_neither_says_what_is_missing(tmp_path):
    lay_out(tmp_path)
    is_a_text(tmp_path / "parley" / LIBRARY.name)
    (tmp_path / "wasmtime.py").write_text("raise ImportError('not for this machine')")
    said, _ = run(
        """
import asyncio, parley
async def main():
    async with parley.connect("http://127.0.0.1:1"): pass
try: asyncio.run(main())
except parley.CoreUnavailable as error: print(error)
""",
        tmp_path,
    )  # fmt: skip
    assert "library" in said and "WebAssembly cannot be used: ImportError" in said


def test_rejects_an_unknown_choice(package, monkeypatch):
    monkeypatch.setenv("PARLEY_CORE", "python")
    with pytest.raises(ValueError, match="expected PARLEY_CORE to be library or wasm, got 'python'"):
        package.doors.create_core()


C_PROGRAM = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "parley_client.h"

static void *library;
#define CALL(name) ((__typeof__(&name))dlsym(library, #name))

static uint8_t bytes[1024];
static int32_t count;

static void number(double value) { memcpy(bytes + count, &value, 8); count += 8; }
static void text(const char *value) {
  number((double)strlen(value));
  memcpy(bytes + count, value, strlen(value));
  count += (int32_t)strlen(value);
}

int main(int argc, char **argv) {
  library = dlopen(argv[argc - 1], RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  if (CALL(parley_client_version)() != PARLEY_CLIENT_VERSION) return 2;
  parley_client *client = CALL(parley_client_new)();
  text("Ann"); text("#123456"); number(7); number(0); text(""); text("");
  if (CALL(parley_client_create)(client, bytes, count)) return 3;
  uint8_t start = 1;
  int32_t actions = CALL(parley_client_handle)(client, &start, 1, 0);
  int32_t written;
  const uint8_t *output = CALL(parley_client_output)(client, &written);
  printf("%d", actions);
  for (int32_t index = 0; index < written; index += 1) printf(" %02x", output[index]);
  uint8_t none = 99;
  printf("\n%d\n", CALL(parley_client_handle)(client, &none, 1, 0));
  CALL(parley_client_free)(client);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "musl-gcc"])
def test_a_program_in_c_uses_it_with_either_c_library(package, monkeypatch, tmp_path, compiler):
    assert shutil.which(compiler), f"{compiler} is missing: Scripts/install-packages.sh test installs it"
    subprocess.run(
        [compiler, "-Wall", "-Wextra", "-Werror", "-I", ROOT / "Clients/c", "-x", "c", "-", "-o", "uses", "-ldl"],
        input=C_PROGRAM, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    ended = subprocess.run([tmp_path / "uses", LIBRARY], capture_output=True, text=True, check=True)
    monkeypatch.setenv("PARLEY_CORE", "wasm")
    core = package.core.Core(package.doors.create_core())
    core.create("Ann", "#123456", 7, None)
    actions = core.handle(0, "start")
    assert ended.stdout == f"{len(actions)} {core._output().hex(' ')}\n-1\n"


def test_a_warning_may_be_an_error(tmp_path):
    """A program that wants no fallback raises the warning."""
    lay_out(tmp_path)
    is_a_text(tmp_path / "parley" / LIBRARY.name)
    program = """
import warnings, parley, parley.doors
warnings.simplefilter("error", parley.LibraryUnavailable)
for _ in range(2):
    try: parley.doors.create_core()
    except parley.LibraryUnavailable: print("raised")
"""
    assert run(program, tmp_path)[0] == "raised\nraised\n"


@pytest.mark.long
def test_the_benchmark_runs(tmp_path):
    subprocess.run(
        [sys.executable, ROOT / "Benchmarks" / "bench_python.py", "--edits", "400", "--write", tmp_path / "python.md"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    rows = dict(re.findall(r"^\| (\w[^|]*) \| (.*) \|$", (tmp_path / "python.md").read_text(), re.M))
    written = dict(re.findall(r"^\| (\w[^|]*) \| (.*) \|$", (ROOT / "Benchmarks" / "python.md").read_text(), re.M))
    without_count = [{re.sub(r"[\d,]+ edits", "edits", what) for what in each} for each in (rows, written)]
    assert without_count[0] == without_count[1] and len(rows) == 8
