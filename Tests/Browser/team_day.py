"""A team's day, from an empty folder: setup, invitations, sign-in, writing, search, deletion, restoring and export.

test_team_day.py checks every view with axe, in both themes; Scripts/readme_picture.py takes
pictures of some views. Both use the real program in the same way.
"""

import os
import re
import subprocess
import sys

from conftest import PHONE, PROGRAM, ROOT, WEB, Person, Server, converge, wait_until
from playwright.sync_api import expect
from test_comments import comment, wait_for_marks
from test_pictures import bring, is_drawn

sys.path.append(str(ROOT / "Tests" / "System"))
from identity_providers import CLIENT, SECRET  # noqa: E402

PASSWORD = "correct horse battery staple"
OTHER_PASSWORD = "a first password"

TEXT = """Meet at **9:40** at the lower station. The path starts behind the chapel; *good shoes*, it has rained all week.[^1]

## Who brings what

- [ ] tea and cups
- [ ] bread, cheese, 柿 from Keiko's garden
- [ ] a map, because phones give up at the second bridge

## What it costs

|what|for|each|
|:-|-:|-:|
|train|5|4.20|
|soup|5|7|

## How to find it

```sh
# The last train back
date -d 'Saturday 18:12' +%s
```

[^1]: The forecast says otherwise; bring a coat.
"""


