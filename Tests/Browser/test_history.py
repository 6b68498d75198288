"""The history of a note: viewing, naming and restoring revisions."""

import re

from conftest import PHONE, VIEW_IN, converge, wait_until
from playwright.sync_api import expect

MOTION = "no-preference"


class Past:
    """The history view of a person."""

    def __init__(self, person):
        self.page = person.page
        self.person = person
        self.section = person.page.locator("#history")
        self.slider = person.page.get_by_role("slider", name="Revision")

    def open(self):
        self.page.get_by_role("button", name="More for this note").click()
        self.page.get_by_role("menuitem", name="History").click()
        expect(self.slider).to_be_focused()
        # Until the sessions are loaded, the slider has only one position, and keys do not move it.
        expect(self.section).to_have_attribute("data-shown", re.compile(r"^\d+$"))
        return self

    def text(self):
        return self.page.evaluate(
            f"""() => ({VIEW_IN})("#history-text")?.state.doc.toString() ?? null"""
        )

    def wait_for_text(self, expected):
        wait_until(lambda: self.text() == expected, lambda: f"the history shows {self.text()!r}")

    def authors(self):
        """Returns each coloured text with its author and colour."""
        return self.page.evaluate(
            """() => [...document.querySelector("#history-text").shadowRoot.querySelectorAll(".author")]
                .map((mark) => [
                    mark.textContent, mark.title, getComputedStyle(mark).getPropertyValue("--author"),
                ])"""
        )

    def at(self):
        return int(self.slider.input_value())

    def sessions(self):
        return self.section.locator("#history-sessions > .session")

    def open_changes(self):
        """Opens the people and the changes of the newest session."""
        session = self.sessions().first
        session.get_by_role("button", name=re.compile("^Details")).click()
        session.get_by_role("button", name="Show single changes").click()
        return session.locator(".session-changes .group-author")

    def show_changes(self):
        self.section.get_by_role("button", name="Show changes").click()
        expect(self.section).to_have_attribute("data-shown", re.compile(r"^\d+-\d+$"))

    def marked(self):
        """Returns deleted texts, and inserted texts with their authors, in the order of the text."""
        return self.page.evaluate(
            """() => [...document.querySelector("#history-text").shadowRoot.querySelectorAll("del, ins")]
                .map((mark) => mark.localName === "del" ? ["-", mark.textContent] : [mark.title, mark.textContent])"""
        )


def two_write(server, person):
    """Ann writes a line, Bo another, and Ann deletes a word. Each edit is saved before the next."""
    note = server.create("Autumn walk")
    ann = person("Ann", "#16737f").open(note)
    bo = person("Bo", "#b0452a").open(note)
    ann.editor.focus()
    ann.page.keyboard.insert_text("Meet at nine 🦆 sharp.\n")
    converge(ann, bo)
    bo.to_end()
    bo.page.keyboard.insert_text("Bring bread.\n")
    converge(ann, bo)
    ann.to_start()
    for _ in range(5):
        ann.press("Delete")
    converge(ann, bo)
    return note, ann, bo


