"""Two people write one note."""

import re
import threading

from conftest import VIEW_IN, converge, wait_until
from playwright.sync_api import expect

MOTION = "no-preference"
WORKER = True


def test_every_keystroke_arrives(server, person):
    note = server.create("Plans")
    ann = person("Ann", "#b0452a").open(note)
    bo = person("Bo", "#2f68ad").open(note)
    ann.type("Hello from Ann. 👋🏽 漢字")
    bo.wait_for_text("Hello from Ann. 👋🏽 漢字")
    bo.to_end()
    bo.type("\nAnd from Bo: 日本語、😀!")
    assert converge(ann, bo) == "Hello from Ann. 👋🏽 漢字\nAnd from Bo: 日本語、😀!"


def test_both_at_once_at_the_same_place(server, person):
    note = server.create("Same place")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    ann.type("[]")
    bo.wait_for_text("[]")
    ann.put_caret(1)
    bo.put_caret(1)
    # Both type in turn, key by key, without waiting, so that edits cross.
    hers, his = "añn😀漢", "böb😁字"
    for left, right in zip(hers, his):
        ann.page.keyboard.insert_text(left)
        bo.page.keyboard.insert_text(right)
    text = converge(ann, bo)
    assert text[0] == "[" and text[-1] == "]"
    # All letters have arrived, those of each person in the order of typing.
    assert sorted(text[1:-1]) == sorted(hers + his)
    assert [letter for letter in text if letter in hers] == list(hers)
    assert [letter for letter in text if letter in his] == list(his)


def test_deleting_and_typing_across_each_other(server, person):
    note = server.create("Crossing")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    ann.type("one 😀 two 漢字 three")
    bo.wait_for_text("one 😀 two 漢字 three")
    ann.put_caret(4, 10)
    bo.put_caret(7)
    ann.press("Delete")
    bo.type("2 ")
    ann.type("x")
    bo.press("Backspace")
    text = converge(ann, bo)
    assert text.startswith("one ") and text.endswith("漢字 three")


def test_an_emoji_replaced_by_one_that_shares_its_first_half(server, person):
    note = server.create("Halves")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    ann.type("a😀b")
    bo.wait_for_text("a😀b")
    ann.page.evaluate(
        """async () => {
            const view = (VIEW_IN)("#editor");
            view.dispatch({ changes: { from: 2, to: 3, insert: "\\uDE01" } });
            // A first half waits for the other; one that comes alone is no text.
            view.dispatch({ changes: { from: 4, to: 4, insert: "\\uD83D" } });
            view.dispatch({ changes: { from: 4, to: 4, insert: "\\uDE00" } });
            view.dispatch({ changes: { from: 6, to: 6, insert: "\\uDE00" } });
        }""".replace("VIEW_IN", VIEW_IN)
    )
    assert converge(ann, bo) == "a😁b😀\ufffd"


def test_a_large_paste_and_windows_line_ends(server, person):
    note = server.create("Paste")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    long = "".join(f"line {index} – ünïcödé 🦊\n" for index in range(5_000))
    ann.editor.focus()
    ann.page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const content = document.querySelector("#editor").shadowRoot.querySelector(".cm-content");
            content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        long.replace("\n", "\r\n"),
    )
    assert converge(ann, bo) == long


def test_carets_and_names_move_along(server, person):
    note = server.create("Carets")
    ann = person("Ann Ström", "#b0452a").open(note)
    bo = person("Bo", "#2f68ad").open(note)
    ann.type("first line\nsecond line\n")
    bo.wait_for_text("first line\nsecond line\n")
    caret = bo.page.locator("#editor .peer-caret")
    expect(caret).to_have_count(1)
    expect(caret.locator(".peer-name")).to_have_text("Ann Ström")
    expect(caret).to_have_css("background-color", "rgb(176, 69, 42)")
    before = caret.bounding_box()
    ann.to_start()
    wait_until(lambda: caret.bounding_box()["y"] < before["y"] - 20)
    ann.put_caret(0, 10)
    expect(bo.page.locator("#editor .peer-selection").first).to_be_visible()
    # Text typed before it moves Ann's caret in Bo's editor, without a message from Ann.
    ann.put_caret(10)
    wait_until(lambda: bo.page.locator("#editor .peer-selection").count() == 0)
    left = caret.bounding_box()["x"]
    bo.put_caret(0)
    bo.type("the very ")
    wait_until(lambda: caret.bounding_box()["x"] > left + 20)
    bo.picture("caret-with-name")
    # Others see a new name.
    ann.page.get_by_role("button", name="Edit name and colour").click()
    ann.page.get_by_role("textbox", name="Name", exact=True).fill("Anna")
    ann.page.get_by_role("button", name="Save", exact=True).click()
    expect(caret.locator(".peer-name")).to_have_text("Anna")
    expect(bo.page.locator("#people")).to_have_attribute("aria-label", re.compile("Anna"))
    ann.page.close()
    expect(caret).to_have_count(0)
    expect(bo.page.locator("#people")).to_have_attribute("aria-label", "Only you are here")


def test_undo_takes_back_own_edits_only(server, person):
    note = server.create("Undo")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    ann.type("mine")
    bo.wait_for_text("mine")
    bo.put_caret(4)
    bo.type(" yours")
    ann.wait_for_text("mine yours")
    ann.press("Control+z")
    assert converge(ann, bo) == " yours"


def test_a_crowd(server, person):
    note = server.create("Crowd")
    people = [person(f"Person {index}").open(note) for index in range(4)]
    for index, one in enumerate(people):
        one.type(f"{index}: ")
        wait_until(lambda: f"{index}: " in one.text())
    for round_ in range(12):
        for index, one in enumerate(people):
            one.page.keyboard.insert_text("abcd"[index])
    text = converge(*people)
    for letter in "abcd":
        assert text.count(letter) == 12


def test_newcomers_are_told_apart(server, browser, person):
    """This also holds if both have the same generated profile."""
    note = server.create("Strangers")
    drawn = []
    contexts = []
    for _ in range(2):
        context = browser.new_context(base_url=server.url)
        context.add_init_script("Math.random = () => 0.5")
        page = context.new_page()
        page.goto(f"/n/{note}")
        expect(page.locator("#status")).to_have_attribute("data-state", "saved")
        contexts.append(context)
        drawn.append(page)
    profile = "JSON.parse(localStorage.getItem('parley.profile'))"
    wait_until(lambda: drawn[0].locator("#people").get_attribute("aria-label") != "Only you are here")
    first, second = (page.evaluate(profile) for page in drawn)
    assert first["name"] != second["name"]
    assert first["color"] != second["color"]
    expect(drawn[0].locator("#people")).to_have_attribute("aria-label", f"Here with you: {second['name']}")
    expect(drawn[1].locator("#me-name")).to_have_text(second["name"])
    # Another tab of the same person has the same name, also if it is changed later.
    tab = contexts[1].new_page()
    tab.goto(f"/n/{note}")
    expect(tab.locator("#status")).to_have_attribute("data-state", "saved")
    assert tab.evaluate(profile) == second
    tab.get_by_role("button", name="Edit name and colour").click()
    tab.get_by_role("textbox", name="Name", exact=True).fill("Noa")
    tab.get_by_role("button", name="Save", exact=True).click()
    expect(drawn[1].locator("#me-name")).to_have_text("Noa")
    expect(drawn[0].locator("#people")).to_have_attribute("aria-label", "Here with you: Noa")
    for context in contexts:
        context.close()
