#!/usr/bin/env python3
"""Writes Tests/OTCoreTests/Vectors/*.jsonl; the README beside them describes each file.

It implements the algebra again, one scalar at a time and in another language than OTCore, so the files are the result
of two implementations. The random cases have fixed seeds. `--check` only compares.
"""

import json
import pathlib
import random
import sys

import rich_vectors

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "Tests" / "OTCoreTests" / "Vectors"

# --- An operation as a list of steps: "=" retains a scalar, "-" deletes one, ("+", s) inserts one.


def steps(op):
    result = []
    for part in op:
        if isinstance(part, str):
            result += [("+", scalar) for scalar in part]
        else:
            result += ["=" if part > 0 else "-"] * abs(part)
    return result


def packed(run):
    op = []
    for step in run:
        if isinstance(step, tuple):
            if op and isinstance(op[-1], str):
                op[-1] += step[1]
            else:
                op.append(step[1])
        else:
            sign = 1 if step == "=" else -1
            if op and not isinstance(op[-1], str) and op[-1] * sign > 0:
                op[-1] += sign
            else:
                op.append(sign)
    return op or [0]


def is_added(run):
    return bool(run) and isinstance(run[0], tuple)


def base(op):
    return sum(1 for step in steps(op) if not isinstance(step, tuple))


def target(op):
    return sum(1 for step in steps(op) if step != "-")


def apply(op, text):
    rest, result = list(text), []
    for step in steps(op):
        if isinstance(step, tuple):
            result.append(step[1])
        elif step == "=":
            result.append(rest.pop(0))
        else:
            rest.pop(0)
    assert not rest, "lengths do not meet"
    return "".join(result)


def compose(op1, op2):
    first, second, result = steps(op1), steps(op2), []
    while first or second:
        if first and first[0] == "-":
            result.append(first.pop(0))
        elif is_added(second):
            result.append(second.pop(0))
        else:
            before, after = first.pop(0), second.pop(0)
            if after == "=":
                result.append(before)
            elif before == "=":
                result.append("-")
    return packed(result)


def transform(a, b):
    """Returns both operations transformed over each other; insertions of a come first."""
    left, right, a_after, b_after = steps(a), steps(b), [], []
    while left or right:
        if is_added(left):
            a_after.append(left.pop(0))
            b_after.append("=")
        elif is_added(right):
            b_after.append(right.pop(0))
            a_after.append("=")
        else:
            own, other = left.pop(0), right.pop(0)
            if other == "=":
                a_after.append(own)
            if own == "=":
                b_after.append(other)
    return packed(a_after), packed(b_after)


def transformed(op, other, side):
    return transform(op, other)[0] if side == "left" else transform(other, op)[1]


def inverse(op, text):
    rest, result = list(text), []
    for step in steps(op):
        if isinstance(step, tuple):
            result.append("-")
        elif step == "=":
            result.append("=")
            rest.pop(0)
        else:
            result.append(("+", rest.pop(0)))
    return packed(result)


def moved(op, cursor, own):
    place = result = 0
    for step in steps(op):
        if isinstance(step, tuple):
            if place == cursor and not own:
                return result
            result += 1
        elif step == "=":
            if place == cursor:
                return result
            place += 1
            result += 1
        else:
            if place == cursor:
                cursor += 1
            place += 1
    return result


# --- The contents of the files.


def tie_break():
    cases = [
        ("two inserts at one place", [2, "x"], [2, "y"]),
        ("two inserts into an empty text", ["x"], ["y"]),
        ("two inserts at the beginning", ["x", 1], ["y", 1]),
        ("the same text twice stays twice", [1, "same", 1], [1, "same", 1]),
        ("an insert before what the other deletes", [1, "x", 2], [1, -1, 1]),
        ("an insert after what the other deletes", [2, "x", 1], [1, -1, 1]),
        ("an insert in the midst of what the other deletes", [2, "x", 2], [1, -2, 1]),
        ("an insert, then a deletion, against an insert there", [1, "x", -1, 1], [1, "y", 2]),
        ("a deletion, then an insert, against an insert there", [1, -1, "x", 1], [1, "y", 2]),
        ("a deletion, then an insert, against an insert behind", [1, -1, "x", 1], [2, "y", 1]),
        ("both replace the same scalar, insert first", ["x", -1], ["y", -1]),
        ("both replace the same scalar, deletion first", [-1, "x"], [-1, "y"]),
        ("both replace it, in different orders", ["x", -1], [-1, "y"]),
        ("an insert on either side of a deletion", ["x", -1, "y"], ["z", 1]),
        ("an insert on either side of what the other keeps", ["x", 1, "y"], [-1, "z"]),
        ("overlapping deletions", [1, -3, 1], [2, -3]),
        ("one deletion within the other", [1, -4, 1], [2, -2, 2]),
        ("the same deletion", [1, -2, 1], [1, -2, 1]),
        ("deletions that touch", [-2, 2], [2, -2]),
        ("doing nothing", [3], [1, "y", 2]),
        ("doing nothing to an empty text", [0], ["y"]),
    ]
    for about, op, other in cases:
        for side in ("left", "right"):
            yield {
                "about": about,
                "op": op,
                "otherOp": other,
                "side": side,
                "result": transformed(op, other, side),
            }


