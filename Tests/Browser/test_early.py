"""Text that is typed before the note is created or its text has arrived."""

import re

from conftest import ARTIFACTS, CHROMIUM, FLAGS, converge, wait_until
from playwright.sync_api import expect

WORKER = True


# The storage keys of data that the server does not have yet.
KEPT = "Object.keys(localStorage).filter((key) => /^parley\\.(kept|pending|base)\\./.test(key))"


class HeldBack:
    """Holds the server's `joined` messages, and all messages after them, until they are released."""

    def __init__(self, page):
        self.page = page
        self.messages = []
        self.is_holding = True
        # Messages that contain this text are dropped.
        self.lost = None
        page.route_web_socket(re.compile(r"/ws$"), self.connect)

    def connect(self, page):
        server = page.connect_to_server()

        def pass_on(message):
            if self.lost and self.lost in message:
                return
            if self.is_holding and ('"type":"joined"' in message or any(page is other for other, _ in self.messages)):
                self.messages.append((page, message))
            else:
                page.send(message)

        server.on_message(pass_on)

    def let_go(self):
        """Releases the messages when there are any."""
        wait_until(lambda: self.page.evaluate("true") and self.messages)
        self.is_holding = False
        for page, message in self.messages:
            page.send(message)
        self.messages = []


def visit(person, path):
    """Opens the page, and waits until it handles keys."""
    person.page.goto(path)
    expect(person.page.locator("#me-name")).not_to_be_empty()


def early(person):
    return person.page.locator("#early")


def title(person):
    return person.page.get_by_label("Title of the note")


def test_text_typed_before_the_notes_text_arrives_is_inserted(server, person):
    ann = person("Ann")
    held = HeldBack(ann.page)
    visit(ann, "/")
    ann.press("Alt+n")
    ann.page.keyboard.type("Plans")
    expect(ann.page).to_have_url(re.compile(r"/n/.+"))
    ann.press("Enter")
    expect(early(ann)).to_be_focused()
    ann.page.keyboard.type("# Early 😀")
    ann.press("Enter")
    ann.page.keyboard.type("wordds")
    ann.press("ArrowLeft", "Backspace")
    ann.picture("early")
    held.let_go()
    # Typing continues at the caret in the editor, without a click or a pause.
    expect(ann.editor).to_be_focused()
    ann.page.keyboard.type("!")
    ann.wait_until_saved()
    assert ann.text() == "# Early 😀\nword!s"
    expect(early(ann)).to_be_hidden()
    note = re.search(r"/n/(.+)$", ann.page.url).group(1)
    bo = person("Bo").open(note)
    bo.wait_for_text("# Early 😀\nword!s")
    expect(title(bo)).to_have_value("Plans")


def test_a_new_title_is_not_replaced_by_an_older_one(server, person):
    """The page receives the note with its former title, before it is notified of the new one."""
    ann = person("Ann")
    ann.page.clock.install()
    held = HeldBack(ann.page)
    held.lost = '"title":"Plans"'
    renamings = []
    ann.page.route(
        "**/api/notes/*",
        lambda route: renamings.append(route) if route.request.method == "PATCH" else route.continue_(),
    )
    visit(ann, "/")
    ann.press("Alt+n")
    expect(ann.page).to_have_url(re.compile(r"/n/[^?]+$"))
    title(ann).fill("Plans")
    ann.press("Enter")
    expect(early(ann)).to_be_focused()
    ann.page.keyboard.type("# Early")
    wait_until(lambda: ann.page.evaluate("true") and renamings and held.messages)
    with ann.page.expect_response(lambda response: response.request.method == "PATCH"):
        renamings[0].continue_()
    held.let_go()
    ann.wait_until_saved()
    # Longer than the delay after which a heading becomes the title.
    ann.page.clock.fast_forward(2_000)
    ann.type("!")
    ann.wait_until_saved()
    assert [renaming.request.post_data_json for renaming in renamings] == [{"title": "Plans"}]
    note = re.search(r"/n/(.+)$", ann.page.url).group(1)
    expect(title(person("Bo").open(note))).to_have_value("Plans")


