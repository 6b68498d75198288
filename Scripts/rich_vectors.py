"""The cases of rich.jsonl and rich-refused.jsonl, for make_vectors.py.

It implements operations with formatting again, one scalar at a time and in another language than OTCore.
"""

import random

# --- An operation as a list of steps: ("=", change) retains a scalar, "-" deletes one, ("+", s, attributes) inserts one.
# --- A text is a list of pairs: a scalar and its attributes. A change may have values None, which remove a key.


def is_added(step):
    return step != "-" and step[0] == "+"


def settled(change, attributes):
    merged = {**attributes, **change}
    return {key: value for key, value in merged.items() if value is not None}


def apply(steps, text):
    rest, result = list(text), []
    for step in steps:
        if step == "-":
            rest.pop(0)
        elif step[0] == "+":
            result.append((step[1], step[2]))
        else:
            scalar, attributes = rest.pop(0)
            result.append((scalar, settled(step[1], attributes)))
    assert not rest
    return result


def inverse(steps, text):
    rest, result = list(text), []
    for step in steps:
        if step == "-":
            result.append(("+", *rest.pop(0)))
        elif step[0] == "+":
            result.append("-")
        else:
            old = rest.pop(0)[1]
            result.append(("=", {key: old.get(key) for key, value in step[1].items() if old.get(key) != value}))
    return result


def changes(steps):
    """Returns the change of each scalar of the base text; none where it is deleted."""
    return [{} if step == "-" else step[1] for step in steps if not is_added(step)]


def grown(steps, other, is_committed, rule):
    """Returns the formatting that each inserted scalar takes of the other operation."""
    own, others, result, place, start = changes(steps), changes(other), [], 0, None
    for step in steps:
        if is_added(step):
            start = place if start is None else start
            found = {}
            if rule == "grows" and 0 < start < len(others):
                before, behind = others[start - 1], others[start]
                found = {key: value for key, value in behind.items() if key in before and before[key] == value}
                if is_committed:
                    found = {key: value for key, value in found.items() if key not in own[start - 1] and key not in own[start]}
            result.append(found)
        elif step == "-":
            start = place if start is None else start
            place += 1
        else:
            place += 1
            start = None
    return result


def transform(a, b, rule):
    """Returns both operations transformed over each other; `a` is committed."""
    left, right = list(a), list(b)
    a_grown, b_grown = grown(a, b, True, rule), grown(b, a, False, rule)
    a_after, b_after = [], []
    while left or right:
        if left and is_added(left[0]):
            _, scalar, attributes = left.pop(0)
            own = a_grown.pop(0)
            a_after.append(("+", scalar, settled(own, attributes)))
            b_after.append(("=", own))
        elif right and is_added(right[0]):
            _, scalar, attributes = right.pop(0)
            own = b_grown.pop(0)
            b_after.append(("+", scalar, settled(own, attributes)))
            a_after.append(("=", own))
        else:
            own, other = left.pop(0), right.pop(0)
            if own != "-" and other != "-":
                a_after.append(own)
                b_after.append(("=", {key: value for key, value in other[1].items() if key not in own[1]}))
            elif own != "-":
                b_after.append("-")
            elif other != "-":
                a_after.append("-")
    return a_after, b_after


# --- The forms on the wire.


def runs(attributes):
    """Returns a list of attributes as runs: pairs of a length and a set."""
    result = []
    for one in attributes:
        if result and result[-1][1] == one:
            result[-1][0] += 1
        else:
            result.append([1, one])
    return result


class Sets:
    def __init__(self):
        self.sets = []

    def number(self, attributes):
        if not attributes:
            return 0
        ordered = dict(sorted(attributes.items()))
        if ordered not in self.sets:
            self.sets.append(ordered)
        return self.sets.index(ordered) + 1


