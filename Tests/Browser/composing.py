"""Shared by tests of composed words: the pages in which they are composed, edits of others, and the expected texts.

Chromium composes by its protocol (`Input.imeSetComposition`, `Input.insertText`), as its own input methods do. The protocols
of Firefox and WebKit have no input methods: there a script dispatches `compositionstart`, `compositionupdate` and
`compositionend`, and edits the text of the DOM itself, as a browser would do between them.
"""

import http.client
import json
import random

from conftest import VIEW_IN

# The texts that an input method shows, and the one that it commits; "" cancels. The texts around contain no such letter.
WORDS = [
    ["に", "にほ", "にほん", "日本"], ["ㅎ", "하", "한"], ["n", "ni", "ni h", "你好"], ["´", "é"], ["~", "ñ"], ["に", "にほ", ""],
    # Android keyboards compose each word, and commit it with the key that follows it.
    ["Þ", "Þe", "Þet", "Þette"], ["s", "sn", "sno", "snow "],
]  # fmt: skip
# An existing word is composed again; its first letter, its last letter or all of it changes.
AGAIN = [["snow", "snows", "snows"], ["snow", "Snow", "Snow "], ["snow", "sno", "sn", "snore"]]
LINES = [
    "abc dfg", "- [ ] abc", "1. dfg", "> abc", "# abc", "**ab** `cd` _fg_", "[ab](https://cd.gf)", "", "| ab | cd |\n| -- | -- |\n| gf | dc |",
    "```\nab\n```", "日曜", "- ab", "אבג", "$a^2$", "👍ab",
]  # fmt: skip
# Lines without Markdown signs that are drawn with another length.
LINES_WITHOUT_SIGNS = ["abc dfg", "日曜", "", "אבג"]
# The last line. It is never changed, so that marks are in separate lines.
LAST = "¶"
INSERTED = ["X", "XX", "**", "\n", "- ", "> ", "`", "```\n", "X\nX"]

# In the page: the editor or field that shows the note.
IN_CODEMIRROR = f"""(host, isSaved, note) => {{
    const view = host ? ({VIEW_IN})(host) : document.querySelector(".cm-content").cmView.rootView.view;
    return {{
        isSaved,
        field: view.contentDOM,
        selection: () => view.state.selection.main,
        node: (place, isBefore) => {{
            const {{ node, offset }} = view.domAtPos(place);
            const [before, after] = [node.childNodes[offset - 1], node.childNodes[offset]];
            let [found, at] = node.nodeType === 3 ? [node, offset] : before?.nodeType === 3 ? [before, before.length] : [after, 0];
            if (isBefore && at === found?.length) {{
                const walker = document.createTreeWalker(view.contentDOM, NodeFilter.SHOW_TEXT);
                walker.currentNode = found;
                [found, at] = [walker.nextNode(), 0];
            }}
            // An empty line has no text yet.
            return found?.nodeType === 3 ? [found, at] : [node.insertBefore(document.createTextNode(""), after ?? null), 0];
        }},
        shown: () => view.state.doc.toString(),
        note: note ?? (() => stage.shown()),
        select: (anchor, head) => {{ view.focus(); view.dispatch({{ selection: {{ anchor, head }} }}); }},
    }};
}}"""
OF_SDK = "() => note.state === 'live' && note.unsaved === 0, () => note.text"
STAGES = {
    "page": f"""() => {{
        const status = document.querySelector("#status");
        window.stage = ({IN_CODEMIRROR})("#editor", () => status.dataset.state === "saved" && status.dataset.unsaved === "0");
    }}""",
    "CodeMirror": f"() => {{ window.stage = ({IN_CODEMIRROR})('', {OF_SDK}); }}",
    "text area": """() => {
        const area = document.querySelector("textarea");
        window.stage = {
            isSaved: () => note.state === "live" && note.unsaved === 0,
            field: area,
            selection: () => ({ from: area.selectionStart, to: area.selectionEnd }),
            node: () => undefined,
            shown: () => area.value,
            note: () => note.text,
            select: (anchor, head) => { area.focus(); area.setSelectionRange(anchor, head); },
        };
    }""",
    "plain text": """() => {
        const element = document.querySelector("[role=textbox]");
        window.stage = {
            isSaved: () => note.state === "live" && note.unsaved === 0,
            field: element,
            selection: () => {
                const { startOffset: from, endOffset: to } = getSelection().getRangeAt(0);
                return { from, to };
            },
            node: (place) => [element.firstChild, place],
            shown: () => element.textContent.replace(/\\n$/, ""),
            note: () => note.text,
            select: (anchor, head) => {
                element.focus();
                getSelection().setBaseAndExtent(element.firstChild, anchor, element.firstChild, head);
            },
        };
    }""",
    "Monaco": """() => {
        const model = editor.getModel();
        const at = (offset) => model.getPositionAt(offset);
        window.stage = {
            isSaved: () => note.state === "live" && note.unsaved === 0,
            shown: () => model.getValue(),
            note: () => note.text,
            select: (anchor, head) => {
                editor.focus();
                editor.setSelection({
                    selectionStartLineNumber: at(anchor).lineNumber, selectionStartColumn: at(anchor).column,
                    positionLineNumber: at(head).lineNumber, positionColumn: at(head).column,
                });
            },
        };
    }""",
}
# Fields that a browser redraws as a whole, so that changes of all lines wait.
WHOLE = ("text area", "plain text")

