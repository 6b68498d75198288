#!/usr/bin/env python3
"""Takes the documentation's pictures of the real page, while people write in it.

    make pictures        (or: make build && .venv/bin/python Scripts/readme_picture.py)

Starts the program on an empty folder, lets browsers write into one note, and keeps what one of them
sees in Documentation/images: two-people.png, history.png of how the note came about, and admin.png, what
an operator sees of it all; each also in the dark theme, as two-people-dark.png. Then it goes through a
team's day, as the test of that does, and keeps some of its views. The page looks as intended where Inter and Vollkorn are installed (Debian: fonts-inter, fonts-vollkorn);
elsewhere the system's fonts take their place.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "Tests" / folder) for folder in ("Browser", "System")]

from conftest import CHROMIUM, FLAGS, PROGRAM, Person, Server, converge, wait_until  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from team_day import Day  # noqa: E402
from identity_providers import LyingProvider  # noqa: E402
from proxies import free_port  # noqa: E402

IMAGES = ROOT / "Documentation" / "images"
BYTES_MAX = 300_000
# Views of a team's day, and the names of their pictures.
DAY = {
    "page": "as-a-page.png", "search": "search.png", "invited": "invited.png", "phone-page": "phone.png",
    "arabic": "arabic.png",
}  # fmt: skip

BEFORE = """Meet at **9:40** at the lower station. The path starts behind the chapel; *good shoes*, it has rained all week.

## Who brings what

- tea and cups: Ines
- bread, cheese, 柿 from Keiko's garden
- a map, because phones give up at the second bridge
- 🦆 bread is bad for ducks. Oats!

> Rain plan: the museum, then soup.

"""


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        keys = pathlib.Path(folder) / "api-keys"
        key = make_key(keys)
        server = Server(pathlib.Path(folder), "--api-key-file", str(keys))
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for title in ["Reading list", "Kitchen shelves, measured", "Questions for Thursday", "はじめての味噌"]:
                server.create(title)
            note = server.create("Autumn walk")
            ines = Person(
                browser, server, "Ines Duarte", "#16737f",
                viewport={"width": 1200, "height": 750}, device_scale_factor=1.5,
            ).open(note)
            keiko = Person(browser, server, "Keiko", "#8a4bab").open(note)
            ines.editor.focus()
            ines.page.keyboard.insert_text(BEFORE)
            keiko.wait_for_text(BEFORE)
            keiko.put_caret(BEFORE.index(" bridge"))
            keiko.type(" wooden")
            ines.wait_for_text(keiko.text())
            ines.to_end()
            ines.type("Back by five, for the ")
            converge(ines, keiko)
            keiko.put_caret(BEFORE.index("9:40"), BEFORE.index("9:40") + 4)
            ines.page.locator("#editor .peer-caret.is-fresh").wait_for()
            ines.page.locator("#editor .peer-selection").wait_for()
            take(ines, "two-people.png")
            # The next edits, then the history.
            jonas = Person(browser, server, "Jonas", "#b0452a").open(note)
            jonas.put_caret(jonas.text().index("- a map"))
            jonas.page.keyboard.insert_text("- two dogs, *one of them wet*\n")
            converge(ines, jonas, keiko)
            keiko.put_caret(keiko.text().index("> Rain plan"))
            keiko.page.keyboard.insert_text("Keiko reads the weather at eight, and writes it here.\n\n")
            converge(ines, jonas, keiko)
            open_history(ines)
            take(ines, "history.png")
            ines.press("Escape")
            operator = Person(
                browser, server, "Operator", viewport={"width": 1200, "height": 800}, device_scale_factor=1.5
            )
            watch(operator, key, [ines, jonas, keiko])
            take(operator, "admin.png")
        finally:
            server.stop()
        take_day(browser, pathlib.Path(folder) / "day")
        browser.close()
    names = ("two-people.png", "history.png", "admin.png", *DAY.values())
    sizes = {name: (IMAGES / name).stat().st_size for one in names for name in (one, dark(one))}
    for name, size in sizes.items():
        print(f"{name}: {size} bytes")
    return 0 if max(sizes.values()) < BYTES_MAX else 1


def take_day(browser, folder):
    """Runs a team's day and takes pictures of it."""
    folder.mkdir()
    provider = LyingProvider()

    def look(person, view):
        if name := DAY.get(view):
            # No message may cover the parts that the picture explains.
            person.page.evaluate("() => document.getElementById('toast').hidden = true")
            take(person, name)

    day = Day(browser, folder, provider, free_port(), look)
    try:
        day.run()
    finally:
        day.close()
        provider.stop()


def make_key(file):
    """Returns the API key of an operator who may read notes."""
    made = subprocess.run(
        [PROGRAM, "apikey", "operations", "operator", "document:*=read", "--file", file],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return re.search(r"pk_\S+", made.stdout).group()


def watch(operator, key, writers):
    """Lets people write in turns until the charts contain enough data."""
    operator.page.goto("/admin")
    operator.page.get_by_label("API key").fill(key)
    operator.page.get_by_role("button", name="Sign in").click()
    operator.page.locator("#connections tbody tr").nth(2).wait_for()
    numbers = random.Random(6)
    for writer in writers:
        writer.to_end()
    for _ in range(60):
        writer = numbers.choice(writers)
        writer.page.keyboard.type("and so on, " * numbers.randrange(4), delay=numbers.randrange(15, 60))
        writer.page.wait_for_timeout(numbers.randrange(200, 700))


def take(person, name):
    """Takes a picture in the light theme and one in the dark theme."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    person.draw()
    for theme, file in (("dark", dark(name)), ("light", name)):
        person.page.emulate_media(color_scheme=theme)
        person.page.screenshot(path=IMAGES / file, animations="disabled", caret="initial")


def dark(name):
    """Returns the name of a picture in the dark theme."""
    return name.replace(".png", "-dark.png")


def open_history(person):
    """Opens the note's history at its second newest turn, and names it."""
    person.page.keyboard.press("Alt+h")
    history = person.page.locator("#history")
    history.locator(".session-toggle").first.click()
    history.get_by_role("button", name="Show single changes").click()
    history.locator(".session-changes .group").nth(4).wait_for()
    history.get_by_role("slider", name="Revision").focus()
    history.get_by_role("slider", name="Revision").press("PageDown")
    history.get_by_role("button", name="Name this version").click()
    person.page.get_by_role("textbox", name="Name").fill("Agreed on Thursday")
    person.page.keyboard.press("Enter")
    history.locator("#history-versions .version").wait_for()
    wait_until(lambda: history.get_attribute("data-shown") == history.get_by_role("slider").input_value())
    history.get_by_role("slider", name="Revision").focus()


if __name__ == "__main__":
    sys.exit(main())
