"""Everyday actions: titles, lists, comments, faces, and moving with Tab."""

from conftest import wait_until
from playwright.sync_api import expect
from test_notes import titles


def test_a_title_is_in_the_list_while_it_is_typed(server, person):
    note = server.create("Old")
    ann = person("Ann").open(note)
    field = ann.page.locator("#title")
    field.fill("")
    field.press_sequentially("Plan")
    expect(titles(ann)).to_have_text(["Plan"])
    assert server.request("GET", "/api/notes")["notes"][0]["title"] == "Old", "it is sent when it is done"
    field.press("Escape")
    expect(titles(ann)).to_have_text(["Old"])
    field.fill("New")
    field.press("Enter")
    expect(titles(ann)).to_have_text(["New"])
    wait_until(lambda: server.request("GET", "/api/notes")["notes"][0]["title"] == "New")


def test_the_first_heading_becomes_the_title_of_an_untitled_note(server, person):
    ann = person("Ann")
    ann.page.goto("/")
    ann.page.get_by_role("button", name="New note").click()
    expect(ann.page.locator("#title")).to_be_focused()
    ann.press("Enter")
    ann.wait_until_saved()
    ann.type("# My *heading* #\ntext")
    expect(titles(ann)).to_have_text(["My heading"])
    expect(ann.page.locator("#title")).to_have_value("My heading")
    # The title follows the heading,
    ann.put_caret(4)
    ann.type(" own")
    expect(titles(ann)).to_have_text(["My own heading"])
    # until a user enters a title.
    ann.page.locator("#title").fill("Mine")
    ann.page.locator("#title").press("Enter")
    expect(titles(ann)).to_have_text(["Mine"])
    ann.put_caret(4)
    ann.type(" very")
    ann.wait_until_saved()
    ann.page.clock.install()
    ann.type("!")
    ann.page.clock.run_for(2_000)
    expect(titles(ann)).to_have_text(["Mine"])


def test_enter_on_an_empty_item_ends_a_list(server, person):
    ann = person("Ann").open(server.create("List"))
    ann.type("- one\n\nafter\n1. first\n\nend")
    ann.wait_for_text("- one\nafter\n1. first\nend")


def test_a_sent_comment_leaves_no_button_and_one_thread_an_answer_box(server, person):
    note = server.create("Remarks")
    server.put_text(note, "Milk and bread and butter")
    ann = person("Ann").open(note)
    comment = ann.page.locator("#comment-here")
    field = ann.page.get_by_role("textbox", name="Comment")
    threads = ann.page.locator("#comments-list .thread")
    for number, (anchor, head) in enumerate([(0, 4), (9, 14)], start=1):
        ann.put_caret(anchor, head)
        expect(comment).to_be_visible()
        comment.click()
        field.fill("Which?")
        ann.press("Control+Enter")
        expect(threads).to_have_count(number)
        expect(comment).to_be_hidden()
    answers = ann.page.get_by_role("textbox", name="Answer")
    expect(answers).to_have_count(0)
    threads.first.get_by_role("button", name="Answer").click()
    expect(answers).to_have_count(1)
    expect(answers).to_be_focused()
    # Pressing a button in another thread does not move the button before the click.
    threads.last.get_by_role("button", name="Resolve").click()
    expect(threads).to_have_count(1)
    threads.first.get_by_role("button", name="Answer").click()
    ann.page.keyboard.type("Oat")
    # An unsent answer stays in its field.
    ann.editor.click()
    ann.press("Escape")
    expect(answers).to_have_value("Oat")


def test_few_tab_stops_to_the_first_note(server, person):
    for folder in ("Plans", "Plans/2027", "Minutes", "Recipes"):
        made = server.request("POST", "/api/notes", {"title": folder, "folder": folder})
        server.put_text(made["id"], " ".join(f"#tag{number}" for number in range(6)))
    ann = person("Ann")
    ann.page.goto("/")
    expect(ann.page.locator("#tags-list .tag")).to_have_count(6)
    is_note = "document.activeElement.classList.contains('note-link')"
    stops = 0
    while not ann.page.evaluate(is_note):
        ann.press("Tab")
        stops += 1
        assert stops <= 12, ann.page.evaluate("document.activeElement.outerHTML")
    # The arrow keys reach the other tags and folders.
    ann.press("Shift+Tab")
    expect(ann.page.locator("#tags-list .tag").first).to_be_focused()
    ann.press("ArrowRight")
    expect(ann.page.locator("#tags-list .tag").nth(1)).to_be_focused()
    ann.press("End", "Shift+Tab")
    expect(ann.page.get_by_role("button", name="All notes", exact=True)).to_be_focused()
    ann.press("ArrowDown", "ArrowDown", "Tab", "Shift+Tab")
    expect(ann.page.locator("#folders .folder").nth(2)).to_be_focused()
    # A link skips all tags and folders.
    ann.page.reload()
    expect(titles(ann)).to_have_count(4)
    ann.press("Tab", "Tab", "Enter")
    assert ann.page.evaluate(is_note)


def test_faces_of_a_crowd_are_whole_and_told_apart(server, person):
    note = server.create("Crowd")
    for number in range(5):
        person(f"Person {number}", worker=False).open(note)
    ann = person("Ann", "#8a4bab", viewport={"width": 470, "height": 700}).open(note)
    expect(ann.page.locator("#people-avatars .more")).to_be_visible()
    boxes = ann.page.locator("#people-avatars .avatar").evaluate_all(
        "(all) => all.map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().right])"
    )
    assert all(right <= left for (_, right), (left, _) in zip(boxes, boxes[1:], strict=False)), boxes
    more = ann.page.locator("#people-avatars .more")
    assert more.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    ann.page.locator("#people").click()
    faces = ann.page.locator("#people-list .avatar")
    expect(faces).to_have_count(6)
    colors = faces.evaluate_all("(all) => all.map((one) => getComputedStyle(one).backgroundColor)")
    assert len(set(colors)) == 6, colors