def test_looking_back_naming_and_restoring(server, person):
    _, ann, bo = two_write(server, person)
    newest = "at nine 🦆 sharp.\nBring bread.\n"
    past = Past(ann).open()
    past.wait_for_text(newest)
    # Both are in one session, which shows the edits of each when opened.
    expect(past.sessions()).to_have_count(1)
    expect(past.sessions().locator(".group-author")).to_have_text(["Ann, Bo"])
    expect(past.open_changes()).to_have_text(["Ann", "Bo", "Ann"])
    expect(past.sessions().locator(".session-people .group-amount")).to_have_text(["+22 −5", "+13"])
    past.slider.focus()
    assert past.authors() == [
        ["at nine 🦆 sharp.", "Ann", "#16737f"],
        ["Bring bread.", "Bo", "#b0452a"],
    ]
    expect(past.section.get_by_role("button", name="Restore this version")).to_be_disabled()
    ann.picture("history")

    # Back by sessions, by single revisions, and to the beginning.
    ann.press("PageDown")
    past.wait_for_text("Meet at nine 🦆 sharp.\nBring bread.\n")
    expect(past.section.locator("#history-author")).to_have_text("Bo")
    expect(past.slider).to_have_attribute("aria-valuetext", re.compile("^Bo, .*revision 2 of"))
    ann.press("ArrowLeft")
    past.wait_for_text("Meet at nine 🦆 sharp.\n")
    ann.press("Home")
    past.wait_for_text("")
    expect(past.section.locator("#history-author")).to_have_text("Before the first change")
    ann.press("PageUp", "PageUp")
    past.wait_for_text("Meet at nine 🦆 sharp.\nBring bread.\n")

    # Naming the revision.
    past.section.get_by_role("button", name="Name this version").click()
    ann.page.get_by_role("textbox", name="Name").fill("Agreed 🤝")
    ann.press("Enter")
    version = past.section.locator("#history-versions .version")
    expect(version.locator(".group-author")).to_have_text("Agreed 🤝")
    expect(version.locator(".group-time")).to_have_text(re.compile("named by Ann"))
    expect(past.section.locator(".track-flag")).to_have_attribute("title", "Agreed 🤝")
    ann.picture("history-version")

    # The history shows new edits of others.
    bo.to_end()
    bo.type("Cheese!")
    bo.wait_until_saved()
    expect(past.sessions().locator(".session-changes .group-author")).to_have_text(["Bo", "Ann", "Bo", "Ann"])
    assert past.text() == "Meet at nine 🦆 sharp.\nBring bread.\n"
    past.section.get_by_role("button", name=re.compile("Agreed")).first.click()

    past.section.get_by_role("button", name="Restore this version").click()
    ann.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert ann.text().endswith("Cheese!")
    past.section.get_by_role("button", name="Restore this version").click()
    ann.page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(past.section).to_be_hidden()
    for one in (ann, bo):
        one.wait_for_text("Meet at nine 🦆 sharp.\nBring bread.\n")
    ann.to_end()
    ann.type("On we go.")
    assert converge(ann, bo) == "Meet at nine 🦆 sharp.\nBring bread.\nOn we go."

    # The former text can be restored in the same way.
    past = Past(bo).open()
    past.wait_for_text("Meet at nine 🦆 sharp.\nBring bread.\nOn we go.")
    expect(past.open_changes()).to_have_count(6)
    past.slider.focus()
    for _ in range(2):
        bo.press("PageDown")
    past.wait_for_text(newest + "Cheese!")
    past.section.get_by_role("button", name="Restore this version").click()
    bo.page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    for one in (ann, bo):
        one.wait_for_text(newest + "Cheese!")

    # Removing a name does not remove the revision.
    past = Past(bo).open()
    past.section.locator("#history-versions .version").hover()
    past.section.get_by_role("button", name="Remove the name “Agreed 🤝”").click()
    bo.page.get_by_role("button", name="Remove it").click()
    expect(past.section.locator("#history-versions .version")).to_have_count(0)
    expect(past.section.locator("#history-no-versions")).to_be_visible()


def test_restoring_is_one_step_to_undo(server, person):
    text = "Meet at nine 🦆 sharp.\nBring bread.\n"
    ann = person("Ann", worker=False).open(server.create("Undone"))
    ann.editor.focus()
    ann.page.keyboard.insert_text(text)
    ann.wait_until_saved()
    ann.press("Control+a", "Delete")
    ann.wait_until_saved()
    # The change may arrive before or after the answer to the request.
    for is_late in (False, True):
        changed = []
        ann.page.route(
            "**/restore",
            lambda route: (changed.append(route), None if is_late else route.continue_()),
        )
        past = Past(ann).open()
        past.wait_for_text("")
        ann.press("Home", "ArrowRight")
        past.wait_for_text(text)
        past.section.get_by_role("button", name="Restore this version").click()
        ann.page.get_by_role("dialog").get_by_role("button", name="Restore").click()
        if is_late:
            wait_until(lambda: ann.page.evaluate("true") and changed)
            answer = changed[0].fetch()
            # This later request has been answered first.
            ann.page.evaluate("fetch('/health')")
            changed[0].fulfill(response=answer)
        expect(past.section).to_be_hidden()
        ann.wait_for_text(text)
        ann.editor.focus()
        ann.press("Control+z")
        ann.wait_for_text("")
        ann.wait_until_saved()
        ann.page.unroute("**/restore")
    # Further undo steps revert the edits before.
    ann.press("Control+z")
    ann.wait_for_text(text)
    ann.press("Control+z")
    ann.wait_for_text("")
    for expected in (text, "", text):
        ann.press("Control+y")
        ann.wait_for_text(expected)
    ann.wait_until_saved()


