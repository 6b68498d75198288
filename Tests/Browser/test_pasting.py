"""Pasting and dropping HTML, addresses and files: the resulting text, which one undo removes."""

import re

import pytest
from conftest import converge, wait_until
from playwright.sync_api import expect
from test_pictures import bring, picture

# Dispatches the paste event that the browser fires for content copied from another program.
PASTE = """(content, data) => {
  const clipboard = new DataTransfer();
  for (const [kind, text] of Object.entries(data)) clipboard.setData(kind, text);
  content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true, cancelable: true }));
}"""

WORD = """<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><!--[if gte mso 9]><xml></xml><![endif]--></head>
<body><!--StartFragment--><h2>Plan<o:p></o:p></h2><p class=MsoNormal>We <b>ship</b> soon.<o:p></o:p></p>
<p class=MsoListParagraphCxSpFirst style='mso-list:l0 level1 lfo1'><![if !supportLists]><span
style='mso-list:Ignore'>·<span>&nbsp;</span></span><![endif]>One</p>
<p class=MsoListParagraphCxSpLast style='mso-list:l0 level2 lfo1'><span style='mso-list:Ignore'>o</span>Inner</p>
<table><tr><td>a<td>b<tr><td>1<td>2</table><!--EndFragment--></body></html>"""
WORD_TEXT = """## Plan

We **ship** soon.

- One
  - Inner

| a   | b   |
| --- | --- |
| 1   | 2   |"""

# Any script of it that runs sets the title.
HOSTILE = """<b>bold</b><img src=x onerror="document.title='ran'"><script>document.title='ran'</script>
<svg onload="document.title='ran'"><script>document.title='ran'</script></svg><math><mtext><img src=x
onerror="document.title='ran'"></mtext></math><iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>
<a href="javascript:document.title='ran'">link</a><style>@import url(https://a.example/)</style>
<!--[if gte mso 9]><img src=x onerror="document.title='ran'"><![endif]--><p style="background:url(javascript:x)">end</p>"""


def paste(person, html="", text="words"):
    person.editor.evaluate(PASTE, {"text/plain": text, **({"text/html": html} if html else {})})


def test_html_becomes_markdown_and_is_undone_in_one_step(server, person):
    note = server.create("Paste")
    server.put_text(note, "before\n\n- item\n\n`code`\n")
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    ann.put_caret(6)
    paste(ann, WORD)
    wait_until(lambda: WORD_TEXT in ann.text(), ann.text)
    assert converge(ann, bo) == f"before\n\n{WORD_TEXT}\n\n- item\n\n`code`\n"
    ann.press("Control+z")
    assert converge(ann, bo) == "before\n\n- item\n\n`code`\n"
    # Within a line the HTML becomes inline Markdown, in code it becomes plain text, and in a list a nested list.
    ann.put_caret(6)
    paste(ann, "a <i>b</i>")
    ann.wait_for_text("beforea *b*\n\n- item\n\n`code`\n")
    ann.press("Control+z")
    ann.put_caret(20)
    paste(ann, "a <i>b</i>", "a b")
    ann.wait_for_text("before\n\n- item\n\n`coda be`\n")
    ann.press("Control+z")
    ann.put_caret(14)
    paste(ann, "<ul><li>x<li>y</ul>")
    ann.wait_for_text("before\n\n- item\n\n  - x\n  - y\n\n`code`\n")
    ann.press("Control+z")
    ann.wait_for_text("before\n\n- item\n\n`code`\n")
    # An address pasted over selected words makes them a link.
    ann.put_caret(0, 6)
    paste(ann, text="https://a.example/x")
    ann.wait_for_text("[before](https://a.example/x)\n\n- item\n\n`code`\n")
    ann.press("Control+z")
    assert converge(ann, bo) == "before\n\n- item\n\n`code`\n"


DROP = """(content, data) => {
  const dragged = new DataTransfer();
  for (const [kind, text] of Object.entries(data)) dragged.setData(kind, text);
  const { left, top } = content.querySelector(".cm-line").getBoundingClientRect();
  const place = { clientX: left + 1, clientY: top + 5 };
  content.dispatchEvent(new DragEvent("drop", { dataTransfer: dragged, bubbles: true, cancelable: true, ...place }));
}"""


