"""Comments on selected text: they follow the text, are answered and resolved, and never run as code."""

import pytest
from conftest import PHONE, barriers, token, wait_until
from playwright.sync_api import expect

MOTION = "no-preference"

EVIL = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'


def marks(person):
    """Returns the highlighted texts, in order."""
    return person.page.evaluate(
        """() => {
            const found = new Map();
            for (const one of document.querySelector("#editor").shadowRoot.querySelectorAll(".comment-mark:not(.is-draft)")) {
                found.set(one.dataset.comment, (found.get(one.dataset.comment) ?? "") + one.textContent);
            }
            return [...found.values()];
        }"""
    )


def wait_for_marks(person, *expected):
    wait_until(lambda: marks(person) == list(expected), lambda: f"{person.name} sees {marks(person)}")


def panel(person):
    return person.page.locator("#comments-panel")


def threads(person):
    return person.page.locator(".thread")


def comment(person, words, start, end):
    """Comments on a range with the button beside it."""
    person.put_caret(start, end)
    person.page.locator("#comment-here").click()
    field = person.page.get_by_role("textbox", name="Your comment")
    expect(field).to_be_focused()
    field.fill(words)
    person.page.locator("#comment-new").get_by_role("button", name="Comment", exact=True).click()
    expect(person.page.locator("#comment-new")).to_be_hidden()


def test_a_comment_follows_its_text_and_is_answered_and_resolved(server, person):
    note = server.create("Plan")
    server.put_text(note, "Buy 🐦 milk and bread today")
    ann, ben = person("Ann", "#8a4bab").open(note), person("Ben").open(note)
    ann.wait_until_saved()
    # "milk", after an emoji of two UTF-16 units.
    comment(ann, EVIL, 7, 11)
    wait_for_marks(ann, "milk")
    wait_for_marks(ben, "milk")
    ben.page.get_by_role("button", name="Comments: 1 open").click()
    expect(threads(ben)).to_have_count(1)
    expect(threads(ben).locator(".comment-text")).to_have_text(EVIL)
    expect(threads(ben).locator(".quote")).to_have_text("milk")
    # The comment has the colour that Ann has in the presence list.
    expect(threads(ben).locator(".comment .avatar")).to_have_css("background-color", "rgb(138, 75, 171)")
    assert barriers(ben.page) == []
    # Ben types before the range, at both of its edges and within it, while Ann types after it.
    ben.put_caret(0)
    ben.type("Please ")
    ann.to_end()
    ann.type("!")
    ben.put_caret(14)
    ben.type("x")
    ben.put_caret(17)
    ben.type("il")
    expected = "Please Buy 🐦 xmiillk and bread today!"
    ann.wait_for_text(expected)
    ben.wait_for_text(expected)
    wait_for_marks(ann, "miillk")
    wait_for_marks(ben, "miillk")
    # An answer is added, edited and deleted.
    threads(ben).get_by_role("button", name="Answer").click()
    answer = threads(ben).get_by_role("textbox", name="Answer")
    answer.fill("Oat?")
    threads(ben).get_by_role("button", name="Send").click()
    expect(answer).to_have_value("")
    expect(threads(ben).locator(".comment-text")).to_have_text([EVIL, "Oat?"])
    expect(panel(ann)).to_be_visible()
    threads(ann).get_by_role("button", name="Edit").nth(1).click()
    field = threads(ann).get_by_role("textbox", name="Your comment")
    field.fill("Oat")
    # An answer by another user does not close her field.
    answer.fill("Or soy.")
    threads(ben).get_by_role("button", name="Send").click()
    expect(threads(ann).locator(".comment-text")).to_have_text([EVIL, "Or soy."])
    expect(field).to_be_focused()
    ann.page.keyboard.type("!")
    threads(ann).get_by_role("button", name="Save").click()
    expect(threads(ann).locator(".comment-text")).to_have_text([EVIL, "Oat!", "Or soy."])
    expect(threads(ben).locator(".comment-text")).to_have_text([EVIL, "Oat!", "Or soy."])
    threads(ben).get_by_role("button", name="Resolve").click()
    expect(threads(ben)).to_have_count(0)
    wait_for_marks(ann)
    wait_for_marks(ben)
    ben.page.get_by_role("checkbox", name="Show resolved (1)").check()
    expect(threads(ben)).to_contain_text("Resolved by Ben")
    threads(ben).get_by_role("button", name="Reopen").click()
    wait_for_marks(ann, "miillk")
    # From the comment to its text, and back.
    threads(ann).locator("button.quote").click()
    assert ann.page.evaluate("document.activeElement.id") == "editor"
    ann.page.locator("#comments-close").click()
    expect(panel(ann)).to_be_hidden()
    ann.page.locator("#editor .comment-mark").first.click()
    expect(threads(ann)).to_be_focused()
    # The text is deleted, and the comment remains, also after a reload.
    start = expected.index("miillk") + 1
    ben.put_caret(start, start + 6)
    ben.press("Delete")
    wait_for_marks(ann)
    expect(threads(ann)).to_contain_text("Its text was deleted.")
    expect(threads(ann).locator(".quote")).to_have_text("milk")
    ann.wait_until_saved()
    ann.reload()
    ann.page.get_by_role("button", name="Comments: 1 open").click()
    expect(threads(ann)).to_contain_text("Its text was deleted.")
    ann.picture("comments")
    threads(ann).get_by_role("button", name="Delete").nth(1).click()
    ann.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(threads(ann).locator(".comment-text")).to_have_count(2)
    expect(threads(ben).locator(".comment-text")).to_have_count(2)
    for one in (ann, ben):
        assert one.page.evaluate("window.ran") is None


