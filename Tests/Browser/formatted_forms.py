"""Formatted notes as lines, in one form for all kinds of clients: a line is its attributes, and its pieces of text, each
with its attributes."""

import itertools
import json

# In a page: the lines of the editor's document; null while there is none.
PAGE_LINES = """() => {
    const doc = document.querySelector("#editor")?.shadowRoot?.querySelector(".content")?.pmViewDesc?.node;
    if (!doc) return null;
    const lines = [];
    doc.forEach((line) => {
        const pieces = [];
        line.forEach((node) => {
            const own = { ...node.attrs.set, ...(node.attrs.embed && { embed: node.attrs.embed }) };
            for (const { type, attrs } of node.marks) own[attrs.key ?? type.name] = attrs.value;
            pieces.push([node.isText ? node.text : node.attrs.sign ?? "\\ufffc", own]);
        });
        lines.push([{ ...line.attrs.set }, pieces]);
    });
    return lines;
}"""


def lines_of(pairs):
    """Returns the lines of pairs of a character and its attributes."""
    lines, line = [], []
    for character, attributes in pairs:
        if character == "\n":
            lines.append([attributes, pieces_of(line)])
            line = []
        else:
            line.append((character, attributes))
    return [*lines, [{}, pieces_of(line)]]


def pieces_of(pairs):
    groups = itertools.groupby(pairs, key=lambda pair: json.dumps(pair[1], sort_keys=True))
    pieces = [[pair for pair in group] for _, group in groups]
    return [["".join(character for character, _ in piece), piece[0][1]] for piece in pieces]


def joined(lines):
    """Returns lines in which neighbouring pieces of equal attributes are one."""
    return [[attributes, pieces_of((character, own) for text, own in pieces for character in text)] for attributes, pieces in lines]


def pairs_of_runs(text, form):
    """Returns pairs of a text with the server's form of its attributes."""
    sets, runs = (form or {}).get("sets", []), (form or {}).get("runs", [])
    attributes = [{}] * len(text)
    place = 0
    for length, number in zip(runs[::2], runs[1::2]):
        if number:
            attributes[place : place + length] = [sets[number - 1]] * length
        place += length
    return list(zip(text, attributes))


def pairs_of_delta(ops):
    """Returns pairs of the inserts of a Delta, with the note's names of kinds of lines."""
    pairs = []
    for op in ops:
        attributes = dict(op.get("attributes", {}))
        if isinstance(op["insert"], dict):
            pairs.append(("\ufffc", {"embed": op["insert"], **attributes}))
            continue
        pairs += [(character, in_note(attributes) if character == "\n" else attributes) for character in op["insert"]]
    return pairs


def in_note(attributes):
    """Returns the attributes of a line in a note, from those of Quill."""
    found = dict(attributes)
    if header := found.pop("header", None):
        found["block"] = f"h{header}"
    if kind := found.pop("list", None):
        found["block"] = {"unchecked": "task", "checked": "done"}.get(kind, kind)
    if found.pop("blockquote", None):
        found["block"] = "quote"
    if language := found.pop("code-block", None):
        found["block"] = "code"
        if isinstance(language, str) and language != "plain":
            found["language"] = language
    return found


def over_http(server, note):
    """Returns the lines of a note on the server."""
    answer = server.request("GET", f"/api/notes/{note}/text")
    return lines_of(pairs_of_runs(answer["text"], answer.get("format")))


def text_of(lines):
    return "\n".join("".join(text for text, _ in pieces) for _, pieces in lines)