def test_the_history_by_keyboard_leaves_the_editor_alone(server, person):
    note, ann, bo = two_write(server, person)
    ann.put_caret(3)
    ann.press("Alt+h")
    past = Past(ann)
    expect(past.slider).to_be_focused()
    past.wait_for_text(ann.text())
    expect(ann.page).to_have_url(re.compile("#history$"))
    ann.press("ArrowLeft", "ArrowLeft")
    ann.press("Escape")
    expect(past.section).to_be_hidden()
    expect(ann.page).to_have_url(re.compile(f"/n/{note}$"))
    # The caret has not moved.
    ann.page.keyboard.type("X")
    assert converge(ann, bo).startswith("at Xnine")
    # The address opens the history, and going back closes it.
    ann.page.goto(f"/n/{note}#history")
    ann.page.reload()
    past.wait_for_text(bo.text())
    ann.press("Escape")
    expect(past.section).to_be_hidden()
    expect(ann.editor).to_be_visible()
    ann.press("Alt+h")
    expect(past.slider).to_be_focused()
    ann.page.go_back()
    expect(past.section).to_be_hidden()


def test_the_history_on_a_phone_in_the_dark(server, person):
    note, ann, _ = two_write(server, person)
    phone = person("Cy", "#8a4bab", **PHONE).open(note)
    past = Past(phone).open()
    past.wait_for_text(ann.text())
    phone.picture("phone-history")
    past.section.get_by_role("button", name="Versions and changes").tap()
    past.open_changes()
    past.section.locator(".session-changes .group").nth(1).tap()
    past.wait_for_text("Meet at nine 🦆 sharp.\nBring bread.\n")
    expect(past.section.locator("#history-side")).to_be_hidden()
    past.section.get_by_role("button", name="Versions and changes").tap()
    phone.picture("phone-history-list")
    past.section.get_by_role("button", name="Versions and changes").tap()
    past.show_changes()
    phone.picture("phone-history-changes")


def test_a_long_text_in_the_history(server, person):
    note = server.create("Long")
    ann = person("Ann").open(note)
    ann.editor.focus()
    for index in range(4):
        ann.page.evaluate(
            """async (index) => {
                const view = (VIEW_IN)("#editor");
                const insert = `${index} a line of a long text\\n`.repeat(8_000);
                view.dispatch({ changes: { from: view.state.doc.length, insert } });
            }""".replace("VIEW_IN", VIEW_IN),
            index,
        )
        ann.wait_until_saved()
    past = Past(ann).open()
    wait_until(lambda: past.section.get_attribute("data-shown") == str(past.at()))
    assert past.text() == ann.text()
    asked = []
    ann.page.on("request", lambda request: asked.append(request.url) if "/text?" in request.url else None)
    ann.press(*["ArrowLeft"] * past.at(), *["ArrowRight"] * 2)
    wait_until(lambda: past.section.get_attribute("data-shown") == "2")
    assert past.text().count("\n") == 16_000
    # Only the visible lines are drawn.
    lines = "document.querySelector('#history-text').shadowRoot.querySelectorAll('.cm-line').length"
    assert ann.page.evaluate(lines) < 300


