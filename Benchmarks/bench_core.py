#!/usr/bin/env python3
"""Measures OTCore beside the floor, in turn, and writes the page of results.

    Benchmarks/bench_core.py [--rounds 7] [--seconds 2] [--traces FOLDER] [--scale 1] [--no-browser]
                          [--write FOLDER]

Every workload is run by the floor and by `ot-bench` one after the other, in as many rounds as asked
for; a ratio is the median of the rounds' medians over the floor's. What both computed is checked
against the workload files. `make bench-core` writes Benchmarks/Core/results.md, results.jsonl and the
plots; without `--write` the table alone is shown.

Python's standard library is enough, but for the rows of the browser, which need Playwright.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "Benchmarks" / "Core"
WORK = ROOT / ".build" / "bench-core"
BENCH = pathlib.Path(os.environ.get("OT_BENCH", ROOT / ".build" / "release" / "ot-bench"))

# What is to be reached, as multiples of the floor: row, must, goal.
TARGETS = {
    "pairs:pairs-small": (1.6, 1.3),
    "pairs:pairs-large": (1.0, 0.7),
    "apply:automerge-paper": (3, 1.6),
    "apply:rustcode": (3.1, 2.5),
    "apply:sveltecomponent": (4, 3),
    "apply1:pairs-large": (2.5, 2),
    "compose:chunk.automerge-paper": (3, 2),
    "compose:chunk.rustcode": (2, 1.4),
    "compose:fold.automerge-paper": (4, 2),
    "compose:fold.rustcode": (4, 2),
    "decode:operation-100k": (3, 2),
    "decode:pairs-large": (3, 2),
    "rebase:10k one": (1.3, 1),
    "rebase:10k three": (1.6, 1.3),
    "rebase:10k fifty": (1.1, 0.8),
    "session:friendsforever": (1, 0.8),
    "cursors": (1.3, 1),
}

# What each row asks.
QUESTIONS = {
    "pairs": "both transformed operations of a pair",
    "decode": "an operation's JSON form read, per component",
    "encode": "an operation's JSON form written, per component",
    "apply1": "one operation onto a whole document, giving a new one",
    "apply": "a trace, edit by edit",
    "compose:chunk": "1,000 edits into one operation",
    "compose:fold": "a whole trace into one operation",
    "rebase": "one operation over a whole history, per step",
    "session": "a session through one server",
    "cursors": "100 cursors through 10,000 operations",
}


def run(*command, **options):
    """Runs a program and returns what it printed."""
    return subprocess.run(
        [str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options
    ).stdout


def build_floor():
    WORK.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    program = WORK / "floor"
    run(compiler, "-O3", "-march=native", "-o", program, SOURCES / "floor.c")
    return program


def generate(traces, scale):
    """The workload files, made again only when the generator or the traces are others."""
    data = WORK / ("data" if scale == 1 else f"data-{scale}")
    names = sorted(str(p) for p in pathlib.Path(traces).rglob("*.json*")) if traces else []
    sources = [ROOT / "Sources" / "ot-bench" / "Generation.swift"]
    sources += [ROOT / "Sources/Kits/ParleyOTWorkloads" / f"{n}.swift" for n in ("PlainOperation", "TypedText")]
    made = hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()
    stamp = json.dumps([made, names, scale])
    if (data / "stamp").is_file() and (data / "stamp").read_text() == stamp:
        return data
    shutil.rmtree(data, ignore_errors=True)
    extra = ["--traces", traces] if traces else []
    run(BENCH, "generate", data, "--scale", scale, *extra)
    (data / "stamp").write_text(stamp)
    return data


def header(data, name):
    with open(data / f"{name}.jsonl", encoding="utf-8") as file:
        return json.loads(file.readline())


def workloads(data):
    """Names as both programs take them, and whether the floor, which counts bytes, can run them."""
    for path in sorted(data.glob("*.jsonl")):
        name = path.stem
        kind = header(data, name)["kind"]
        if kind == "pairs":
            yield f"pairs:{name}", "uni" not in name
            yield f"apply1:{name}", "uni" not in name
            if name == "pairs-large":
                yield f"decode:{name}", True
                yield f"encode:{name}", True
        elif kind == "operation":
            yield f"decode:{name}", True
            yield f"encode:{name}", True
        elif kind == "trace":
            trace = name.removeprefix("trace-")
            yield f"apply:{trace}", True
            yield f"compose:chunk.{trace}", True
            yield f"compose:fold.{trace}", True
        elif kind in ("rebase", "session"):
            yield f"{kind}:{name.removeprefix(kind + '-')}", True
        elif kind == "cursors":
            yield "cursors", True


def is_right(workload, data, output):
    """Whether the floor computed what the file says; None where its text is not the file's."""
    kind, _, name = workload.partition(":")
    result = output.read_bytes()
    digest = hashlib.sha256(result).hexdigest()
    if kind == "pairs":
        return digest == header(data, name)["transformed_sha256"]
    if kind in ("decode", "encode"):
        with (data / f"{name}.jsonl").open("rb") as file:
            next(file)
            # The files have the operations in the form that is written.
            lines = [line.rstrip(b"\n") for line in file]
        if name.startswith("pairs-"):
            lines = [part for line in lines for part in line[len(b'{"a":') : -1].split(b',"b":')]
        return result == b"".join(line + b"\n" for line in lines)
    if kind == "session":
        return digest == header(data, f"session-{name}")["end_sha256"]
    if kind in ("apply", "compose"):
        about = header(data, "trace-" + (name.split(".", 1)[1] if kind == "compose" else name))
        # Beyond ASCII a byte is no scalar: as many steps, but another text.
        return digest == about["end_sha256"] if about["ascii"] else None
    if kind == "cursors":
        return [int(line) for line in result.split()] == header(data, "cursors")[
            "final_if_insert_at_cursor_moves_it"
        ]
    if kind == "rebase":
        found = []
        while result:
            count, result = result.split(b"\n", 1)
            found.append(hashlib.sha256(result[: int(count)]).hexdigest())
            result = result[int(count) :]
        return found == header(data, f"rebase-{name}")["client_result_sha256"]
    return None