# Waits until the stage has the wanted state.
UNTIL = """(wanted) => new Promise((resolve, reject) => {
    const end = performance.now() + 60_000;
    const look = () => {
        const { text, mark } = wanted;
        const isSo = text !== undefined ? stage.shown() === text && stage.note() === text : mark ? stage.note().endsWith(mark) : true;
        if (isSo && (mark || stage.isSaved())) resolve(stage.shown());
        else if (performance.now() > end) reject(new Error(`waited in vain for ${JSON.stringify(wanted)}: ${JSON.stringify(stage.shown())}`));
        else setTimeout(look, 1);
    };
    look();
})"""


class Gateway:
    """Sends requests to the server over one connection."""

    def __init__(self, server):
        self.url = server.url
        self.line = http.client.HTTPConnection("127.0.0.1", server.port)

    def request(self, method, path, body=None):
        text = isinstance(body, str)
        headers = {"Content-Type": "text/plain" if text else "application/json", "Origin": self.url}
        data = None if body is None else body.encode() if text else json.dumps(body).encode()
        self.line.request(method, path, data, headers)
        answer = self.line.getresponse()
        content = answer.read()
        assert answer.status < 300, (method, path, answer.status, content)
        return json.loads(content) if content else None


class Composer:
    """A person who composes in a page, and the other people in the note."""

    def __init__(self, server, note, kind, page, keyboard=None):
        self.gateway, self.note, self.kind, self.page = Gateway(server), note, kind, page
        self.keyboard = keyboard or Keyboard(page)
        page.evaluate(STAGES[kind])
        self.count = 0

    def stored(self):
        return self.gateway.request("GET", f"/api/notes/{self.note}/text")

    def until(self, **wanted):
        """Waits for a text, the mark at its end, or until everything is saved. Returns the shown text."""
        return self.page.evaluate(UNTIL, wanted)

    def begin(self, text, anchor, head):
        """Sets the text of the note, and a selection."""
        self.gateway.request("PUT", f"/api/notes/{self.note}/text", text)
        self.until(text=text)
        self.page.evaluate("([anchor, head]) => stage.select(anchor, head)", [anchor, head])

    def foreign(self, note, edits):
        """Makes edits of other people in the current text, and waits until the page has received them."""
        stored = self.stored()
        assert stored["text"] == note
        self.count += 1
        mark = f"#{self.count}\n"
        operation, place = [], 0
        for start, length, insert in edits:
            operation += [start - place, -length, insert]
            place = start + length
        operation += [len(stored["text"]) - place, mark]
        body = {"revision": stored["revision"], "operation": [part for part in operation if part not in (0, "")]}
        self.gateway.request("POST", f"/api/notes/{self.note}/changes", body)
        return mark, self.until(mark=mark)


class Keyboard:
    """An input method of Chromium."""

    def __init__(self, page):
        self.cdp = page.context.new_cdp_session(page)

    def compose(self, text, taken=None):
        """Shows a composed word. `taken`: start and end of an existing word that it replaces."""
        word = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        if taken:
            word |= {"replacementStart": taken[0], "replacementEnd": taken[1]}
        self.cdp.send("Input.imeSetComposition", word)

    def commit(self, text):
        if text:
            self.cdp.send("Input.insertText", {"text": text})
        else:
            self.compose("")