def text_of(server, note):
    return server.request("GET", f"/api/notes/{note}/text")["text"]


def type_by_turns(server, note, letters):
    """Two people type at the same time: each letter is a change of its own."""
    path = f"/api/notes/{note}/changes"
    for revision in range(2 * letters):
        author = "Ann" if revision % 2 else "Bo"
        operation = ([revision] if revision else []) + ["ab"[revision % 2]]
        server.request("POST", path, {"revision": revision, "operation": operation, "author": author})


def test_two_people_who_type_at_once_are_one_session(server, person):
    note = server.create("At once")
    type_by_turns(server, note, 90)
    ann = person("Ann", "#16737f").open(note)
    past = Past(ann).open()
    past.wait_for_text("ab" * 90)
    # Both have one row, instead of one for each letter.
    expect(past.section.locator("#history-sessions .group")).to_have_count(1)
    expect(past.sessions().locator(".group-author")).to_have_text(["Ann, Bo"])
    expect(past.sessions().locator(".group-amount")).to_have_text(["+180"])
    details = past.sessions().first.get_by_role("button", name=re.compile("^Details"))
    expect(details).to_have_attribute("aria-expanded", "false")
    details.focus()
    ann.press("Enter")
    expect(details).to_have_attribute("aria-expanded", "true")
    expect(details).to_be_focused()
    people = past.sessions().locator(".session-people")
    expect(people.locator(".group-author")).to_have_text(["Ann", "Bo"])
    expect(people.locator(".group-time")).to_have_text(["90 changes", "90 changes"])
    expect(past.sessions().locator(".session-changes")).to_have_count(0)
    past.sessions().get_by_role("button", name="Show single changes").click()
    expect(past.sessions().locator(".session-changes .group")).to_have_count(180)
    people.get_by_role("button", name=re.compile("Bo")).click()
    past.wait_for_text("ab" * 89 + "a")
    details.click()
    expect(past.section.locator("#history-sessions .group")).to_have_count(1)


def test_the_newest_sessions_come_first_and_earlier_ones_on_demand(server, person):
    note = server.create("Long ago")
    ann = person("Ann", "#16737f").open(note)
    days = 86_400_000

    def sessions(first, count):
        return [
            {
                "firstRevision": last - 9, "lastRevision": last, "firstTime": last * days, "lastTime": last * days + 60_000,
                "authors": [{"author": "Ann", "lastRevision": last, "changes": 10, "inserted": 20, "deleted": 0}],
            }
            for last in range(first, first - 10 * count, -10)
        ]  # fmt: skip

    head = 77_280
    middle = head - 494
    asked = []

    def answer(route):
        url = route.request.url
        asked.append(url)
        before = re.search(r"before=(\d+)", url)
        top = int(before.group(1)) - 1 if before else head
        found = sessions(top, 50)
        # The 50th session is cut: its earlier half is in the next answer.
        if not before:
            found[-1] |= {"firstRevision": middle, "cut": True}
        elif top == middle - 1:
            found = [{**sessions(head - 490, 1)[0], "lastRevision": top}, *sessions(head - 500, 50)]
        route.fulfill(json={"head": head, "oldest": 0, "sessions": found, "before": found[-1]["firstRevision"]})

    ann.page.route("**/sessions?*", answer)
    ann.page.route("**/text?revision=*", lambda route: route.fulfill(json={"text": "old", "time": 1, "authors": []}))
    past = Past(ann).open()
    past.wait_for_text("old")
    assert past.at() == head
    expect(past.sessions()).to_have_count(50)
    # Only the newest sessions are loaded until more are requested.
    assert len(asked) == 1
    first = past.sessions().first.locator(".group")
    expect(first).to_have_attribute("data-last", str(head))
    # The focus stays on a session when its other half is loaded.
    cut = past.sessions().last.locator(".session-toggle")
    cut.focus()
    past.section.get_by_role("button", name="Show earlier sessions").evaluate("(button) => button.click()")
    expect(past.sessions()).to_have_count(100)
    expect(past.sessions().nth(49).locator(".session-toggle")).to_be_focused()
    expect(past.sessions().last.locator(".group")).to_have_attribute("data-last", str(head - 990))

    # For a revision beyond the list, its session is fetched, and changes are shown since the session's beginning.
    ann.page.route("**/diff?*", lambda route: route.fulfill(json={
        **{name: int(value) for name, value in re.findall(r"(from|to)=(\d+)", route.request.url)},
        "fromTime": 1, "toTime": 1, "parts": [{"kept": 3}],
    }))  # fmt: skip
    past.slider.focus()
    ann.press("Home", *["ArrowRight"] * 25)
    past.show_changes()
    expect(past.section).to_have_attribute("data-shown", "15-25")
    assert re.search(r"before=26&limit=1$", asked[-1])