def measure(data, floor, rounds, seconds):
    """All rows: name, unit, nanoseconds of the floor and of OTCore, by round."""
    rows = {}
    everything_right = True

    def take(line, peer):
        name = line["workload"] + (f" {line['group']}" if "group" in line else "")
        row = rows.setdefault(name, {"unit": line["unit"], "floor": [], "parley": []})
        row[peer].append(line["ns"])

    for number in range(rounds):
        for workload, has_floor in workloads(data):
            if has_floor:
                output = WORK / "output"
                extra = [output] if number == 0 else []
                for line in run(floor, workload, data, seconds, *extra).splitlines():
                    take(json.loads(line), "floor")
                if extra and is_right(workload, data, output) is False:
                    print(f"the floor computes something else: {workload}", file=sys.stderr)
                    everything_right = False
            for text in run(BENCH, "run", workload, data, seconds, "--json").splitlines():
                line = json.loads(text)
                take(line, "parley")
                if not line["ok"]:
                    print(f"OTCore computes something else: {workload}", file=sys.stderr)
                    everything_right = False
        print(f"round {number + 1} of {rounds} done", file=sys.stderr, flush=True)
    return rows, everything_right


def memory():
    return [json.loads(line) for line in run(BENCH, "memory", "--json").splitlines()]


# --- The page.


def ratio(row):
    if not row["floor"]:
        return None
    return statistics.median(row["parley"]) / statistics.median(row["floor"])


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def question(name):
    for prefix, text in QUESTIONS.items():
        if name.startswith(prefix + ":") or name.startswith(prefix + ".") or name == prefix:
            return text
    return ""


def verdict(name, value):
    must, goal = TARGETS.get(name, (None, None))
    if value is None or (must is None and goal is None):
        return ""
    if goal is not None and value <= goal:
        return "goal"
    if must is not None:
        return "must" if value <= must else "**short**"
    return ""


def ordered(rows):
    """The rows with a target first, in their order, then the others by name."""
    known = [name for name in TARGETS if name in rows]
    return known + sorted(name for name in rows if name not in TARGETS)


