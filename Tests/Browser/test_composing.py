"""Words that are composed (input methods, dead keys, Android keyboards) while another person edits around them.

Chromium composes by its protocol. The other person writes over HTTP, one change with a line at the end of the note: the
editor shows that line at once, and so tells the test that the change has arrived.
"""

import random

from conftest import VIEW_IN, wait_until

SEED = 39
CASES = 200
# What an input method shows, step by step, and what it commits.
WORDS = [
    ["に", "にほ", "にほん", "日本"], ["ㅎ", "하", "한"], ["n", "ni", "ni h", "你好"], ["´", "é"], ["~", "ñ"],
    ["Þ", "Þe", "Þet", "Þette"],
]  # fmt: skip
STATE = f"() => ({VIEW_IN})('#editor').state"


class Composer:
    def __init__(self, server, someone):
        self.server, self.someone = server, someone
        self.note = server.create("Composing")
        server.insert_text(self.note, "one\n")
        someone.open(self.note)
        someone.wait_for_text("one\n")
        self.cdp = someone.context.new_cdp_session(someone.page)
        self.count = 0

    def stored(self):
        return self.server.request("GET", f"/api/notes/{self.note}/text")

    def compose(self, text):
        self.cdp.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})

    def commit(self, text):
        self.cdp.send("Input.insertText", {"text": text})

    def foreign(self, edit):
        """Makes `edit(text)`, a place, a length and an insertion, and waits until the editor shows its last line."""
        self.someone.wait_until_saved()
        now = self.stored()
        text = now["text"]
        place, length, insert = edit(text)
        self.count += 1
        mark = f"#{self.count}\n"
        parts = [place, -length, insert, len(text) - place - length, mark]
        operation = [part for part in parts if part not in (0, "")]
        self.server.request("POST", f"/api/notes/{self.note}/changes", {"revision": now["revision"], "operation": operation})
        wait_until(lambda: self.someone.text().endswith(mark), lambda: f"{self.someone.text()!r} has no {mark!r}")
        return text[:place] + insert + text[place + length :] + mark

    def settle(self):
        self.someone.wait_until_saved()
        stored = self.stored()["text"]
        self.someone.wait_for_text(stored)
        return stored


def test_an_edit_on_the_composed_line_waits_for_the_word(server, person):
    one = Composer(server, person("Ann"))
    server.put_text(one.note, "abc\n")
    one.someone.wait_for_text("abc\n")
    one.someone.put_caret(3)
    one.compose("に")
    one.foreign(lambda _: (2, 0, "X"))
    assert one.someone.text().startswith("abcに\n")
    one.compose("にほん")
    one.commit("日本")
    assert one.settle() == "abXc日本\n#1\n"


def choose_edit(chance, head, step, tail):
    """An edit by another person: its place, length and insertion, and the text that it makes around the word."""
    kind = chance.choice(["insert", "mark", "split", "delete", "above", "below", "join", "inside"])
    if kind == "inside" and len(step) > 1:
        return kind, (len(head) + 1, 0, "X"), (head, tail)
    if kind == "above":
        place, length, insert = 0, 0, chance.choice(["X", "X\n", "```\n", "> "])
    elif kind == "below":
        place, length, insert = len(head + step) + tail.index("\n") + 1, 0, "X"
    elif kind == "join":
        place, length, insert = head.index("\n"), 1, ""
    else:
        line = head.index("\n") + 1
        before = chance.randint(line, len(head))
        after = len(head + step) + chance.randint(0, tail.index("\n"))
        place, length, insert = chance.choice([before, after]), 0, {"mark": "**", "split": "\n"}.get(kind, "X")
        if kind == "delete":
            place, length, insert = chance.choice([line, len(head) - 1, len(head + step)]), 1, ""
    text = head + step + tail
    if place <= len(head):
        sides = head[:place] + insert + head[place + length :], tail
    else:
        sides = head, text[len(head + step) : place] + insert + text[place + length :]
    if place == len(head) and length:
        sides = head, tail[length:]
    return kind, (place, length, insert), sides


def test_no_word_breaks_whatever_others_edit_around_it(server, person):
    chance = random.Random(SEED)
    one = Composer(server, person("Ann"))
    broken = []
    for case in range(CASES):
        steps = chance.choice(WORDS)
        head, tail = "one\nabc", "def\nend\n"
        server.put_text(one.note, head + tail)
        one.someone.wait_for_text(head + tail)
        one.someone.put_caret(len(head))
        at = chance.randrange(len(steps) - 1)
        for index, step in enumerate(steps[:-1]):
            one.compose(step)
            if index != at:
                continue
            kind, edit, (left, right) = choose_edit(chance, head, step, tail)
            one.foreign(lambda _, edit=edit: edit)
            shown = one.someone.text()
            if f"abc{step}def\n" not in shown:
                broken.append((case, kind, edit, steps, "shown", shown))
        one.commit(steps[-1])
        text = one.settle()
        right += f"#{one.count}\n"
        found = text.replace("X", "") if kind == "inside" else text
        wanted = left + steps[-1] + right
        if found != (wanted.replace("X", "") if kind == "inside" else wanted):
            broken.append((case, kind, edit, steps, "stored", text))
    print(f"composition, seed {SEED}: {CASES} cases, {len(broken)} broken")
    assert broken == []