def written(steps):
    """Returns an operation, and its format if it has one."""
    operation = []
    for step in steps:
        if is_added(step):
            if operation and isinstance(operation[-1], str):
                operation[-1] += step[1]
            else:
                operation.append(step[1])
        else:
            sign = -1 if step == "-" else 1
            if operation and not isinstance(operation[-1], str) and operation[-1] * sign > 0:
                operation[-1] += sign
            else:
                operation.append(sign)
    sets, kept, put, gap = Sets(), [], [], 0
    for count, change in runs(changes(steps)):
        if change:
            kept += [gap, count, sets.number(change)]
            gap = 0
        else:
            gap += count
    for count, attributes in runs([step[2] for step in steps if is_added(step)]):
        put += [count, sets.number(attributes)]
    if put and put[-1] == 0:
        del put[-2:]
    result = {"operation": operation or [0]}
    if kept or put:
        result["format"] = {"sets": sets.sets, **({"kept": kept} if kept else {}), **({"put": put} if put else {})}
    return result


def written_text(text):
    result = {"text": "".join(scalar for scalar, _ in text)}
    sets, numbers = Sets(), []
    for count, attributes in runs([attributes for _, attributes in text]):
        numbers += [count, sets.number(attributes)]
    if sets.sets:
        result["format"] = {"sets": sets.sets, "runs": numbers}
    return result


# --- Cases.


def case(about, text, a, b):
    result = {"about": about, "base": written_text(text), "a": written(a), "b": written(b)}
    result["inverse"] = written(inverse(a, text))
    for rule in ("grows", "stays"):
        a_after, b_after = transform(a, b, rule)
        last = apply(b_after, apply(a, text))
        assert last == apply(a_after, apply(b, text)), about
        result[rule] = {"aAfterB": written(a_after), "bAfterA": written(b_after), "result": written_text(last)}
    return result


def plain(text, attributes=None):
    return [(scalar, attributes or {}) for scalar in text]


def keep(count, change=None):
    return [("=", change or {})] * count


def add(text, attributes=None):
    return [("+", scalar, attributes or {}) for scalar in text]


def examples():
    bold, red, blue = {"bold": True}, {"color": "red"}, {"color": "blue"}
    yield case(
        "text inserted within a range that is formatted takes the formatting",
        plain("The fox jumped."), keep(14, bold) + keep(1), keep(4) + add("brown ") + keep(11),
    )  # fmt: skip
    yield case(
        "the committed value of a key stays",
        plain("The fox"), keep(5, red) + keep(2), keep(2) + keep(5, {**blue, **bold}),
    )  # fmt: skip
    yield case(
        "a line has one kind", plain("Title\n"), keep(5) + keep(1, {"block": "h1"}), keep(5) + keep(1, {"block": "bullet"})
    )
    yield case(
        "a removal extends over inserted text",
        plain("see here", {"link": "a"}), keep(8, {"link": None}), keep(4) + add("right ", {"link": "a"}) + keep(4),
    )  # fmt: skip
    yield case("text at the end of a range is not within it", plain("The fox"), keep(7, bold), keep(7) + add(" ran"))
    yield case(
        "where a group of insertions and deletions begins decides",
        plain("Hello World"), keep(5, {"link": "a"}) + keep(6), keep(2) + ["-"] * 3 + add("y") + keep(6),
    )  # fmt: skip
    yield case(
        "a key that the inserting operation changes itself does not extend over its insertion",
        plain("ab"), keep(1, {"bold": None}) + add("xy") + keep(1), keep(2, {"bold": True, "font": "a"}),
    )  # fmt: skip
    yield case("what is deleted is deleted", plain("abc", bold), ["-"] * 2 + keep(1), keep(3, {"bold": None, **red}))
    yield case(
        "an embed", plain("ab"), keep(1) + add("\ufffc", {"embed": {"image": "h/plan.png"}, "width": 200}) + keep(1), keep(2, bold)
    )
    yield case("nothing", plain("ab"), keep(2), keep(2))
    yield case("an empty text", [], add("a", bold), add("b", red))


VALUES = {"bold": [True], "color": ["red", "#00ff00", "\u2028\"\\"], "link": ["https://a.example/", "b"], "size": [3, -1]}


def some_attributes(source, removals):
    if source.random() < 0.4:
        return {}
    keys = source.sample(sorted(VALUES), source.randint(1, 2))
    return {key: source.choice(VALUES[key] + ([None] if removals else [])) for key in keys}


