"""A team's day with the keyboard only: the focus is visible at each step, and dialogs return it."""

import subprocess

import pytest
from conftest import PROGRAM, Server, wait_until
from playwright.sync_api import expect
from test_joining import PASSWORD

# In the page: the focused element, its name, and the reason if its focus is not visible.
FOCUSED = """() => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    if (!one || one === document.body) return { name: "", wrong: "nothing has the focus" };
    const id = one.id || one.closest("[id]")?.id || one.className;
    const name = one.getAttribute("aria-label") || one.labels?.[0]?.textContent.trim() || one.textContent.trim() || id;
    const box = one.getBoundingClientRect();
    const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.width > 1;
    // What hides its own frame draws it around what stands for it.
    const frames = [one, one.nextElementSibling].filter(Boolean).map((it) => getComputedStyle(it));
    const hasFrame = frames.some((own) => own.outlineStyle !== "none" && parseFloat(own.outlineWidth) > 0);
    const hasCaret = one.matches("textarea, [contenteditable=true]") || one.localName === "input" && one.type !== "checkbox";
    const isFilled = one.matches("[role^=menuitem]") && getComputedStyle(one).backgroundColor !== "rgba(0, 0, 0, 0)";
    const wrong = !isInView ? "it is out of view" : !(hasFrame || hasCaret || isFilled) ? "nothing shows it" : "";
    return { id, name: name.slice(0, 80), wrong };
}"""


@pytest.fixture
def users(tmp_path):
    """A server with a user."""
    file = tmp_path / "users"
    add = [PROGRAM, "user", "add", "ada", "document:*=all", "room:notes=read", "--file", file]
    subprocess.run(add, input=PASSWORD + "\n", text=True, check=True, capture_output=True)
    running = Server(tmp_path, "--users-file", file)
    yield running
    running.stop()


class Keys:
    """A person with a keyboard, but without a mouse."""

    def __init__(self, person):
        self.person = person
        self.page = person.page

    def focused(self, passed=()):
        """Returns the focused element, whose focus must be visible."""
        found = self.page.evaluate(FOCUSED)
        assert not found["wrong"], f"{found} after {passed}"
        return found

    def press(self, *keys):
        """Presses keys, and checks the focus after each."""
        for key in keys:
            self.page.keyboard.press(key)
            self.focused()

    def type(self, text):
        self.page.keyboard.type(text)

    def wait_for(self, selector):
        """Waits until the element has the focus, which must be visible."""
        expect(self.page.locator(selector).first).to_be_focused()
        self.focused()

    def go_to(self, selector, key="Tab", stops=12):
        """Presses a key until the element has the focus."""
        locator = self.page.locator(selector).first
        expect(locator).to_be_visible()
        passed = []
        while not locator.evaluate("(one) => one.getRootNode().activeElement === one"):
            assert len(passed) < stops, f"{selector} is not within {stops} stops: {passed}"
            self.page.keyboard.press(key)
            passed.append(self.focused(passed)["name"])

    def choose(self, selector, key="Tab", stops=12):
        """Moves the focus to the element, and presses Enter."""
        self.go_to(selector, key, stops)
        self.page.keyboard.press("Enter")


def test_a_teams_day_by_keyboard(users, person):
    ada = person("Ada", reduced_motion="reduce")
    keys = Keys(ada)
    page = ada.page
    page.goto("/")
    keys.wait_for("#sign-in-email")
    page.keyboard.press("Escape")
    keys.choose("#line-sign-in")
    keys.wait_for("#sign-in-email")
    keys.type("ada")
    keys.press("Tab")
    keys.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#sign-in")).to_be_hidden()
    expect(page.locator("#me-name")).to_have_text("ada")

    write(keys)
    comment(keys)
    share(keys)
    search(keys)
    open_history(keys)
    read_and_print(keys)

    keys.press("Alt+l")
    keys.choose("#me", stops=6)
    keys.wait_for("#profile-name")
    keys.choose("#sign-out")
    expect(page.locator("#sign-in")).to_be_visible()
    keys.focused()