def table(rows):
    lines = [
        "| row | asks | floor, ns | OTCore, ns | per | ratio | must | goal | reached |",
        "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | --- |",
    ]
    for name in ordered(rows):
        row = rows[name]
        value = ratio(row)
        must, goal = TARGETS.get(name, (None, None))
        floor = statistics.median(row["floor"]) if row["floor"] else None
        cells = [
            f"`{name}`",
            question(name),
            number(floor),
            number(statistics.median(row["parley"])),
            row["unit"],
            f"{value:.2f}" if value else "",
            number(must),
            number(goal),
            verdict(name, value),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine():
    model = "unknown"
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    swift = run("swift", "--version", stderr=subprocess.DEVNULL).splitlines()[0]
    compiler = run(os.environ.get("CC", "cc"), "--version").splitlines()[0]
    commit = run("git", "-C", ROOT, "describe", "--always", "--dirty").strip()
    return [
        ("processor", f"{model}, {os.cpu_count()} cores, {platform.machine()}"),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Swift", swift),
        ("C", compiler),
        ("commit", commit),
        ("day", datetime.date.today().isoformat()),
    ]


def page(rows, used, browser, command, seconds, rounds):
    facts = "\n".join(f"| {name} | {value} |" for name, value in machine())
    uni = ""
    if rows.get("pairs:pairs-small-uni") and rows.get("pairs:pairs-small"):
        wide = statistics.median(rows["pairs:pairs-small-uni"]["parley"])
        plain = statistics.median(rows["pairs:pairs-small"]["parley"])
        uni = (
            f"\nHalf non-ASCII text costs `pairs:pairs-small-uni` {wide / plain:.2f} times its ASCII"
            " row (must 1.2).\n"
        )
    memory_rows = "\n".join(
        f"| {row['memory']} | {row['bytes']:,.0f} | {row['bytes_max']:,.0f} |" for row in used
    )
    in_browser = ""
    if browser:
        lines = "\n".join(f"| {row['what']} | {row['value']} |" for row in browser)
        in_browser = f"""
## In the browser

The client core as WebAssembly, in Chromium, called as the page calls it: messages cross as JSON, edits as
UTF-16 positions. Elapsed time, on a machine that may have been busy.

| what | |
| --- | ---: |
{lines}
"""
    return f"""# Results

Written by `{command}`; do not edit. [README.md](README.md) says what the floor is and how to read this.

| | |
| --- | --- |
{facts}
| run | {rounds} rounds, {seconds:g} s a row and program, in turn |

## Times

Nanoseconds of processor time, the median of the rounds' medians. Every result was compared with the one
in the workload file.

{table(rows)}
{uni}
![Ratios to the floor](ratios.svg)

![Nanoseconds per unit](times.svg)

## Memory

Resident bytes each.

| | bytes | at most |
| --- | ---: | ---: |
{memory_rows}
{in_browser}"""


# --- The plots.

STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.faint { fill: #6e7781 } .bar { fill: #2f6f9f } .floor { fill: #b8c4ce } .short { fill: #b3402a }
.must { stroke: #b3402a; stroke-width: 2 } .goal { stroke: #2e8540; stroke-width: 2 }
.grid { stroke: #d8dee4 } .back { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .faint { fill: #9198a1 } .bar { fill: #6cb0e0 } .floor { fill: #57606a }
  .short { fill: #e5705a } .grid { stroke: #30363d } .back { fill: #0d1117 }
}
</style>"""


def position(value, low, high, width):
    import math

    value = min(max(value, low), high)
    return width * math.log(value / low) / math.log(high / low)


def svg(title, height, parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" role="img"'
        f' aria-label="{title}">\n{STYLE}\n<rect class="back" width="860" height="{height}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def ratios_plot(rows):
    """A bar for each row with a floor, with marks for must and goal, on a logarithmic scale."""
    names = [name for name in ordered(rows) if ratio(rows[name])]
    left, width, low, high = 250, 560, 0.5, 64
    bottom = 60 + 22 * len(names)
    parts = ['<text x="16" y="24">Times the floor (less is better; the floor is 1)</text>']
    for tick in (0.5, 1, 2, 4, 8, 16, 32, 64):
        x = left + position(tick, low, high, width)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="36" y2="{bottom}"/>')
        parts.append(f'<text class="faint" x="{x - 6:.1f}" y="{bottom + 16}">{tick:g}</text>')
    for index, name in enumerate(names):
        y = 42 + 22 * index
        value = ratio(rows[name])
        must, goal = TARGETS.get(name, (None, None))
        kind = "short" if must and value > must else "bar"
        size = position(value, low, high, width)
        parts.append(f'<text x="16" y="{y + 12}">{name}</text>')
        parts.append(
            f'<rect class="{kind}" x="{left}" y="{y + 2}" width="{max(size, 1):.1f}" height="12"/>'
        )
        for mark, style in ((must, "must"), (goal, "goal")):
            if mark:
                x = left + position(mark, low, high, width)
                parts.append(
                    f'<line class="{style}" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 1}" y2="{y + 17}"/>'
                )
        parts.append(f'<text class="faint" x="{left + width + 8}" y="{y + 12}">{value:.2f}</text>')
    parts.append(
        f'<text class="faint" x="16" y="{bottom + 34}">A red mark is a must, a green one a goal.</text>'
    )
    return svg("Ratios to the floor", bottom + 46, parts)


def times_plot(rows):
    """The floor's time and OTCore's for each row, on a logarithmic scale."""
    names = ordered(rows)
    left, width = 250, 530
    values = [ns for name in names for peer in ("floor", "parley") for ns in rows[name][peer]]
    low, high = min(values) / 1.5, max(values) * 1.2
    bottom = 60 + 30 * len(names)
    parts = ['<text x="16" y="24">Nanoseconds per unit: OTCore, and the floor in grey</text>']
    tick = 10.0 ** -2
    while tick < high:
        if tick > low:
            x = left + position(tick, low, high, width)
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="36" y2="{bottom}"/>')
            parts.append(
                f'<text class="faint" x="{x - 6:.1f}" y="{bottom + 16}">{tick:,g}</text>'
            )
        tick *= 10
    for index, name in enumerate(names):
        y = 42 + 30 * index
        parts.append(f'<text x="16" y="{y + 15}">{name}</text>')
        for line, (peer, style) in enumerate((("parley", "bar"), ("floor", "floor"))):
            if not rows[name][peer]:
                continue
            value = statistics.median(rows[name][peer])
            size = position(value, low, high, width)
            parts.append(
                f'<rect class="{style}" x="{left}" y="{y + 2 + 11 * line}" width="{size:.1f}"'
                ' height="10"/>'
            )
            if peer == "parley":
                parts.append(
                    f'<text class="faint" x="{left + width + 8}" y="{y + 15}">{number(value)} ns</text>'
                )
    return svg("Nanoseconds per unit", bottom + 30, parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--traces", default=os.environ.get("TRACES") or None)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    if not BENCH.is_file():
        sys.exit(f"{BENCH} is not there: run `swift build -c release --product ot-bench`")
    floor = build_floor()
    data = generate(options.traces, options.scale)
    rows, is_good = measure(data, floor, options.rounds, options.seconds)
    used = memory()
    browser = []
    if not options.no_browser:
        import bench_core_browser

        browser = bench_core_browser.measure(data)
    print(table(rows))
    for row in used:
        print(f"{row['memory']}: {row['bytes']:,.0f} bytes, at most {row['bytes_max']:,.0f}")
    for row in browser:
        print(f"{row['what']}: {row['value']}")
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        command = "make bench-core" + (" TRACES=FOLDER" if options.traces else "")
        text = page(rows, used, browser, command, options.seconds, options.rounds)
        (options.write / "results.md").write_text(text, encoding="utf-8")
        (options.write / "ratios.svg").write_text(ratios_plot(rows), encoding="utf-8")
        (options.write / "times.svg").write_text(times_plot(rows), encoding="utf-8")
        lines = [
            json.dumps({"row": name, **rows[name]}, separators=(",", ":")) for name in ordered(rows)
        ]
        (options.write / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    short = [name for name in rows if verdict(name, ratio(rows[name])) == "**short**"]
    if short:
        print(f"short of what must be reached: {', '.join(short)}", file=sys.stderr)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
