"""How the editor draws signs of Markdown: hidden, or as boxes, bullets, pictures and space in tables."""

from conftest import barriers, converge, wait_until
from playwright.sync_api import expect
from test_pictures import bring, is_drawn, picture

TEXT = """# Title

Some **bold**, *italic*, `code` and [a link](https://example.org/x) \\*here\\*.

- [ ] milk
- [x] bread
- plain

> quoted

| a | long name | n |
|---|:-:|--:|
| 緑茶 | x | 1,000 |

---

last"""


def shown(person):
    return person.editor.inner_text()


def lines(person):
    return person.page.locator("#editor .cm-line")


def test_signs_are_hidden_except_in_the_line_of_the_caret(server, person):
    note = server.create("Signs")
    server.put_text(note, TEXT)
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    ann.put_caret(len(TEXT))
    boxes = ann.page.locator("#editor .box.is-drawn")
    expect(boxes).to_have_count(2)
    expect(lines(ann).nth(2)).to_have_text("Some bold, italic, code and a link *here*.")
    expect(lines(ann).first).to_have_text("Title")
    expect(ann.page.locator("#editor .bullet")).to_have_count(1)
    # The bars of a table are aligned, within a tolerance, because wide letters of another font are not exactly twice as wide.
    bars = """() => [...document.querySelector("#editor").shadowRoot.querySelectorAll(".table-line")].map((line) => {
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        const places = [];
        for (let node = walker.nextNode(); node; node = walker.nextNode())
          for (const { index } of node.data.matchAll(/\\|/g)) {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + 1);
            places.push(Math.round(range.getBoundingClientRect().left));
          }
        return places;
    })"""
    head, rule, row = ann.page.evaluate(bars)
    assert head == rule and all(abs(one - other) <= 8 for one, other in zip(head, row)), (head, rule, row)
    assert barriers(ann.page) == []
    ann.picture("drawn-signs")
    # The line of the caret shows its signs, and typed text reaches all users.
    ann.put_caret(TEXT.index("bold"))
    expect(lines(ann).nth(2)).to_contain_text("**bold**")
    ann.type("very ")
    text = TEXT.replace("bold", "very bold")
    assert converge(ann, bo) == text
    # A click ticks a box, and does not move the caret.
    boxes.first.click()
    assert converge(ann, bo) == text.replace("[ ] milk", "[x] milk")
    expect(boxes.first).to_have_attribute("aria-checked", "true")
    expect(lines(ann).nth(2)).to_contain_text("**very bold**")
    # The other user's caret is at its position.
    bo.put_caret(text.index("quoted"))
    caret = ann.page.locator("#editor .peer-caret")
    quoted = lines(ann).filter(has_text="quoted")
    wait_until(lambda: abs(caret.bounding_box()["y"] - quoted.bounding_box()["y"]) < 12)
    assert 8 < caret.bounding_box()["x"] - quoted.bounding_box()["x"] < 40
    # A menu item shows all signs, also after a reload.
    ann.page.locator("#note-menu").click()
    ann.page.get_by_role("menuitem", name="Show Markdown signs").click()
    expect(boxes).to_have_count(0)
    expect(lines(ann).first).to_have_text("# Title")
    ann.reload()
    expect(lines(ann).first).to_have_text("# Title")
    ann.page.locator("#note-menu").click()
    ann.page.get_by_role("menuitem", name="Hide Markdown signs").click()
    expect(boxes).to_have_count(2)


def test_pictures_are_drawn_in_the_text(guarded, person):
    note = guarded.create("Pictures")
    ann = person("Ann", worker=False, color_scheme="dark").open(note, f"#token={guarded.token}")
    ann.editor.focus()
    bring(ann, "paste", "red.png", picture(200, 25))
    image = ann.page.locator("#editor .drawn-picture img")
    wait_until(lambda: is_drawn(image) == 200)
    expect(image).to_have_attribute("alt", "red")
    # The picture stays below its Markdown while its line is edited.
    expect(ann.editor).to_contain_text("![red](files/")
    ann.press("Enter", "Enter")
    ann.type("after")
    expect(ann.editor).not_to_contain_text("![red]")
    expect(image).to_have_count(1)
    ann.picture("drawn-picture")


def test_a_word_is_composed_beside_drawn_signs(server, person):
    note = server.create("Composing")
    text = "**one** two\n\n- [ ] **three**\n"
    server.insert_text(note, text)
    ann = person("Ann").open(note)
    ann.put_caret(7)
    expect(lines(ann).nth(2)).to_contain_text("three")
    expect(ann.page.locator("#editor .box.is-drawn")).to_have_count(1)
    cdp = ann.context.new_cdp_session(ann.page)
    for part in ("に", "にほ"):
        cdp.send("Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)})
    ann.wait_until_saved()
    # Another user ticks a box in another line, and lengthens the composed line.
    place = len("**one**にほ two\n\n- [")
    whole = server.request("GET", f"/api/notes/{note}/text")
    rest = len(whole["text"]) - place - 1
    operation = [place, -1, "x", rest, "**four**\n"]
    server.request("POST", f"/api/notes/{note}/changes", {"revision": whole["revision"], "operation": operation})
    wait_until(lambda: ann.text().endswith("**four**\n"), ann.text)
    cdp.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    cdp.send("Input.insertText", {"text": "日本"})
    ann.wait_for_text("**one**日本 two\n\n- [x] **three**\n**four**\n")
    expect(ann.page.locator("#editor .box.is-drawn")).to_have_attribute("aria-checked", "true")
    expect(lines(ann).nth(3)).to_have_text("four")