def program(folder, *words, said=""):
    """Runs a command of the program, and returns its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY")}
    ended = subprocess.run(
        [str(PROGRAM), *map(str, words)], cwd=folder, input=said, capture_output=True, text=True, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


class TeamServer(Server):
    """The program with its configuration file."""

    def command(self):
        return [PROGRAM, "serve", "--config", "parley.conf", "--web-dir", WEB]


class Day:
    """The team and its server. `look` is called with a person and the name of each view."""

    def __init__(self, browser, folder, provider, port, look):
        self.browser, self.folder, self.provider, self.look = browser, folder, provider, look
        self.port = port
        self.server = None
        self.people = []

    def person(self, name, color="#16737f", **options):
        self.people.append(Person(self.browser, self.server, name, color, **options))
        return self.people[-1]

    def close(self):
        for one in self.people:
            one.leave()
        if self.server:
            self.server.stop()

    def run(self):
        self.set_up()
        ada = self.sign_in_as_the_first()
        bea = self.join_by_invitation()
        note = self.write(ada)
        cem = self.sign_in_at_the_provider(note)
        self.put_into_a_folder(ada, note)
        self.tick_and_paste(ada, bea, cem, note)
        self.comment_and_answer(bea, cem)
        self.read_as_a_page(bea)
        self.find(bea, note)
        self.delete_and_bring_back(ada)
        self.look_back_and_name(ada)
        self.export(ada)
        self.share(ada)
        phone = self.on_a_phone(note)
        self.sign_out_the_phone(bea, phone)
        self.in_arabic(note)

    def set_up(self):
        program(
            self.folder, "setup", "--host-name", "localhost", "--reach", "local", "--access", "users", "--user",
            "ada@example.org", "--name", "Ada", "--data-dir", "notes", "--port", self.port, "--config", "parley.conf",
            "--non-interactive", said=PASSWORD + "\n",
        )  # fmt: skip
        (self.folder / "client-secret").write_text(SECRET)
        with (self.folder / "parley.conf").open("a") as config:
            config.write(
                f"public-url = http://127.0.0.1:{self.port}\noidc-issuer = {self.provider.issuer}\n"
                f"oidc-client-id = {CLIENT}\noidc-client-secret-file = client-secret\noidc-name = Example\n"
                "oidc-group = writers document:*=read,write,presence,manage\n"
            )
        program(self.folder, "check", "--config", "parley.conf", "--web-dir", WEB)
        self.server = TeamServer(self.folder)

    def sign_in_as_the_first(self):
        ada = self.person("Ada", viewport={"width": 1200, "height": 750})
        ada.page.goto("/")
        dialog = ada.page.get_by_role("dialog")
        expect(dialog.get_by_role("link", name="Sign in with Example")).to_be_visible()
        self.look(ada, "sign-in")
        dialog.get_by_label("E-mail").fill("ada@example.org")
        dialog.get_by_label("Password").fill(PASSWORD)
        ada.press("Enter")
        expect(dialog).to_be_hidden()
        expect(ada.page.locator("#me-name")).to_have_text("Ada")
        self.look(ada, "welcome")
        return ada

    def join_by_invitation(self):
        link = program(self.folder, "invite", "make", "--page", self.server.url, "--config", "parley.conf").strip()
        bea = self.person("Bea", "#8a4bab", viewport={"width": 1200, "height": 750})
        bea.page.goto(link)
        dialog = bea.page.get_by_role("dialog")
        expect(dialog).to_contain_text("You are invited")
        self.look(bea, "invited")
        dialog.get_by_label("E-mail").fill("bea@example.org")
        dialog.get_by_label("Name shown to others").fill("Bea")
        dialog.get_by_label("Password").fill(OTHER_PASSWORD)
        dialog.get_by_role("button", name="Join").click()
        expect(bea.page.locator("#me-name")).to_have_text("Bea")
        return bea

    def sign_in_at_the_provider(self, note):
        self.provider.user = {"sub": "u-7", "name": "Cem", "groups": ["writers"]}
        cem = self.person("Cem", "#b0452a")
        cem.page.goto(f"/n/{note}")
        cem.page.get_by_role("dialog").get_by_role("link", name="Sign in with Example").click()
        expect(cem.page.locator("#me-name")).to_have_text("Cem")
        cem.wait_for_editor()
        return cem

    def write(self, ada):
        for title in ("Reading list", "Questions for Thursday", "はじめての味噌"):
            ada.page.get_by_role("button", name="New note").click()
            ada.page.locator("#title").fill(title)
            ada.press("Enter")
            ada.type("To be written.")
            ada.wait_until_saved()
        ada.page.get_by_role("button", name="New note").click()
        ada.page.locator("#title").fill("Autumn walk")
        ada.press("Enter")
        expect(ada.page).to_have_url(re.compile("/n/"))
        ada.wait_for_editor()
        ada.page.keyboard.insert_text(TEXT)
        ada.wait_until_saved()
        return ada.page.url.rsplit("/", 1)[1]

    def put_into_a_folder(self, ada, note):
        ada.page.locator(f"li[data-note='{note}']").hover()
        ada.page.get_by_role("button", name="More for “Autumn walk”").click()
        ada.page.get_by_role("menuitem", name="Move to a folder").click()
        ada.page.get_by_role("combobox", name="Folder").fill("outings/autumn")
        self.look(ada, "move")
        ada.press("Enter")
        expect(ada.page.locator("#toast")).to_contain_text("“Autumn walk” is now in outings/autumn.")
        expect(ada.page.locator("#folders .folder-name", has_text="autumn")).to_be_visible(timeout=15_000)
        self.look(ada, "folders")

    def tick_and_paste(self, ada, bea, cem, note):
        bea.open(note)
        assert converge(ada, bea, cem) == TEXT
        # A command aligns the columns of the table.
        ada.put_caret(TEXT.index("train"))
        ada.press("Control+k")
        ada.page.get_by_role("combobox").fill(">align")
        expect(ada.page.get_by_role("option")).to_contain_text("Align the table")
        self.look(ada, "commands")
        ada.press("Enter")
        wait_until(lambda: "| train |   5 | 4.20 |" in ada.text(), ada.text)
        # One box is ticked by a click in the text, one by a key, and one in the page view.
        ada.page.locator("#editor .box").first.click()
        cem.put_caret(converge(ada, bea, cem).index("bread"))
        cem.press("Control+Enter")
        bea.page.get_by_role("button", name="Read as a page").click()
        bea.page.locator("#rendered").get_by_role("checkbox", name=re.compile("a map")).check()
        wait_until(lambda: converge(ada, bea, cem).count("[x]") == 3, ada.text)
        ada.to_end()
        ada.press("Enter")
        bring(ada, "paste", "the path.png", (ROOT / "Web" / "install" / "icon-192.png").read_bytes())
        expect(ada.editor).to_contain_text("![the path](files/")
        ada.wait_until_saved()
        converge(ada, bea, cem)
        cem.put_caret(cem.text().index("lower station"))
        ada.to_start()
        ada.page.locator("#editor .peer-caret").first.wait_for()
        self.look(ada, "note")

    def comment_and_answer(self, bea, cem):
        bea.page.get_by_role("button", name="Read as a page").click()
        at = bea.text().index("9:40")
        comment(bea, "The early train is at 9:12.", at, at + 4)
        wait_for_marks(cem, "9:40")
        cem.page.locator("#comments").click()
        thread = cem.page.locator(".thread")
        expect(thread).to_contain_text("The early train is at 9:12.")
        thread.get_by_role("button", name="Answer").click()
        thread.get_by_role("textbox", name="Answer").fill("Then let us take that one.")
        thread.get_by_role("button", name="Send").click()
        expect(thread.locator(".comment-text")).to_have_count(2)
        self.look(cem, "comments")
        thread.get_by_role("button", name="Resolve").click()
        wait_for_marks(bea)
        for one in (cem, bea):
            one.page.locator("#comments").click()
        bea.page.get_by_role("button", name="Read as a page").click()
        # The buttons for selected text are hidden in the page view.
        expect(bea.page.locator("#comment-here")).to_be_hidden()

    def read_as_a_page(self, bea):
        page = bea.page.locator("#rendered")
        image = page.locator("img.file")
        image.scroll_into_view_if_needed()
        wait_until(lambda: is_drawn(image) == 192)
        expect(page.locator(".token-comment")).to_be_attached()
        expect(page.locator(".footnotes li")).to_have_count(1)
        page.evaluate("(page) => page.scrollTo(0, 0)")
        self.look(bea, "page")

    def find(self, bea, note):
        bea.page.locator(".brand-link").click()
        field = bea.page.get_by_role("combobox", name="Search notes")
        options = bea.page.get_by_role("option")

        def is_found():
            # The search finds a note only some time after the last edit.
            field.fill("")
            field.fill("lower sta")
            bea.page.locator(".palette-state", has_text=re.compile("note")).wait_for()
            return options.count() == 1

        bea.press("Control+k")
        wait_until(is_found)
        expect(options).to_contain_text("lower station")
        self.look(bea, "search")
        bea.press("Enter")
        expect(bea.page).to_have_url(re.compile(note))

    def delete_and_bring_back(self, ada):
        ada.page.get_by_role("button", name="More for this note").click()
        self.look(ada, "menu")
        ada.page.get_by_role("menuitem", name="Delete").click()
        self.look(ada, "delete")
        ada.page.get_by_role("dialog").get_by_role("button", name="Delete note").click()
        expect(ada.page.locator("#notes .note-title", has_text="Autumn walk")).to_have_count(0)
        ada.page.get_by_role("button", name="More for all notes").click()
        ada.page.get_by_role("menuitem", name="Deleted notes").click()
        dialog = ada.page.get_by_role("dialog", name="Deleted notes")
        expect(dialog).to_contain_text("Autumn walk")
        self.look(ada, "deleted")
        dialog.get_by_role("button", name="Restore “Autumn walk”").click()
        ada.wait_for_editor()
        expect(ada.editor).to_contain_text("lower station")

    def look_back_and_name(self, ada):
        ada.press("Alt+h")
        history = ada.page.locator("#history")
        expect(history.locator("#history-text")).to_have_attribute("aria-busy", "false")
        expect(history.locator("#history-sessions .group").first).to_be_visible()
        self.look(ada, "history")
        ada.press("Escape")
        expect(history).to_be_hidden()

    def export(self, ada):
        for name, pattern in (("Download Markdown", r"Autumn walk\.md"), ("Download HTML", r"Autumn walk\.html")):
            ada.page.get_by_role("button", name="More for this note").click()
            with ada.page.expect_download() as download:
                ada.page.get_by_role("menuitem", name=name).click()
            assert re.fullmatch(pattern, download.value.suggested_filename)
            text = download.value.path().read_text()
            assert "lower station" in text and ("data:image/png" in text) == name.endswith("HTML")
        ada.page.get_by_role("button", name="More for all notes").click()
        with ada.page.expect_download() as download:
            ada.page.get_by_role("menuitem", name="Download all notes").click()
        assert download.value.suggested_filename == "notes.zip"
        listed = program(self.folder, "notes", "--config", "parley.conf")
        assert listed.count("\n") == 4 and "はじめての味噌" in listed

    def share(self, ada):
        ada.page.get_by_role("button", name="Share", exact=True).click()
        dialog = ada.page.get_by_role("dialog")
        dialog.get_by_role("button", name="Create link").click()
        field = ada.page.locator("#sharing-link")
        expect(field).to_be_visible()
        self.look(ada, "share")
        link = field.input_value()
        assert len(link.removeprefix(self.server.url)) <= 60, link
        dialog.get_by_role("button", name="Done").click()
        guest = self.person("Dora", "#55731a")
        guest.page.goto(link)
        expect(guest.page.locator("#rendered")).to_contain_text("lower station")
        expect(guest.page.locator("#access")).to_be_visible()
        self.look(guest, "guest")

    def on_a_phone(self, note):
        bea = self.person("Bea", "#8a4bab", **PHONE)
        bea.page.goto(f"/n/{note}")
        dialog = bea.page.get_by_role("dialog")
        dialog.get_by_label("E-mail").fill("bea@example.org")
        dialog.get_by_label("Password").fill(OTHER_PASSWORD)
        dialog.get_by_role("button", name="Sign in", exact=True).tap()
        bea.wait_for_editor()
        self.look(bea, "phone")
        bea.page.locator("#read").tap()
        expect(bea.page.locator("#rendered input")).to_have_count(3)
        self.look(bea, "phone-page")
        bea.page.locator("#back").tap()
        expect(bea.page.locator("#notes .note-row")).to_have_count(4)
        self.look(bea, "phone-list")
        return bea

    def sign_out_the_phone(self, bea, phone):
        """Bea signs out a phone that she has lost."""
        bea.page.locator("#me").click()
        bea.page.get_by_role("button", name="Devices…").click()
        devices = bea.page.get_by_role("dialog")
        rows = devices.get_by_role("listitem")
        expect(rows).to_have_count(2)
        self.look(bea, "devices")
        devices.get_by_role("button", name="Sign out everywhere else").click()
        expect(rows).to_have_count(1)
        devices.get_by_role("button", name="Done").click()
        expect(phone.page.get_by_role("button", name="Sign in").first).to_be_visible()

    def in_arabic(self, note):
        self.provider.user = {"sub": "u-8", "name": "منى", "groups": ["writers"]}
        mona = self.person("منى", "#2f68ad", locale="ar", viewport={"width": 1200, "height": 750})
        mona.page.goto(f"/n/{note}")
        mona.page.locator("#sign-in-provider").click()
        mona.wait_for_editor()
        mona.to_end()
        mona.page.keyboard.insert_text("\n\nقائمة: أحضر الشاي والخبز\n")
        mona.wait_until_saved()
        # The pictures above the line are loaded, so that the key scrolls to the line.
        wait_until(lambda: mona.page.locator("#editor img").evaluate_all("(all) => all.every(({ complete }) => complete)"))
        mona.press("ArrowUp")
        expect(mona.page.locator("html")).to_have_attribute("dir", "rtl")
        # Rows without letters have the same direction as the others.
        for line in mona.page.locator("#editor .table-line, #editor .code-line").all():
            expect(line).to_have_css("direction", "ltr")
        self.look(mona, "arabic")
