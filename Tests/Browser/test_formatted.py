"""Formatted notes: writing, formatting by several people, paste, Markdown both ways, comments, and without a line."""

import json
import re

import pytest
from conftest import PHONE, barriers, wait_until
from playwright.sync_api import expect
from touching import small_targets

# In the page: the lines of the editor's document, each with its kind, and its text, in which marks are in brackets.
LINES = """() => {
    const doc = document.querySelector("#editor")?.shadowRoot?.querySelector(".content")?.pmViewDesc?.node;
    if (!doc) return null;
    const lines = [];
    doc.forEach((line) => {
        let text = "";
        line.forEach((node) => {
            const marks = node.marks.map(({ type, attrs }) => type.name + (attrs.value === true ? "" : `=${attrs.value}`));
            const own = node.isText ? node.text : node.type.name === "embed" ? JSON.stringify(node.attrs.embed) : "";
            text += marks.length > 0 ? `[${marks}:${own}]` : own;
        });
        const { block = "", indent } = line.attrs.set;
        lines.push(`${block}${indent ?? ""}|${text}`);
    });
    return lines;
}"""


def rich(server, title="Plan"):
    """Makes a formatted note; its id."""
    return server.request("POST", "/api/notes", {"title": title, "kind": "rich"})["id"]


class Writer:
    """A person with a formatted note open."""

    def __init__(self, person, note):
        self.person = person
        self.page = person.page
        self.keys = person.page.keyboard
        self.page.goto(f"/n/{note}")
        self.wait()

    def wait(self):
        self.person.wait_for_status("saved")
        self.content.wait_for(state="attached")
        return self

    @property
    def content(self):
        return self.page.locator("#editor .content")

    def lines(self):
        return self.page.evaluate(LINES)

    def type(self, *texts):
        """Types texts, with Enter between them."""
        self.content.focus()
        for index, text in enumerate(texts):
            if index:
                self.keys.press("Enter")
            self.keys.type(text)
        return self

    def press(self, *keys):
        for key in keys:
            self.keys.press(key)
            self.person.wait_for_frames()
        return self

    def paste(self, html="", text="", shift=False):
        """Dispatches the paste event that the browser fires for content of another program."""
        self.content.focus()
        if shift:
            self.content.dispatch_event("keydown", {"key": "V", "shiftKey": True, "ctrlKey": True})
        self.content.evaluate(
            """(element, [html, text]) => {
                const clipboardData = new DataTransfer();
                if (html) clipboardData.setData("text/html", html);
                clipboardData.setData("text/plain", text);
                element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
            }""",
            [html, text],
        )
        return self

    def expect(self, *lines):
        wait_until(lambda: self.lines() == list(lines), lambda: f"{self.person.name} has {self.lines()}")
        return self


def agree(*writers):
    """Waits until all have the same document; its lines."""
    for one in writers:
        one.person.wait_until_saved()
    wait_until(lambda: len({json.dumps(one.lines()) for one in writers}) == 1, lambda: " | ".join(map(str, [one.lines() for one in writers])))
    return writers[0].lines()


def test_two_people_write_and_format(server, person):
    note = rich(server)
    ann = Writer(person("Ann"), note)
    ann.type("# Plan", "Some **bold** words", "- one", "two", "")
    ann.press("Enter")
    ann.type("[] tea")
    bo = Writer(person("Bo"), note)
    expected = ["h1|Plan", "|Some [bold:bold] words", "bullet|one", "bullet|two", "task|tea", "|"]
    assert agree(ann, bo) == expected
    # Bo ticks; a plain client writes into the middle of the bold word, and its text is bold.
    bo.page.locator("#editor .tick").click()
    ann.expect(*expected[:4], "done|tea", "|")
    revision = server.request("GET", f"/api/notes/{note}")["revision"]
    length = len("Plan\nSome bold words\none\ntwo\ntea\n")
    server.request("POST", f"/api/notes/{note}/changes", {"revision": revision, "operation": [12, "XX", length - 12]})
    ann.expect("h1|Plan", "|Some [bold:boXXld] words", *expected[2:4], "done|tea", "|")
    # Undo takes back one's own alone.
    ann.press("Control+z")
    assert agree(ann, bo)[:2] == ["h1|Plan", "|Some [bold:boXXld] words"]
    assert bo.lines()[4] in ("|[] tea", "done|", "|")
    # The editor of Markdown notes is not fetched by a browser that knows the note.
    bo.page.reload()
    bo.wait()
    names = bo.page.evaluate("() => performance.getEntriesByType('resource').map(({ name }) => name)")
    assert any("prosemirror" in name for name in names)
    assert not any("codemirror" in name for name in names)