def order():
    cases = [
        ("insert, then deletion, stay in this order", ["x", -1, 1], [2]),
        ("deletion, then insert, stay in this order", [-1, "x", 1], [2]),
        ("deletion behind an insert of the first", ["x", 2], [1, -1, 1]),
        ("insert behind a deletion of the first", [1, -1, 1], [1, "x", 1]),
        ("insert where the first deleted and inserted", [-1, "a", 1], ["x", 2]),
        ("insert behind what the first deleted and inserted", [-1, "a", 1], [1, "x", 1]),
        ("insert where the first inserted and deleted", ["a", -1, 1], ["x", 2]),
        ("what the first inserts, the second deletes", [1, "abc", 1], [1, -3, 1]),
        ("what the first inserts, the second deletes in part", [1, "abc", 1], [2, -1, 2]),
        ("what the first inserts, the second parts", [1, "ab", 1], [2, "x", 2]),
        ("deletions that touch become one", [1, -1, 2], [1, -1, 1]),
        ("a deletion around one of the first", [2, -1, 2], [1, -2, 1]),
        ("inserts that touch become one", [1, "a"], [2, "b"]),
        ("a replacement replaced", ["ab", -2], ["c", -2]),
        ("a replacement replaced, deletion first", [-2, "ab"], [-2, "c"]),
        ("a text written and taken back leaves nothing", ["ab"], [-2]),
        ("joiners do not matter: half of a family goes", ["👨‍👩‍👧"], [1, -1, 3]),
        ("a combining mark goes alone", ["e\u0301"], [1, -1]),
    ]
    for about, first, second in cases:
        yield {"about": about, "op1": first, "op2": second, "result": compose(first, second)}


def apply_vectors():
    cases = [
        ("a text out of nothing", "", ["héllo"]),
        ("nothing out of a text", "héllo", [-5]),
        ("doing nothing", "ab", [2]),
        ("doing nothing to nothing", "", [0]),
        ("CRLF is two scalars", "a\r\nb", [2, "\r", 2]),
        ("a line feed goes, the return stays", "a\r\nb", [2, -1, 1]),
        ("a surrogate pair is one scalar", "a😀b", [1, -1, "𝄞", 1]),
        ("a skin tone goes alone", "👍🏽", [1, -1]),
        ("a joiner goes: a family parts", "👨‍👩‍👧‍👦", [1, -1, 5]),
        ("a flag is two scalars", "🇩🇪🇫🇷", [1, -2, 1]),
        ("composed and decomposed are two texts", "é", [-1, "e\u0301"]),
        ("a combining mark comes to a letter", "e", [1, "\u0301"]),
        ("Hangul syllables and letters", "한\u1112\u1161\u11ab", [1, -2, 1]),
        ("noncharacters and the last scalar", "\uffff", [1, "\U0010ffff"]),
        ("control characters", "\u0000\u001f", [1, "\u007f\u2028", 1]),
        ("a byte order mark is text", "\ufeffa", [1, "b", 1]),
        ("written from right to left", "שלום", [2, "\u05b0", 2]),
    ]
    for about, text, op in cases:
        yield {"about": about, "str": text, "op": op, "result": apply(op, text)}