def test_clicks_pass_through_the_caret_of_another_user(server, person):
    note = server.create("Plan")
    server.put_text(note, "Buy milk today")
    ann, ben = person("Ann").open(note), person("Ben").open(note)
    ann.wait_until_saved()
    comment(ann, "Oat?", 4, 8)
    wait_for_marks(ann, "milk")
    ann.page.locator("#comments-close").click()
    expect(panel(ann)).to_be_hidden()
    ben.put_caret(6)
    caret = ann.page.locator("#editor .peer-caret")
    expect(caret).to_be_visible()

    def is_within():
        mark, at = ann.page.locator("#editor .comment-mark").bounding_box(), caret.bounding_box()
        return mark["x"] + 4 < at["x"] < mark["x"] + mark["width"] - 4

    # The caret moves there with an animation.
    wait_until(is_within, lambda: f"Ben's caret is at {caret.bounding_box()}")
    # A click on the caret reaches the text below.
    at = caret.bounding_box()
    ann.page.mouse.click(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    expect(threads(ann)).to_be_focused()
    ann.page.keyboard.press("Escape")
    ann.type("n")
    ann.wait_for_text("Buy minlk today")


def test_unsent_comments_stay_in_their_field(server, person):
    note = server.create("Plan")
    server.put_text(note, "some words to talk about")
    ann = person("Ann")
    # The shortcut works although the comments load slowly.
    slow, is_slow = [], True
    # With the keyboard only. The first request is performed, but its answer is lost.
    lost = []

    def lose(route):
        if is_slow:
            slow.append(route)
        elif route.request.method == "POST" and not lost:
            lost.append(route.request.headers["idempotency-key"])
            route.fetch()
            route.abort()
        else:
            if route.request.method == "POST":
                lost.append(route.request.headers["idempotency-key"])
            route.continue_()

    ann.page.route("**/comments*", lose)
    ann.open(note).wait_until_saved()
    ann.put_caret(5, 10)
    ann.press("Alt+m")
    is_slow = False
    for route in slow:
        route.continue_()
    field = ann.page.get_by_role("textbox", name="Your comment")
    expect(field).to_be_focused()
    ann.page.keyboard.type("once")
    ann.press("Control+Enter")
    expect(ann.page.locator("#comment-new")).to_contain_text("Not sent yet.")
    expect(field).to_have_value("once")
    ann.press("Control+Enter")
    expect(ann.page.locator("#comment-new")).to_be_hidden()
    expect(threads(ann)).to_have_count(1)
    assert len(lost) == 2 and lost[0] == lost[1]
    assert len(server.request("GET", f"/api/notes/{note}/comments")["comments"]) == 1
    wait_for_marks(ann, "words")
    # Without a server the comment waits, and is sent automatically after the restart.
    threads(ann).get_by_role("button", name="Answer").click()
    answer = threads(ann).get_by_role("textbox", name="Answer")
    server.kill()
    ann.wait_for_status("offline")
    answer.fill("later")
    threads(ann).get_by_role("button", name="Send").click()
    expect(threads(ann)).to_contain_text("Not sent yet.")
    server.start()
    ann.wait_for_status("saved")
    expect(threads(ann).locator(".comment-text")).to_have_text(["once", "later"])
    expect(answer).to_have_value("")
    # A refused comment stays in its field, and can be corrected.
    answer.fill("x" * 5_000)
    threads(ann).get_by_role("button", name="Send").click()
    expect(threads(ann)).to_contain_text("Shorten it.")
    expect(answer).to_have_value("x" * 5_000)
    # Another note is opened meanwhile.
    other = server.create("Other")
    ann.page.evaluate("path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }", f"/n/{other}")
    ann.wait_for_text("")
    ann.page.go_back()
    ann.wait_for_text("some words to talk about")
    ann.page.get_by_role("button", name="Comments: 1 open").click()
    expect(answer).to_have_value("x" * 5_000)
    # The texts of an unsent answer and of a new comment outlive the page.
    ann.put_caret(0, 4)
    ann.press("Alt+m")
    field.fill("half a thought")
    ann.reload()
    ann.wait_for_text("some words to talk about")
    ann.page.get_by_role("button", name="Comments: 1 open").click()
    expect(answer).to_have_value("x" * 5_000)
    ann.put_caret(0, 4)
    ann.press("Alt+m")
    expect(field).to_have_value("half a thought")
    ann.press("Control+Enter")
    expect(threads(ann)).to_have_count(2)
    expect(ann.page.locator("#comment-new")).to_be_hidden()
    ann.put_caret(0, 4)
    ann.press("Alt+m")
    expect(field).to_have_value("")
    ann.page.locator("#comment-new").get_by_role("button", name="Cancel").click()
    # The history shows the comments of the revision: none before there was a text.
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="History").click()
    past = ann.page.locator("#history-comments .past-thread")
    expect(past).to_have_count(2)
    expect(past.locator("blockquote")).to_have_text(["some", "words"])
    expect(past.last.locator(".comment-text")).to_have_text(["once", "later"])
    assert barriers(ann.page) == []
    ann.press("Home")
    expect(past).to_have_count(0)
    expect(ann.page.locator("#history-comments-title")).to_be_hidden()
    ann.press("End")
    expect(past).to_have_count(2)
    ann.press("Escape")
    # Without a selection, the page explains how to comment.
    ann.put_caret(0)
    ann.press("Alt+m")
    expect(ann.page.locator("#comments-none")).to_have_text("Select the words that you want to comment on, then press “Comment”.")