def write(keys):
    """Writes a new note with a title, a list and a box."""
    keys.choose("#create")
    keys.wait_for("#title")
    keys.type("Autumn walk")
    keys.page.keyboard.press("Enter")
    keys.person.wait_for_editor()
    keys.wait_for("#editor .cm-content")
    for line in ("Meet at the lower station", "", "- tea", "bread", "", "- [ ] a map"):
        keys.type(line)
        keys.press("Enter")
    keys.press("Enter", "ArrowUp", "Control+Enter")
    wait_until(lambda: "- [x] a map" in keys.person.text(), keys.person.text)
    keys.person.wait_until_saved()


def comment(keys):
    """Writes a comment, and an answer to it."""
    thread = keys.page.locator(".thread")
    keys.press("Control+Home", "Shift+Control+ArrowRight", "Alt+m")
    keys.wait_for("#comment-new textarea")
    keys.type("At which hour?")
    keys.page.keyboard.press("Control+Enter")
    expect(thread).to_contain_text("At which hour?")
    keys.focused()
    # The focused thread has a field for an answer.
    keys.go_to(".thread button")
    keys.go_to(".thread textarea")
    keys.type("At nine.")
    keys.page.keyboard.press("Control+Enter")
    expect(thread.locator(".comment-text")).to_have_count(2)
    keys.focused()
    keys.choose("#comments-close", "Shift+Tab")
    expect(keys.page.locator("#comments-panel")).to_be_hidden()
    keys.wait_for("#comments")


def share(keys):
    """Makes a link for reading."""
    keys.choose("#share", stops=1)
    dialog = keys.page.locator("#sharing")
    expect(dialog).to_be_visible()
    keys.focused()
    keys.choose("#sharing button:text-is('Create link')", stops=20)
    expect(keys.page.locator("#sharing-link")).to_be_visible()
    keys.focused()
    keys.choose("#sharing [data-close]", stops=20)
    expect(dialog).to_be_hidden()
    keys.wait_for("#share")


def search(keys):
    """Finds the note by a word."""
    keys.press("Control+k")
    keys.wait_for("dialog.palette input")
    keys.press("Escape")
    keys.wait_for("#share")
    keys.press("Control+k")
    keys.wait_for("dialog.palette input")
    keys.type("Autumn")
    expect(keys.page.get_by_role("option").first).to_contain_text("Autumn walk")
    keys.page.keyboard.press("Enter")
    keys.wait_for("#editor .cm-content")


def open_history(keys):
    """Opens the history, restores the first text, and undoes that edit."""
    former = keys.person.text()
    keys.press("Alt+h")
    expect(keys.page.locator("#history-text")).to_have_attribute("aria-busy", "false")
    keys.go_to("#history-slider")
    keys.press("Home")
    keys.choose("#history-restore", "Shift+Tab", stops=20)
    keys.choose("#confirm-yes")
    keys.wait_for("#editor .cm-content")
    wait_until(lambda: keys.person.text() != former)
    keys.press("Control+z")
    keys.person.wait_for_text(former)


def read_and_print(keys):
    """Opens the page view, and checks the printed page."""
    keys.choose("#read", "Shift+Tab")
    expect(keys.page.locator("#rendered li")).to_have_count(3)
    keys.focused()
    keys.page.keyboard.press("Enter")
    keys.wait_for("#editor .cm-content")
    keys.page.evaluate("() => (window.print = () => { document.body.dataset.printed = 'yes'; })")
    keys.choose("#note-menu", "Shift+Tab")
    keys.choose("#menu [role=menuitem]:has-text('Print')", "ArrowDown", stops=20)
    expect(keys.page.locator("body")).to_have_attribute("data-printed", "yes")
    keys.wait_for("#note-menu")
