"""Failures: the server is killed, the network is lost, or the page is reloaded."""

import re

from conftest import VIEW_IN, converge, wait_until
from playwright.sync_api import expect

WORKER = True


def test_killed_while_two_are_typing(server, person):
    note = server.create("Power failure")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    ann.type("Ann: \nBo: ")
    bo.wait_for_text("Ann: \nBo: ")
    ann.put_caret(5)
    bo.put_caret(10)
    hers, his = "", ""
    for index in range(60):
        if index in (15, 40):
            server.kill()
        if index in (25, 50):
            server.start()
        left, right = "añ漢😀"[index % 4], "bö字😁"[index % 4]
        ann.page.keyboard.insert_text(left)
        bo.page.keyboard.insert_text(right)
        hers, his = hers + left, his + right
        if index == 30:
            # Between two failures, everything is saved once.
            acknowledged = converge(ann, bo)
            assert acknowledged == f"Ann: {hers}\nBo: {his}"
    assert converge(ann, bo) == f"Ann: {hers}\nBo: {his}"

    # Text that the pages show as saved is on disk: a new client gets it from a server that was killed again.
    server.kill()
    server.start()
    newcomer = person("New").open(note)
    newcomer.wait_for_text(f"Ann: {hers}\nBo: {his}")
    newcomer.picture("after-the-kills")


def test_acknowledged_is_durable(server, person):
    """All text that the page showed as saved when the server was killed is in the store."""
    note = server.create("Durable")
    ann = person("Ann").open(note)
    for round_ in range(3):
        for letter in "0123456789":
            ann.type(letter)
        # Kill the server without waiting, while the last keystrokes may still be sent.
        unsaved = int(ann.page.locator("#status").get_attribute("data-unsaved"))
        typed = ann.text()
        server.kill()
        server.start()
        other = person(f"Reader {round_}").open(note)
        stored = other.text()
        assert typed.startswith(stored) or stored == typed
        # One change is in flight at a time and may contain many letters, so compare only if nothing is unsaved.
        if unsaved == 0:
            assert stored == typed
        ann.wait_until_saved()
        other.wait_for_text(ann.text())
    assert ann.text() == "0123456789" * 3


def test_offline_and_back(server, person):
    note = server.create("Tunnel")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    ann.type("before ")
    bo.wait_for_text("before ")
    server.kill()
    ann.wait_for_status("offline")
    ann.to_end()
    ann.type("abc")
    expect(ann.page.locator("#status-text")).to_have_text(
        re.compile(r"3 changes not yet saved")
    )
    expect(ann.page.locator("#notes .unsaved")).to_have_text("3 changes not yet saved")
    ann.picture("offline")
    bo.wait_for_status("offline")
    bo.put_caret(0)
    bo.type("Bo ")
    server.start()
    text = converge(ann, bo)
    assert text == "Bo before abc"
    expect(ann.page.locator("#status-text")).to_have_text("Saved")


def test_offline_edits_survive_a_reload(server, person):
    note = server.create("Reload")
    ann = person("Ann").open(note)
    ann.type("kept: ")
    ann.wait_until_saved()
    server.kill()
    ann.wait_for_status("offline")
    ann.type("漢字😀 offline")
    wait_until(
        lambda: ann.page.evaluate(
            "Object.keys(localStorage).some((key) => key.startsWith('parley.pending.'))"
        )
    )
    # The page is closed while offline; a later tab finds its edits.
    ann.page.close()
    server.start()
    bo = person("Bo").open(note)
    assert bo.text() == "kept: "
    ann.page = ann.new_page()
    ann.open(note)
    assert converge(ann, bo) == "kept: 漢字😀 offline"
    assert ann.page.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('parley.pending.')).length"
    ) == 0