def test_changes_between_two_moments_and_restoring_a_part(server, person):
    note = server.create("Plan")
    path = f"/api/notes/{note}"
    before = "# Plan 😀\n\nWe meet at nine.\n\nBring bread.\n"
    after = "# Plan 😀\n\nWe meet at ten sharp.\n\nBring bread and cheese.\n"
    server.request("POST", f"{path}/changes", {"revision": 0, "operation": [before], "author": "Ann"})
    server.request("POST", f"{path}/versions", {"name": "Draft", "revision": 1, "author": "Ann"})
    start = len("# Plan 😀\n\nWe meet at ")
    operation = [start, "ten sharp", -4, len(".\n\nBring bread"), " and cheese", 2]
    server.request("POST", f"{path}/changes", {"revision": 1, "operation": operation, "author": "Bo"})
    ann = person("Ann", "#16737f").open(note)
    past = Past(ann).open()
    past.wait_for_text(after)
    past.show_changes()
    # Since the session's beginning, all text is new.
    assert [author for author, _ in past.marked() if author != "-"]
    assert all(author != "-" for author, _ in past.marked())
    past.section.get_by_label("Since").select_option("Draft")
    expect(past.section).to_have_attribute("data-shown", "1-2")
    assert past.marked() == [["-", "nine"], ["Bo", "ten sharp"], ["Bo", " and cheese"]]
    expect(past.section.locator("#history-change-place")).to_have_text("2 changed parts")
    ann.picture("history-changes")

    # The keyboard moves between changed parts; the second part is reverted.
    forward = past.section.get_by_role("button", name="Next changed part")
    restore = past.section.locator("#history-change-restore")
    expect(restore).to_be_disabled()
    forward.focus()
    ann.press("Enter", "Enter")
    expect(past.section.locator("#history-change-place")).to_have_text("2 of 2")
    restore.focus()
    ann.press("Enter")
    wait_until(lambda: text_of(server, note) == after.replace(" and cheese", ""))
    expect(past.section).to_have_attribute("data-shown", "1-3")
    assert past.marked() == [["-", "nine"], ["Bo", "ten sharp"]]
    # Reverting is an ordinary edit.
    ann.press("Escape")
    expect(past.section).to_be_hidden()
    ann.wait_for_text(after.replace(" and cheese", ""))
    ann.editor.focus()
    ann.press("Control+z")
    ann.wait_for_text(after)
    ann.wait_until_saved()

    # The button in the text also reverts a part, at any revision.
    past = Past(ann).open()
    ann.press("Home", "ArrowRight")
    past.wait_for_text(before)
    past.show_changes()
    past.section.get_by_role("button", name="From here").click()
    expect(past.section).to_have_attribute("data-shown", "1-1")
    past.slider.focus()
    ann.press("End")
    expect(past.section).to_have_attribute("data-shown", "1-4")
    ann.page.locator("#history-text .restore-part").first.click()
    wait_until(lambda: "at nine." in text_of(server, note))
    past.section.get_by_role("button", name="Show changes").click()
    past.wait_for_text(after.replace("ten sharp", "nine"))
    expect(past.section.locator("#history-comparing")).to_be_hidden()