@pytest.mark.parametrize("may", [["read"], ["read", "comment"]])
def test_readers_see_comments_and_only_users_who_may_comment_write_them(guarded, person, may):
    note = guarded.create("Plan")
    guarded.request("POST", f"/api/notes/{note}/changes", {"revision": 0, "operation": ["some words"]})
    anchor = {"revision": 1, "from": 5, "to": 10}
    guarded.request("POST", f"/api/notes/{note}/comments", {"text": "Which?", "anchor": anchor})
    rights = [{"match": note, "may": [*may, "presence"]}]
    options = {**PHONE, "locale": "ar"} if may == ["read"] else PHONE
    eve = person("Eve", **options)
    eve.page.goto(f"/n/{note}#token={token(rights, sub='eve')}")
    eve.editor.wait_for(state="attached")
    wait_for_marks(eve, "words")
    eve.page.locator("#comments").click()
    expect(threads(eve).locator(".comment-text")).to_have_text("Which?")
    field = threads(eve).locator("textarea")
    if may == ["read"]:
        expect(field).to_have_count(0)
        expect(threads(eve).locator(".link-button")).to_have_count(0)
        expect(eve.page.locator("html")).to_have_attribute("dir", "rtl")
        eve.put_caret(0, 4)
        expect(eve.page.locator("#comment-here")).to_be_hidden()
    else:
        comment(eve, "And these?", 0, 4)
        wait_for_marks(eve, "some", "words")
        expect(threads(eve)).to_have_count(2)
        expect(eve.page.get_by_role("button", name="Edit")).to_have_count(1)
    box = panel(eve).bounding_box()
    width, height = eve.page.viewport_size["width"], eve.page.viewport_size["height"]
    assert box["width"] == width and box["y"] > height / 3, "the panel is no sheet at the foot"
    assert eve.page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(eve.page) == []
    eve.picture(f"comments-on-a-phone-{len(may)}")
    expect(eve.page.locator("#comments-guest")).to_be_hidden()
    if may == ["read"]:
        return
    # With a link she is an indistinguishable guest, and is informed of that before she writes.
    link = guarded.request("POST", f"/api/notes/{note}/share", {"access": "comment"})
    eve.page.goto(link["path"])
    eve.editor.wait_for(state="attached")
    wait_for_marks(eve, "some", "words")
    eve.page.locator("#comments").click()
    expect(eve.page.locator("#comments-guest")).to_contain_text("you cannot edit or delete a comment")
    comment(eve, "A guest's", 2, 3)
    expect(threads(eve)).to_have_count(3)
    expect(eve.page.get_by_role("button", name="Edit")).to_have_count(0)