def test_offline_edits_of_a_long_note_are_kept(server, person):
    """The cost of storing edits depends on their length, and the server's text fits into the storage, too."""
    note = server.create("Long")
    text = "a line of a long note\n\n" * 170_000
    server.put_text(note, text)
    ann = person("Ann")
    ann.context.add_init_script(
        "window.stored = []; const { setItem } = Storage.prototype;"
        "Storage.prototype.setItem = function (key, value) {"
        " if (key.startsWith('parley.')) stored.push(value.length); setItem.call(this, key, value); }"
    )
    ann.open(note)
    server.kill()
    ann.wait_for_status("offline")
    ann.to_start()
    ann.type("x")
    kept = "Object.keys(localStorage).some((key) => key.startsWith('parley.pending.'))"
    wait_until(lambda: ann.page.evaluate(kept))
    for letter in "yz":
        ann.page.evaluate("stored.length = 0")
        ann.type(letter)
        wait_until(lambda: ann.page.evaluate("stored.length > 0"))
        assert ann.page.evaluate("Math.max(...stored)") < 2_000
    # The page shows only that the server is unreachable.
    expect(ann.page.locator(".notice:not([data-kind=offline])")).to_have_count(0)
    ann.page.close()
    server.start()
    ann.page = ann.new_page()
    ann.open(note)
    ann.wait_until_saved()
    assert server.request("GET", f"/api/notes/{note}/text")["text"] == "xyz" + text


def test_a_reload_in_the_middle_of_typing(server, person):
    note = server.create("F5")
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    expected = ""
    for round_ in range(4):
        text = f"round {round_} 😀 "
        ann.put_caret(len(ann.text().encode("utf-16-le")) // 2)
        ann.page.keyboard.insert_text(text)
        expected += text
        ann.reload()
        ann.wait_until_saved()
    assert converge(ann, bo) == expected


def test_two_tabs_of_one_browser(server, person):
    """Tabs share storage, and must not take each other's identity, even when duplicated."""
    note = server.create("Tabs")
    ann = person("Ann").open(note)
    ann.type("one ")
    session = ann.page.evaluate("JSON.stringify({...sessionStorage})")
    first = ann.page
    second = ann.new_page()
    second.add_init_script(
        f"for (const [key, value] of Object.entries({session}))"
        " if (sessionStorage.getItem(key) === null) sessionStorage.setItem(key, value)"
    )
    second.goto(f"/n/{note}")
    ann.page = second
    ann.wait_for_status("saved")
    ann.to_end()
    ann.type("two")
    ann.wait_until_saved()
    ann.page = first
    ann.wait_for_text("one two")
    ann.wait_until_saved()
    expect(first.locator(".notice")).to_have_count(0)
    expect(second.locator(".notice")).to_have_count(0)
    second.close()


def test_a_refused_edit_stays_visible(server, person):
    note, other = server.create("Too much"), server.create("Another")
    server.put_text(other, "another text")
    ann = person("Ann").open(other)
    ann.page.locator(f"[data-note='{note}'] .note-link").click()
    ann.wait_for_text("")
    bo = person("Bo").open(note)
    ann.type("fine ")
    bo.wait_for_text("fine ")
    # The server's limit on the length of a document, as announced.
    ann.page.evaluate(
        """async () => {
            const view = (VIEW_IN)("#editor");
            // Many pastes that each fit into a message, together over the limit.
            const piece = "0123456789abcdef\\n".repeat(60_000);
            for (let index = 0; index < 5; index += 1) {
                view.dispatch({ changes: { from: view.state.doc.length, insert: piece } });
                await new Promise((resolve) => setTimeout(resolve, 0));
            }
        }""".replace("VIEW_IN", VIEW_IN)
    )
    notice = ann.page.locator('.notice[data-kind="refused"]')
    expect(notice).to_be_visible(timeout=60_000)
    expect(ann.page.locator("#status")).to_have_attribute("data-state", "refused")
    ann.picture("refused")
    ann.to_start()
    bo.put_caret(0)
    bo.type("Bo goes on. ")
    wait_until(lambda: ann.text().startswith("Bo goes on. fine "))
    # Leaving the note closes the question without an action.
    discard = notice.get_by_role("button", name="Discard my changes")
    discard.click()
    expect(ann.page.get_by_role("dialog")).to_be_visible()
    ann.page.go_back()
    ann.wait_for_text("another text")
    expect(ann.page.get_by_role("dialog")).to_have_count(0)
    expect(notice).to_have_count(0)
    ann.page.go_forward()
    discard.click()
    ann.page.get_by_role("button", name="Discard them").click()
    expect(notice).to_have_count(0)
    converge(ann, bo)
    ann.type("!")
    converge(ann, bo)