def cursors():
    cases = [
        ("at an insert", [3, "xy", 2], 3),
        ("before an insert", [3, "xy", 2], 2),
        ("behind an insert", [3, "xy", 2], 4),
        ("at the end, where somebody writes", [2, "x"], 2),
        ("in the midst of a deletion", [1, -4, 1], 3),
        ("at a deletion's beginning", [1, -4, 1], 1),
        ("at a deletion's end", [1, -4, 1], 5),
        ("a deletion, then an insert: in the midst", [1, -2, "x", 1], 2),
        ("a deletion, then an insert: at the beginning", [1, -2, "x", 1], 1),
        ("a deletion, then an insert: at the end", [1, -2, "x", 1], 3),
        ("an insert, then a deletion: in the midst", [1, "x", -2, 1], 2),
        ("an insert, then a deletion: at the beginning", [1, "x", -2, 1], 1),
        ("an insert on either side of a deletion", [1, "x", -2, "y", 1], 2),
        ("in an empty text", ["x"], 0),
    ]
    for about, op, cursor in cases:
        for own in (False, True):
            yield {
                "about": about,
                "op": op,
                "cursor": cursor,
                "own": own,
                "result": moved(op, cursor, own),
            }


PIECES = ["a", "b", " ", "\n", "\r\n", "é", "e\u0301", "中", "한", "👍🏽", "👨‍👩‍👧", "🇩🇪", "𝄞", "\u200d"]


def some_text(source, pieces, most):
    return "".join(source.choice(pieces) for _ in range(source.randint(0, most)))


def some_operation(source, length, pieces):
    op, left = [], length
    while True:
        count = min(left, source.randint(0, 3))
        op += steps([count]) if count else []
        left -= count
        for kind in source.choice(["", "", "+", "-", "+-", "-+"]):
            if kind == "+":
                op += steps([some_text(source, pieces, 3)])
            else:
                count = min(left, source.randint(0, 3))
                op += steps([-count]) if count else []
                left -= count
        if left == 0 or source.random() < 0.15:
            break
    return packed(op + ["="] * left)


def random_transforms():
    source = random.Random(1)
    for _ in range(60):
        length = source.randint(0, 8)
        op, other = (some_operation(source, length, PIECES) for _ in range(2))
        for side in ("left", "right"):
            result = transformed(op, other, side)
            yield {"op": op, "otherOp": other, "side": side, "result": result}


def random_composes():
    source = random.Random(2)
    for _ in range(80):
        first = some_operation(source, source.randint(0, 8), PIECES)
        second = some_operation(source, target(first), PIECES)
        yield {"op1": first, "op2": second, "result": compose(first, second)}


# --- A server and clients, implemented just as simply.


class Server:
    """Committed operations stay left: a submitted operation is transformed over each since its base."""

    def __init__(self, text, revision=0):
        self.text, self.log, self.first = text, [], revision

    @property
    def revision(self):
        return self.first + len(self.log)

    def submit(self, op, revision):
        for committed in self.log[revision - self.first :]:
            op = transformed(op, committed, "right")
        self.text = apply(op, self.text)
        self.log.append(op)
        return op


class Client:
    """A client with one change in flight, and its later edits composed into one."""

    def __init__(self, text, revision=0, sequence=1):
        self.text, self.revision, self.next = text, revision, sequence
        self.sent = self.rebased = self.buffer = None
        self.connected, self.held, self.waiting = True, False, 0

    @property
    def unconfirmed(self):
        return (self.sent is not None) + self.waiting

    def _send(self):
        if not self.connected or self.held or self.sent or self.buffer is None:
            return None
        self.sent = {"sequence": self.next, "revision": self.revision, "operation": self.buffer}
        self.next += 1
        self.rebased, self.buffer, self.waiting = self.buffer, None, 0
        return self.sent

    def edit(self, op):
        self.text = apply(op, self.text)
        self.buffer = op if self.buffer is None else compose(self.buffer, op)
        self.waiting += 1
        return self._send()

    def receive(self, op):
        if self.rebased is not None:
            op, self.rebased = transform(op, self.rebased)
        if self.buffer is not None:
            op, self.buffer = transform(op, self.buffer)
        self.revision += 1
        self.text = apply(op, self.text)
        return op

    def acknowledge(self):
        self.sent = self.rebased = None
        self.revision += 1
        return self._send()

    def disconnect(self):
        self.connected = False

    def reconnect(self):
        self.connected, self.held = True, False
        return self.sent or self._send()

    def refuse(self):
        self.buffer = self.rebased if self.buffer is None else compose(self.rebased, self.buffer)
        self.next, self.waiting = self.sent["sequence"], self.waiting + 1
        self.sent = self.rebased = None
        self.held = True

    def release(self):
        self.held = False
        return self._send()