def some_operation(source, length):
    result, change, attributes = [], {}, {}
    for place in range(length + 1):
        if source.random() < 0.35:
            change, attributes = some_attributes(source, True), some_attributes(source, False)
        if source.random() < 0.15:
            result += add(source.choice(["x", "yz", "é🙂", "\n"]), attributes)
        if place < length:
            result.append("-" if source.random() < 0.15 else ("=", change))
    return result


def rich():
    yield from examples()
    source = random.Random(88)
    for number in range(80):
        attributes, text = {}, []
        for _ in range(source.randint(0, 9)):
            if source.random() < 0.3:
                attributes = some_attributes(source, False)
            text.append((source.choice("abc é🙂\n"), attributes))
        yield case(f"random {number + 1}", text, some_operation(source, len(text)), some_operation(source, len(text)))


def rich_refused():
    """Formats that do not fit `operation`, with the code of the refusal."""
    operation = [3, -2, "a\ufffcé", 4]
    bold = [{"bold": True}]
    for about, form in [
        ("a span beyond the text", {"sets": bold, "kept": [8, 2, 1]}),
        ("a span over deleted text", {"sets": bold, "kept": [2, 2, 1]}),
        ("an empty span", {"sets": bold, "kept": [0, 0, 1]}),
        ("a negative gap", {"sets": bold, "kept": [-1, 1, 1]}),
        ("an incomplete span", {"sets": bold, "kept": [0, 1]}),
        ("a span without a set", {"sets": bold, "kept": [0, 1, 0]}),
        ("an unknown set in a span", {"sets": bold, "kept": [0, 1, 2]}),
        ("a fraction as a length", {"sets": bold, "kept": [0, 1.5, 1]}),
        ("a run beyond the inserted text", {"sets": bold, "put": [4, 1]}),
        ("an empty run", {"sets": bold, "put": [0, 1]}),
        ("an incomplete run", {"sets": bold, "put": [1]}),
        ("an unknown set in a run", {"sets": bold, "put": [1, 2]}),
        ("a removal in a run", {"sets": [{"bold": None}], "put": [1, 1]}),
        ("false", {"sets": [{"bold": False}], "put": [1, 1]}),
        ("a fraction", {"sets": [{"size": 1.5}], "put": [1, 1]}),
        ("an array", {"sets": [{"size": []}], "put": [1, 1]}),
        ("an object that is no embed", {"sets": [{"size": {}}], "put": [1, 1]}),
        ("a key with capital letters", {"sets": [{"Bold": True}], "put": [1, 1]}),
        ("a key that begins with a sign", {"sets": [{"-bold": True}], "put": [1, 1]}),
        ("a key of JavaScript's objects", {"sets": [{"__proto__": True}], "put": [1, 1]}),
        ("an empty key", {"sets": [{"": True}], "put": [1, 1]}),
        ("a key of 41 bytes", {"sets": [{"k" * 41: True}], "put": [1, 1]}),
        ("a value of more than 2,048 bytes", {"sets": [{"link": "x" * 2_047}], "put": [1, 1]}),
        ("17 keys", {"sets": [{f"k{number}": True for number in range(17)}], "put": [1, 1]}),
        ("an embed on a letter", {"sets": [{"embed": {"rule": True}}], "put": [1, 1]}),
        ("an embed in a span", {"sets": [{"embed": {"rule": True}}], "kept": [0, 1, 1]}),
        ("an embed with two keys", {"sets": [{"embed": {"rule": True, "image": "a"}}], "put": [1, 0, 1, 1]}),
        ("an embed within an embed", {"sets": [{"embed": {"rule": {"rule": True}}}], "put": [1, 0, 1, 1]}),
        ("an unknown kind", {"kind": "round"}),
        ("no object", []),
        ("sets that are no list", {"sets": {}}),
    ]:
        yield {"about": about, "operation": operation, "format": form, "code": "badOperation"}
    many = [{"size": number} for number in range(1_001)]
    yield {"about": "1,001 sets", "operation": operation, "format": {"sets": many}, "code": "tooLarge"}