# Composes in a stage by events and edits of the DOM. Returns whether the word was still there.
SCRIPTED = """async ({ text, taken, isEnd }) => {
    const { field } = stage;
    const tell = (kind, data) => field.dispatchEvent(new CompositionEvent(kind, { data, bubbles: true, composed: true }));
    if (!window.composedWord) {
        const { from, to } = taken ? { from: taken[0], to: taken[1] } : stage.selection();
        window.composedWord = { from, to, data: stage.shown().slice(from, to) };
        tell("compositionstart", composedWord.data);
    }
    const { from, to, data } = composedWord;
    tell("compositionupdate", text);
    // Not earlier: views take an empty text away when they hear of a composition.
    const node = composedWord.node ??= stage.node(from, from < to);
    if (node) {
        const [where, offset] = node;
        if (!where.isConnected || where.data.slice(offset, offset + data.length) !== data) return [text, where.isConnected, where.data, offset];
        where.replaceData(offset, data.length, text);
        getSelection().collapse(where, offset + text.length);
    } else {
        if (field.value.slice(from, from + data.length) !== data) return [text, field.value];
        field.setRangeText(text, from, from + data.length, "end");
    }
    composedWord.data = text;
    const input = { data: text, inputType: "insertCompositionText", isComposing: true, bubbles: true, composed: true };
    field.dispatchEvent(new InputEvent("input", input));
    // Those who observe the DOM hear of it first.
    await new Promise((resolve) => setTimeout(resolve));
    if (!isEnd) return true;
    window.composedWord = undefined;
    tell("compositionend", text);
    await new Promise((resolve) => setTimeout(resolve));
    return true;
}"""


class ScriptedKeyboard:
    """A scripted input method, for browsers whose protocol has none."""

    def __init__(self, page):
        self.page = page

    def compose(self, text, taken=None, is_end=False):
        found = self.page.evaluate(SCRIPTED, {"text": text, "taken": taken, "isEnd": is_end})
        assert found is True, f"the word is gone: {found}"

    def commit(self, text):
        self.compose(text, is_end=True)


class Expected:
    """The expected text of a note around a composed word, with edits of others on both sides of the word and within."""

    def __init__(self, left, middle, right):
        self.left, self.middle, self.right = left, middle, right
        # The text that others have inserted within the word, and whether they have deleted a part of it.
        self.inner, self.is_damaged = "", False

    @property
    def is_clean(self):
        return not self.inner and not self.is_damaged

    @property
    def text(self):
        return self.left + self.middle + self.right

    def take(self, edits):
        for place, length, insert in reversed(edits):
            start, end = len(self.left), len(self.left) + len(self.middle)
            last = place + length
            if last <= start < end or last < start:
                self.left = self.left[:place] + insert + self.left[last:]
            elif place >= end > start or place > end:
                self.right = self.right[: place - end] + insert + self.right[last - end :]
            else:
                self.inner += insert
                self.is_damaged |= length > 0
                self.middle = self.middle[: max(0, place - start)] + self.middle[max(0, last - start) :]
                self.left = self.left[: min(place, start)]
                self.right = self.right[max(0, last - end) :]

    def problem(self, text, word):
        """Returns the problem of a text after the composition; None if there is none."""
        if self.is_clean:
            return None if text == self.left + word + self.right else f"expected {self.left + word + self.right!r}"
        if not (text.startswith(self.left) and text.endswith(self.right) and len(text) >= len(self.left + self.right)):
            return f"expected {self.left!r} … {self.right!r}"
        rest = list(text[len(self.left) : len(text) - len(self.right)])
        if self.is_damaged:
            # Others may also have deleted each other's text.
            letters = iter(word)
            return None if all(letter in letters for letter in rest if letter in word) else f"{rest} is not of {word!r}"
        for letter in self.inner:
            if letter not in rest:
                return f"{letter!r} is lost"
            rest.remove(letter)
        return None if "".join(rest) == word else f"{rest} is not {word!r}"


def choose_text(chance, lines=LINES):
    """Chooses lines, and a position in one of them."""
    lines = [chance.choice(lines) for _ in range(chance.randint(1, 4))]
    text = "\n".join(lines)
    starts = [0] + [index + 1 for index, unit in enumerate(text) if unit == "\n"]
    line = chance.choice(starts)
    end = text.find("\n", line)
    end = len(text) if end < 0 else end
    return f"{text}\n{LAST}\n", chance.choice([line, end, chance.randint(line, end)])


def choose_edits(chance, expected):
    """Chooses edits of others near a word: ascending triples of position, deleted length and inserted text."""
    text = expected.text[: expected.text.index(LAST)]
    start, end = len(expected.left), len(expected.left) + len(expected.middle)
    line = text.rfind("\n", 0, start) + 1
    line_end = max(end, text.find("\n", end))
    above, below = text.rfind("\n", 0, max(0, line - 1)) + 1, min(len(text), line_end + 1)
    kind = chance.choice(["insert", "insert", "split", "mark", "delete", "join", "drop", "inside", "far"])
    if kind == "mark":
        return kind, [(chance.choice([line, start]), 0, "**"), (chance.choice([end, line_end]), 0, "**")]
    deleted = 0, 0
    if kind == "delete":
        place = chance.choice([line, max(line, start - 1), max(0, line - 1), end, line_end])
        deleted = place, place + chance.randint(1, 3)
    elif kind == "join":
        place = chance.choice([line - 1, line_end])
        deleted = place, place + 1
    elif kind == "drop":
        # The line before or after the word, with its line end.
        deleted = chance.choice([(above, line), (below, text.find("\n", below) + 1)])
    elif kind == "inside":
        place = chance.randint(start, end)
        deleted = place, chance.randint(place, end) if chance.random() < 0.5 else place
    if 0 <= deleted[0] < deleted[1] <= len(text):
        return kind, [(deleted[0], deleted[1] - deleted[0], "")]
    places = [line, start, end, line_end, chance.randint(line, start), chance.randint(end, line_end)]
    if kind == "far":
        places = [0, above, below, len(text)]
    elif kind == "inside":
        places = [chance.randint(start, end)]
    return kind, [(chance.choice(places), 0, "\n" if kind == "split" else chance.choice(INSERTED))]