def test_dropped_html_becomes_markdown_and_dragged_text_moves_unchanged(server, person):
    note = server.create("Drop")
    server.put_text(note, "one two\n")
    ann = person("Ann").open(note)
    ann.editor.evaluate(DROP, {"text/html": "<b>bold</b>, ", "text/plain": "bold, "})
    ann.wait_for_text("**bold**,one two\n")
    ann.press("Control+z")
    ann.wait_for_text("one two\n")
    # For text that is dragged within the editor, the browser's data contains HTML, too.
    ann.page.evaluate("""() => {
        const content = document.querySelector("#editor").shadowRoot.querySelector(".cm-content");
        content.dispatchEvent(new DragEvent("dragstart", { dataTransfer: new DataTransfer(), bubbles: true }));
    }""")
    ann.editor.evaluate(DROP, {"text/html": "<b>two</b>", "text/plain": "two "})
    wait_until(lambda: "two " in ann.text() and "**" not in ann.text(), ann.text)


def test_control_shift_v_pastes_plain_text(server, person):
    ann = person("Ann").open(server.create("Plain"))
    ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ann.page.evaluate(
        """() => navigator.clipboard.write([new ClipboardItem({
            "text/html": new Blob(["<b>bold</b> words"], { type: "text/html" }),
            "text/plain": new Blob(["bold words"], { type: "text/plain" }) })])"""
    )
    ann.editor.focus()
    ann.press("Control+v")
    ann.wait_for_text("**bold** words")
    ann.press("Control+Shift+v")
    ann.wait_for_text("**bold** wordsbold words")


@pytest.mark.parametrize("is_guarded", [True, False])
def test_hostile_html_is_harmless(server, person, is_guarded):
    ann = person("Ann", bypass_csp=not is_guarded).open(server.create("Hostile"))
    title = ann.page.title()
    ann.editor.focus()
    requests = []
    ann.page.on("request", lambda request: requests.append(request.url))
    paste(ann, HOSTILE)
    wait_until(lambda: (ann.text() or "").endswith("end"), ann.text)
    assert ann.text() == "**bold** link\n\nend", ann.text()
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(ann.page.locator("#rendered strong")).to_have_text("bold")
    assert ann.page.title() == title
    assert not [url for url in requests if "a.example" in url or url.endswith("/x")]


def test_large_html_is_pasted_as_plain_text_and_escape_stops_a_long_conversion(server, person):
    ann = person("Ann").open(server.create("Large"))
    ann.editor.focus()
    many = """(content, [count, text]) => {
      const clipboard = new DataTransfer();
      clipboard.setData("text/html", "<p>Some <b>bold</b> words</p>".repeat(count));
      clipboard.setData("text/plain", text);
      content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true, cancelable: true }));
    }"""
    ann.editor.evaluate(many, [400_000, "large"])
    ann.wait_for_text("large")
    expect(ann.page.locator("#toast")).to_contain_text("plain text")
    ann.press("Enter")
    # The page handles keys during the conversion; Escape stops it.
    ann.editor.evaluate(many, [150_000, "stopped"])
    ann.press("Escape")
    wait_until(lambda: ann.text() == "large\nstopped", lambda: ann.text()[:40], seconds=30)


def test_pasted_and_dropped_pictures_get_separate_lines(guarded, person):
    note = guarded.create("Pictures")
    guarded.request("POST", f"/api/notes/{note}/changes", {"revision": 0, "operation": ["## Tasks\n\n- milk\n"]})
    ann = person("Ann", worker=False).open(note, f"#token={guarded.token}")
    bring(ann, "drop", "a.png", picture())
    reference = r"!\[a\]\(files/[0-9a-f]{64}/a\.png\)"
    wait_until(lambda: re.fullmatch(rf"{reference}\n\n## Tasks\n\n- milk\n", ann.text()), ann.text)
    ann.press("Control+z")
    ann.wait_for_text("## Tasks\n\n- milk\n")
    ann.put_caret(14)
    bring(ann, "paste", "a.png", picture())
    wait_until(lambda: re.fullmatch(rf"## Tasks\n\n- milk\n\n  {reference}\n", ann.text()), ann.text)
    ann.press("Control+z")
    # Several chosen files are inserted in their order.
    ann.put_caret(2)
    ann.page.locator("#file").set_input_files(
        [{"name": f"{name}.png", "mimeType": "image/png", "buffer": picture(size, 9)} for name, size in (("b", 9), ("c", 8))]
    )
    wait_until(lambda: ann.text().count("](files/") == 2, ann.text)
    assert re.fullmatch(r"## Tasks\n\n!\[b\]\(\S+\)\n\n!\[c\]\(\S+\)\n\n- milk\n", ann.text()), ann.text()