def client_case(about, text, events):
    client = Client(text, revision=3)
    transcript = []
    for event in events:
        name, *rest = event
        step = {"event": name}
        if name == "edit":
            step |= {"operation": rest[0], "send": client.edit(rest[0])}
        elif name == "receive":
            step |= {"operation": rest[0], "revision": client.revision + 1}
            step["apply"] = client.receive(rest[0])
        elif name == "acknowledge":
            step |= {"sequence": client.sent["sequence"], "revision": client.revision + 1}
            step["send"] = client.acknowledge()
        elif name == "refuse":
            step["sequence"] = client.sent["sequence"]
            client.refuse()
        elif name == "disconnect":
            client.disconnect()
        else:
            step["send"] = getattr(client, name)()
        transcript.append(step | {"text": client.text, "unconfirmed": client.unconfirmed})
    return {"about": about, "text": text, "revision": 3, "steps": transcript}


def client_vectors():
    yield client_case(
        "an edit goes out and comes back acknowledged",
        "ab",
        [("edit", [1, "x", 1]), ("acknowledge",), ("edit", [3, "y"]), ("acknowledge",)],
    )
    yield client_case(
        "edits wait, composed, behind the one in flight",
        "",
        [("edit", ["a"]), ("edit", [1, "b"]), ("edit", [2, "c"]), ("acknowledge",), ("acknowledge",)],
    )
    yield client_case(
        "somebody else's operation passes through what is in flight and what waits",
        "ab",
        [
            ("edit", [1, "x", 1]),
            ("edit", [-1, 2]),
            ("receive", [1, "y", 1]),
            ("receive", [-2, 1]),
            ("acknowledge",),
            ("acknowledge",),
        ],
    )
    yield client_case(
        "at one place what is committed stays left",
        "",
        [("edit", ["own"]), ("receive", ["other"]), ("acknowledge",)],
    )
    yield client_case(
        "after a lost connection the change goes out as it was first sent",
        "ab",
        [
            ("edit", ["x", 2]),
            ("disconnect",),
            ("edit", [1, "y", 2]),
            ("receive", [2, "z"]),
            ("reconnect",),
            ("acknowledge",),
            ("acknowledge",),
        ],
    )
    yield client_case(
        "edits made offline go out as one",
        "",
        [("disconnect",), ("edit", ["a"]), ("edit", [1, "b"]), ("reconnect",), ("acknowledge",)],
    )
    yield client_case(
        "a refused change waits, with all later ones, and keeps its number",
        "ab",
        [
            ("edit", [2, "long"]),
            ("edit", [6, "!"]),
            ("refuse",),
            ("receive", ["y", 2]),
            ("edit", [3, -4, 1]),
            ("release",),
            ("acknowledge",),
        ],
    )
    yield client_case(
        "doing nothing is a change as well",
        "a",
        [("edit", [1]), ("receive", [1]), ("acknowledge",)],
    )
    source = random.Random(3)
    for number in range(24):
        text = some_text(source, PIECES, 5)
        client, server, events = Client(text, 3), Server(text, 3), []
        on_the_way = own_revision = None
        for _ in range(source.randint(4, 14)):
            choice = source.randint(0, 5)
            if choice <= 1:
                op = some_operation(source, len(client.text), PIECES)
                events.append(("edit", op))
                on_the_way = client.edit(op) or on_the_way
            elif choice == 2:
                server.submit(some_operation(source, len(server.text), PIECES), server.revision)
            elif client.revision < server.revision:
                op = server.log[client.revision - server.first]
                if client.revision + 1 == own_revision:
                    events.append(("acknowledge",))
                    on_the_way = client.acknowledge()
                else:
                    events.append(("receive", op))
                    client.receive(op)
            elif on_the_way:
                server.submit(on_the_way["operation"], on_the_way["revision"])
                own_revision, on_the_way = server.revision, None
        yield client_case(f"at random, {number + 1}", text, events)


def server_vectors():
    cases = [
        ("two at one place: the first stays left", "", [(["X"], 0), (["Y"], 0)]),
        ("three from one base", "ab", [([1, "x", 1], 0), ([1, "y", 1], 0), ([-2], 0)]),
        (
            "never over the composition of what came between",
            "ab",
            [([-1, "x", 1], 0), ([-1, 1], 1), ([1, "y", 1], 0)],
        ),
        ("one that nothing is left of counts as a revision", "ab", [([-2], 0), ([-1, 1], 0)]),
        ("doing nothing counts as a revision", "ab", [([2], 0), ([2, "c"], 0)]),
    ]
    for about, text, submissions in cases:
        yield server_case(about, text, submissions)
    source = random.Random(4)
    for number in range(30):
        text = some_text(source, PIECES, 5)
        server, texts, submissions = Server(text), [text], []
        for _ in range(source.randint(2, 7)):
            at = source.randint(max(0, len(texts) - 4), len(texts) - 1)
            op = some_operation(source, len(texts[at]), PIECES)
            submissions.append((op, at))
            server.submit(op, at)
            texts.append(server.text)
        yield server_case(f"at random, {number + 1}", text, submissions)


