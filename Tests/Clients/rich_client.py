"""A client of formatted notes, written from Documentation/Protocol.md alone. It shares no code with the other clients.

A change is a list of steps, each about one scalar: ("keep", attributes that change), ("delete",) or
("insert", scalar, attributes). A text is a list of pairs: a scalar and its attributes.
"""

import json
import time

from websockets.sync.client import connect

# --- The forms on the wire.


def read_runs(numbers, sets, count):
    """Returns the attributes of each of a number of scalars."""
    found = []
    for at in range(0, len(numbers), 2):
        length, number = numbers[at : at + 2]
        found += [sets[number - 1] if number else {}] * length
    return found + [{}] * (count - len(found))


def read_text(text, form=None):
    form = form or {}
    return list(zip(text, read_runs(form.get("runs", []), form.get("sets", []), len(text)), strict=True))


def read_change(operation, form=None):
    form = form or {}
    sets, kept, steps = form.get("sets", []), form.get("kept", []), []
    changes = []
    for at in range(0, len(kept), 3):
        gap, length, number = kept[at : at + 3]
        changes += [{}] * gap + [sets[number - 1]] * length
    given = iter(read_runs(form.get("put", []), sets, sum(len(part) for part in operation if isinstance(part, str))))
    place = 0
    for part in operation:
        if isinstance(part, str):
            steps += [("insert", scalar, next(given)) for scalar in part]
            continue
        for at in range(place, place + abs(part)):
            steps.append(("delete",) if part < 0 else ("keep", changes[at] if at < len(changes) else {}))
        place += abs(part)
    return steps


def runs_of(values):
    """Returns pairs of a length and a value."""
    runs = []
    for value in values:
        if runs and runs[-1][1] == value:
            runs[-1][0] += 1
        else:
            runs.append([1, value])
    return runs


def write_change(steps):
    """Returns the fields `operation` and, if there is formatting, `format`."""
    operation, sets = [], []

    def number(attributes):
        if not attributes:
            return 0
        if attributes not in sets:
            sets.append(attributes)
        return sets.index(attributes) + 1

    for step in steps:
        part = step[1] if step[0] == "insert" else 1 if step[0] == "keep" else -1
        last = operation[-1] if operation else None
        if type(last) is type(part) and (isinstance(part, str) or (last > 0) == (part > 0)):
            operation[-1] += part
        else:
            operation.append(part)
    kept, gap = [], 0
    for length, attributes in runs_of([step[1] if step[0] == "keep" else {} for step in steps if step[0] != "insert"]):
        if attributes:
            kept += [gap, length, number(attributes)]
            gap = 0
        else:
            gap += length
    put = []
    for length, attributes in runs_of([step[2] for step in steps if step[0] == "insert"]):
        put += [length, number(attributes)]
    if put and put[-1] == 0:
        del put[-2:]
    fields = {"sets": sets} | ({"kept": kept} if kept else {}) | ({"put": put} if put else {})
    return {"operation": operation or [0]} | ({"format": fields} if sets else {})


# --- The rules.


def settle(attributes, change):
    return {key: value for key, value in {**attributes, **change}.items() if value is not None}


def apply(text, steps):
    rest, result = iter(text), []
    for step in steps:
        if step[0] == "insert":
            result.append((step[1], step[2]))
            continue
        scalar, attributes = next(rest)
        if step[0] == "keep":
            result.append((scalar, settle(attributes, step[1])))
    assert next(rest, None) is None, "the change does not cover the text"
    return result


def invert(text, steps):
    """Returns the change that takes a change of a text back."""
    rest, result = iter(text), []
    for step in steps:
        if step[0] == "insert":
            result.append(("delete",))
            continue
        scalar, attributes = next(rest)
        if step[0] == "delete":
            result.append(("insert", scalar, attributes))
        else:
            result.append(("keep", {key: attributes.get(key) for key in step[1] if attributes.get(key) != step[1][key]}))
    return result


def compose(first, second):
    result, a, b = [], list(reversed(first)), list(reversed(second))
    while a or b:
        if a and a[-1][0] == "delete":
            result.append(a.pop())
        elif b and b[-1][0] == "insert":
            result.append(b.pop())
        else:
            one, two = a.pop(), b.pop()
            if two[0] == "keep":
                merged = settle(one[2], two[1]) if one[0] == "insert" else {**one[1], **two[1]}
                result.append(("insert", one[1], merged) if one[0] == "insert" else ("keep", merged))
            elif one[0] == "keep":
                result.append(two)
    return result


def taken(steps, other, is_committed):
    """Returns, for each inserted scalar, the attributes that it takes from the other change."""
    own, others = ([step[1] if step[0] == "keep" else {} for step in one if step[0] != "insert"] for one in (steps, other))
    result, place, group = [], 0, 0
    for step in steps:
        if step[0] == "insert":
            before, behind = (others[group - 1], others[group]) if 0 < group < len(others) else ({}, {})
            same = {key: value for key, value in before.items() if key in behind and behind[key] == value}
            if is_committed and same:
                same = {key: value for key, value in same.items() if key not in {**own[group - 1], **own[group]}}
            result.append(same)
        else:
            place += 1
            if step[0] == "keep":
                group = place
    return iter(result)