def test_early_text_is_inserted_before_the_notes_text(server, person):
    note = server.create("Old")
    bo = person("Bo").open(note)
    bo.type("what Bo wrote")
    bo.wait_until_saved()
    ann = person("Ann")
    held = HeldBack(ann.page)
    visit(ann, f"/n/{note}")
    ann.press("Alt+e")
    ann.page.keyboard.type("first: ")
    bo.to_end()
    bo.type("!")
    bo.wait_until_saved()
    held.let_go()
    assert converge(ann, bo) == "first: what Bo wrote!"


def test_early_text_reaches_its_note_when_another_is_shown(server, person):
    first, second = server.create("First"), server.create("Second")
    ann = person("Ann")
    held = HeldBack(ann.page)
    visit(ann, f"/n/{first}")
    ann.press("Alt+e")
    ann.page.keyboard.type("for the first")
    ann.page.locator(f'#notes [data-note="{second}"] a').click()
    expect(title(ann)).to_have_value("Second")
    ann.press("Alt+e")
    expect(early(ann)).to_have_value("")
    ann.page.keyboard.type("for the second")
    ann.page.go_back()
    expect(early(ann)).to_have_value("for the first")
    # A reload keeps the text, too.
    ann.page.reload()
    expect(early(ann)).to_have_value("for the first")
    held.let_go()
    ann.wait_until_saved()
    bo = person("Bo").open(first)
    bo.wait_for_text("for the first")
    bo.open(second)
    bo.wait_for_text("for the second")


def test_a_note_can_be_written_before_the_server_has_created_it(server, person):
    """All typed text belongs to the new note, not to the former one."""
    old = server.create("Old")
    ann = person("Ann", worker=False).open(old)
    ann.type("old text")
    ann.wait_until_saved()
    requests = []
    ann.page.route(
        "**/api/notes",
        lambda route: requests.append(route) if route.request.method == "POST" else route.continue_(),
    )
    ann.press("Alt+n")
    ann.page.keyboard.type("New plan")
    ann.press("Enter")
    ann.page.keyboard.type("new text")
    wait_until(lambda: early(ann).input_value() == "new text" and requests)
    requests[0].continue_()
    ann.wait_until_saved()
    ann.wait_for_text("new text")
    expect(ann.page.locator("#notes .note-title")).to_have_text(["New plan", "Old"])
    ann.page.go_back()
    ann.wait_for_text("old text")


def test_a_note_is_begun_offline(server, person):
    ann = person("Ann", worker=False)
    visit(ann, "/")
    expect(ann.page.locator("#notes-empty")).to_have_text("No notes yet.")
    is_down = True
    ann.page.route(
        "**/api/notes",
        lambda route: route.abort()
        if is_down and route.request.method == "POST"
        else route.continue_(),
    )
    ann.press("Alt+n")
    ann.page.keyboard.type("In a tunnel")
    ann.press("Enter")
    ann.page.keyboard.type("light ahead")
    notice = ann.page.locator('.notice[data-kind="new"]')
    expect(notice).to_contain_text("Your text is stored")
    ann.picture("begun-offline")
    ann.page.reload()
    expect(title(ann)).to_have_value("In a tunnel")
    expect(early(ann)).to_have_value("light ahead")
    expect(notice).to_be_visible()
    is_down = False
    notice.get_by_role("button", name="Try again").click()
    ann.wait_until_saved()
    ann.wait_for_text("light ahead")
    expect(ann.page.locator("#notes .note-title")).to_have_text(["In a tunnel"])
    expect(notice).to_have_count(0)
    wait_until(lambda: ann.page.evaluate(KEPT) == [])


def test_a_note_that_was_begun_outlives_tab_and_browser(server, browser, person, tmp_path):
    """The note is created once, later, with its title and text, even if the server was never reachable before."""

    def launch():
        return browser.browser_type.launch_persistent_context(
            tmp_path / "profile", executable_path=CHROMIUM, args=FLAGS, base_url=server.url
        )

    context = launch()
    context.route("**/api/**", lambda route: route.abort())
    context.route_web_socket(re.compile(r"/ws$"), lambda socket: socket.close(code=1011))
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#me-name")).not_to_be_empty()
    page.keyboard.press("Alt+n")
    page.keyboard.type("In a tunnel")
    page.keyboard.press("Enter")
    page.keyboard.type("light ahead")
    expect(page.locator('.notice[data-kind="new"]')).to_contain_text("Your text is stored")
    expect(page.locator("#notes .note-title")).to_have_text(["In a tunnel"])
    expect(page.locator("#notes .unsaved")).to_have_text("Not made yet")
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTIFACTS / "begun-never-reached.png")
    page.close()
    # Another tab of the same browser, still without the server, has the note and lists it.
    page = context.new_page()
    page.goto("/")
    page.locator("#notes .note-link", has_text="In a tunnel").click()
    expect(page.get_by_label("Title of the note")).to_have_value("In a tunnel")
    expect(page.locator("#early")).to_have_value("light ahead")
    page.locator("#early").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("!")
    context.close()
    assert server.request("GET", "/api/notes")["notes"] == []

    context = launch()
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#notes .note-title")).to_have_text(["In a tunnel"])
    wait_until(lambda: page.evaluate(KEPT) == [])
    context.close()
    (note,) = server.request("GET", "/api/notes")["notes"]
    assert note["title"] == "In a tunnel"
    assert server.request("GET", f"/api/notes/{note['id']}/text")["text"] == "light ahead!"