def run_case(composer, seed):
    """Composes a word while others edit around it. Returns the problem, or None."""
    chance = random.Random(seed)
    is_again = chance.random() < 0.25
    # A keyboard replaces a word by its position, or selects it first. Monaco's field contains only a part of the text.
    is_by_place = is_again and composer.kind != "Monaco" and chance.random() < 0.5
    text, place = choose_text(chance, LINES_WITHOUT_SIGNS if is_by_place else LINES)
    steps = chance.choice(AGAIN if is_again else WORDS)
    head, tail = text[:place], text[place:]
    there = "snow" if is_again else ""
    units = len(head.encode("utf-16-le")) // 2
    taken = (units, units + len(there)) if is_by_place else None
    composer.begin(head + there + tail, *((units + 2, units + 2) if taken else (units, units + len(there))))
    expected = Expected(head, there, tail)
    shown_around = head.rsplit("\n", 1)[-1], tail.split("\n", 1)[0]
    turns = chance.choices(range(len(steps) - 1), k=chance.randint(1, 2))
    told = [text, place, steps]
    for index, step in enumerate(steps[:-1]):
        composer.keyboard.compose(step, taken)
        taken, expected.middle = None, step
        for _ in range(turns.count(index)):
            composer.until()
            if not expected.is_clean:
                now = composer.stored()["text"]
                expected.middle = now[len(expected.left) : len(now) - len(expected.right)]
            kind, edits = choose_edits(chance, expected)
            told.append((step, kind, edits))
            note = expected.text
            if composer.stored()["text"] != note:
                return f"{told}: stored {composer.stored()['text']!r}, expected {note!r}"
            mark, shown = composer.foreign(note, edits)
            expected.take(edits)
            expected.right += mark
            if step.join(shown_around) not in shown:
                return f"{told}: the word's line is shown as another: {shown!r}"
            if composer.kind not in WHOLE and not shown.endswith(mark):
                return f"{told}: another line is not shown: {shown!r}"
    composer.keyboard.commit(steps[-1])
    composer.until()
    stored = composer.stored()["text"]
    composer.until(text=stored)
    problem = expected.problem(stored, steps[-1])
    return problem and f"{told}: {problem}, got {stored!r}"


def run_pair(one, other, seed):
    """Two people compose at once, in one line or in adjacent lines. Returns the problem, or None."""
    chance = random.Random(seed)
    text, place = choose_text(chance)
    ends = [index for index, unit in enumerate(text) if unit == "\n"]
    # Texts that two people insert at one position at once may be mixed.
    near = {0, place - 1, place + 1, *ends[:-1]} - {-1, place}
    places = sorted([place, chance.choice(sorted(near))])
    words = [chance.choice([word for word in WORDS if word[-1]]) for _ in range(2)]
    pair = [one, other]
    for composer, at in zip(pair, places):
        units = len(text[:at].encode("utf-16-le")) // 2
        composer.begin(text, units, units)
    turns = [0] * len(words[0]) + [1] * len(words[1])
    chance.shuffle(turns)
    steps = [iter(word) for word in words]
    for turn in turns:
        step = next(steps[turn])
        if step == words[turn][-1]:
            pair[turn].keyboard.commit(step)
        else:
            pair[turn].keyboard.compose(step)
        if chance.random() < 0.3:
            other.until()
    for composer in (one, other):
        composer.until()
    stored = one.stored()["text"]
    for composer in (one, other):
        composer.until(text=stored)
    first, second = (word[-1] for word in words)
    start, middle, end = text[: places[0]], text[places[0] : places[1]], text[places[1] :]
    wanted = start + first + middle + second + end
    return None if stored == wanted else f"{[text, places, words, turns]}: expected {wanted!r}, got {stored!r}"


def run_cases(composer, seeds):
    """Runs cases, and prints the numbers of all and of broken ones. Returns the broken ones."""
    broken = [(seed, problem) for seed in seeds if (problem := run_case(composer, seed))]
    print(f"composition in {composer.kind}: {len(seeds)} cases, {len(broken)} broken")
    return broken