def transform(committed, later, grows=True):
    """Returns both changes as they follow the other. Quill's Delta has the same rules without growth."""
    first, second, a, b = [], [], list(reversed(committed)), list(reversed(later))
    a_takes = taken(committed, later if grows else [], True)
    b_takes = taken(later, committed if grows else [], False)
    while a or b:
        if a and a[-1][0] == "insert":
            (_, scalar, attributes), more = a.pop(), next(a_takes)
            first.append(("insert", scalar, settle(attributes, more)))
            second.append(("keep", more))
        elif b and b[-1][0] == "insert":
            (_, scalar, attributes), more = b.pop(), next(b_takes)
            second.append(("insert", scalar, settle(attributes, more)))
            first.append(("keep", more))
        else:
            one, two = a.pop(), b.pop()
            if one[0] == two[0] == "keep":
                first.append(one)
                second.append(("keep", {key: value for key, value in two[1].items() if key not in one[1]}))
            elif one[0] == "keep":
                second.append(two)
            elif two[0] == "keep":
                first.append(one)
    return first, second


# --- A client.


class RichClient:
    """A person's copy of a note, with one change in flight, and later ones composed behind it. It outlives connections."""

    def __init__(self, address, note, name="Reader"):
        self.address, self.note, self.name = address, note, name
        self.socket = self.claim = self.epoch = self.in_flight = self.waiting = None
        self.text, self.revision, self.sequence = [], 0, 0
        self.resent = 0

    def connect(self):
        """Connects as the same client, reads what was missed, and sends an unanswered change again."""
        self.close()
        socket = connect(f"{self.address}/ws", subprotocols=["parley.v1"], compression=None, max_size=None, legacy=True)
        try:
            self._join(socket)
        except BaseException:
            socket.close()
            raise
        self.socket = socket
        if self.in_flight:
            self.resent += 1
            self._send("change", self.in_flight[1])
        elif self.waiting:
            self._start()
        return self

    def _join(self, socket):
        def ask(kind, **data):
            socket.send(json.dumps({"messageId": kind, "type": kind, "data": data}))
            while (answer := json.loads(socket.recv(120)))["messageId"] != kind:
                pass
            assert answer["type"] != "error", answer
            return answer["data"]

        welcome = ask("hello", name=self.name, **({"client": self.claim} if self.claim else {}))
        assert "rich" in welcome["capabilities"], "a server of plain notes"
        self.claim = {"id": welcome["clientId"], "resumeToken": welcome["resumeToken"]}
        resume = {"resume": {"epoch": self.epoch, "revision": self.revision}} if self.epoch else {}
        joined = ask("join", documentId=self.note, formats=True, **resume)
        if not resume:
            self.text, self.revision, self.epoch = read_text(joined["text"], joined.get("format")), joined["revision"], joined["epoch"]
        for change in joined.get("changes", []):
            self._take(change, self.revision + 1)
        assert (joined["epoch"], joined["revision"]) == (self.epoch, self.revision), joined

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def edit(self, steps):
        self.text = apply(self.text, steps)
        self.waiting = compose(self.waiting, steps) if self.waiting else steps
        if not self.in_flight:
            self._start()

    def _start(self):
        """Sends what waits. It is kept as it was sent, and as it is on the newest text."""
        self.sequence += 1
        change = {"documentId": self.note, "epoch": self.epoch, "revision": self.revision, "sequence": self.sequence}
        self.in_flight, self.waiting = [self.waiting, change | write_change(self.waiting)], None
        self._send("change", self.in_flight[1])

    def _send(self, kind, data):
        if self.socket:
            self.socket.send(json.dumps({"messageId": f"{kind} {time.monotonic_ns()}", "type": kind, "data": data}))

    def pump(self, timeout=0):
        """Handles a message, if there is one within this time."""
        try:
            message = json.loads(self.socket.recv(timeout))
        except TimeoutError:
            return False
        data = message["data"]
        assert message["type"] not in ("refused", "error", "resync"), message
        if message["type"] == "changes":
            for revision, change in enumerate(data["changes"], data["revision"]):
                self._take(change, revision)
        elif message["type"] == "acknowledged" and data["revision"] > self.revision:
            self._acknowledge(data["revision"])
        return True

    def _take(self, change, revision):
        assert revision == self.revision + 1, "a change is missing"
        if change["clientId"] == self.claim["id"] and change["sequence"] == self.sequence:
            self._acknowledge(revision)
            return
        steps = read_change(change["operation"], change.get("format"))
        if self.in_flight:
            steps, self.in_flight[0] = transform(steps, self.in_flight[0])
        if self.waiting:
            steps, self.waiting = transform(steps, self.waiting)
        self.text = apply(self.text, steps)
        self.revision = revision

    def _acknowledge(self, revision):
        assert revision == self.revision + 1, "a change is missing"
        self.revision, self.in_flight = revision, None
        if self.waiting and self.socket:
            self._start()

    @property
    def has_all_saved(self):
        return not self.in_flight and not self.waiting

    def settle(self):
        while not self.has_all_saved:
            self.pump(120)


SETS = [{"bold": True}, {"color": "#a00000"}, {"bold": None}, {"link": "/a"}, {"block": "h1"}, {"bold": True, "link": None}]


def random_change(text, rng, words=("a", "é", "👍🏽", "word ", "\n", "line\n")):
    """Returns a change that keeps, formats, deletes and inserts at random places."""
    steps = []
    while len(steps) < len(text):
        kind, count = rng.choice(("keep", "keep", "format", "delete")), rng.choice((1, 2, 5, 20))
        step = ("delete",) if kind == "delete" and count < 5 else ("keep", rng.choice(SETS) if kind == "format" else {})
        steps += [step] * min(count, len(text) - len(steps))
    given = settle({}, rng.choice([{}, *SETS]))
    place = rng.randint(0, len(steps))
    return [*steps[:place], *(("insert", scalar, given) for scalar in rng.choice(words)), *steps[place:]]