def test_early_text_outlives_the_tab(server, person):
    note = server.create("Old")
    ann = person("Ann")
    HeldBack(ann.page)
    visit(ann, f"/n/{note}")
    ann.press("Alt+e")
    ann.page.keyboard.type("typed early")
    ann.page.close()
    ann.page = ann.new_page()
    # The next tab sends the text, whatever it shows.
    ann.page.goto("/")
    wait_until(lambda: ann.page.evaluate(KEPT) == [])
    assert server.request("GET", f"/api/notes/{note}/text")["text"] == "typed early"


def test_a_new_note_is_discarded(server, person):
    ann = person("Ann", worker=False)
    visit(ann, "/")
    ann.page.route(
        "**/api/notes",
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
    )
    ann.page.get_by_role("button", name="Start a note").click()
    expect(title(ann)).to_be_focused()
    ann.page.get_by_role("button", name="Discard it").click()
    expect(ann.page.locator("#welcome-title")).to_be_visible()
    assert server.request("GET", "/api/notes")["notes"] == []


def test_a_title_is_kept_when_another_note_is_begun(server, person):
    ann = person("Ann").open(server.create("Old"))
    title(ann).fill("Written, and no Enter")
    ann.press("Alt+n")
    ann.page.keyboard.type("Another")
    ann.press("Enter")
    expect(ann.page.locator("#notes .note-title")).to_have_text(["Another", "Written, and no Enter"])


def test_a_title_given_offline_is_set_later(server, person):
    ann = person("Ann").open(server.create("Old"))
    expect(ann.page.locator("#notes .note-title")).to_have_text(["Old"])
    server.kill()
    ann.wait_for_status("offline")
    title(ann).fill("New title")
    ann.press("Enter")
    expect(ann.page.locator("#notes .note-title")).to_have_text(["New title"])
    server.start()
    wait_until(lambda: server.request("GET", "/api/notes")["notes"][0]["title"] == "New title")
    ann.wait_for_status("saved")
    expect(title(ann)).to_have_value("New title")


def test_early_text_for_a_read_only_note_is_reported(server, person):
    note = server.create("Read this")
    link = server.request("POST", f"/api/notes/{note}/share", {"access": "read"})
    ann = person("Ann")
    held = HeldBack(ann.page)
    visit(ann, link["path"])
    ann.press("Alt+e")
    ann.page.keyboard.type("my remark")
    held.let_go()
    notice = ann.page.locator('.notice[data-kind="early"]')
    expect(notice).to_contain_text("What you typed before the note opened is not in it.")
    assert ann.text() == ""
    notice.get_by_role("button", name="Discard it").click()
    expect(notice).to_have_count(0)


def test_a_click_before_the_page_has_started(server, person):
    """The browser has loaded the page, but not yet the code that handles the click."""
    ann = person("Ann")
    held = []
    ann.page.route(re.compile(r"/app[^/]*\.js$"), lambda route: held.append(route))
    ann.page.goto("/")
    button = ann.page.get_by_role("button", name="New note")
    button.click()
    expect(button).to_have_attribute("aria-busy", "true")
    wait_until(lambda: ann.page.evaluate("true") and held)
    held[0].continue_()
    expect(ann.page).to_have_url(re.compile(r"/n/.+"))
    ann.page.keyboard.type("First")
    ann.press("Enter")
    ann.wait_until_saved()
    expect(ann.page.locator("#notes .note-title")).to_have_text(["First"])