def server_case(about, text, submissions):
    server, run = Server(text), []
    for op, revision in submissions:
        stored = server.submit(op, revision)
        run.append({"operation": op, "revision": revision, "stored": stored, "text": server.text})
    return {"about": about, "text": text, "steps": run}


def unicode_sessions():
    """Yields sessions of three clients on one text, each of which receives the others' changes late."""
    scripts = [
        ("CJK", ["中", "文", "字", "漢", "日本", "語。", "한", "국어", "、"]),
        ("emoji with joiners", ["👨‍👩‍👧‍👦", "\u200d", "👩🏽‍🚀", "🏳️‍🌈", "👍🏽", "🏽", "🇩🇪", "🇩", "❤️"]),
        ("combining marks", ["e\u0301", "\u0301", "é", "a\u0308\u0304", "\u0e01\u0e33", "नि", "ก็", "o"]),
        ("CRLF", ["\r\n", "\r", "\n", "a", "line", "\u2028", "\u0085"]),
        ("astral", ["😀", "𝄞", "𠮷", "𐍈", "\U0010ffff", "\U00010000", "x"]),
        ("all of it", PIECES + ["𠮷", "नि", "🏳️‍🌈", "\ufeff", "שלום", "\u202e"]),
    ]
    source = random.Random(5)
    for about, pieces in scripts:
        for number in range(4):
            text = some_text(source, pieces, 6)
            server = Server(text)
            clients = [Client(text) for _ in range(3)]
            outgoing, arrivals = [None] * 3, []

            def hear(who):
                client = clients[who]
                author, op = arrivals_log[client.revision]
                if author == who:
                    outgoing[who] = client.acknowledge()
                else:
                    client.receive(op)

            arrivals_log = []
            for turn in range(120):
                who = source.randrange(3)
                choice = source.randint(0, 3)
                if choice == 0 and turn < 60:
                    op = some_operation(source, len(clients[who].text), pieces)
                    outgoing[who] = clients[who].edit(op) or outgoing[who]
                elif choice == 1 and outgoing[who]:
                    sent, outgoing[who] = outgoing[who], None
                    stored = server.submit(sent["operation"], sent["revision"])
                    arrivals_log.append((who, stored))
                    arrivals.append([who, sent["revision"], sent["operation"]])
                elif clients[who].revision < server.revision:
                    hear(who)
            for _ in range(200):
                for who in range(3):
                    if outgoing[who]:
                        sent, outgoing[who] = outgoing[who], None
                        stored = server.submit(sent["operation"], sent["revision"])
                        arrivals_log.append((who, stored))
                        arrivals.append([who, sent["revision"], sent["operation"]])
                    while clients[who].revision < server.revision:
                        hear(who)
            assert all(client.text == server.text for client in clients)
            yield {
                "about": f"{about}, {number + 1}",
                "text": text,
                "arrivals": arrivals,
                "result": server.text,
                "scalars": len(server.text),
                "utf16": len(server.text.encode("utf-16-le", "surrogatepass")) // 2,
                "utf8": len(server.text.encode("utf-8")),
            }


FILES = {
    "tie-break": tie_break,
    "order": order,
    "apply": apply_vectors,
    "cursor": cursors,
    "transform": random_transforms,
    "compose": random_composes,
    "client": client_vectors,
    "server": server_vectors,
    "unicode-sessions": unicode_sessions,
    "rich": rich_vectors.rich,
    "rich-refused": rich_vectors.rich_refused,
}


def main():
    differ = []
    for name, cases in FILES.items():
        lines = [json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases()]
        text = "\n".join(lines) + "\n"
        path = FOLDER / f"{name}.jsonl"
        if "--check" in sys.argv:
            if not path.is_file() or path.read_bytes() != text.encode("utf-8"):
                differ.append(path.name)
        else:
            path.write_bytes(text.encode("utf-8"))
            print(f"{path.name}  {len(lines)} cases, {len(text.encode('utf-8'))} bytes")
    if differ:
        sys.exit(f"not as made: {', '.join(differ)}")


if __name__ == "__main__":
    main()
