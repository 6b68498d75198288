#!/usr/bin/env python3
"""Takes the README's picture: the real page, with two people writing in it.

    make build && .venv/bin/python Scripts/readme_picture.py

Starts the program on an empty folder, lets two browsers write into one note, and keeps what one of
them sees as Documentation/images/two-people.png. The page looks as intended where Inter and Vollkorn
are installed (Debian: fonts-inter, fonts-vollkorn); elsewhere the system's fonts stand in.
"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Browser"))

from conftest import CHROMIUM, FLAGS, Person, Server, converge  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

TARGET = ROOT / "Documentation" / "images" / "two-people.png"
BYTES_MAX = 300_000

BEFORE = """# Autumn walk, Saturday

Meet at **9:40** at the lower station. The path starts behind the chapel; *good shoes*, it has rained all week.

## Who brings what

- tea and cups: Ines
- bread, cheese, 柿 from Keiko's garden
- a map, because phones give up at the second bridge
- 🦆 bread is bad for ducks. Oats!

> Rain plan: the museum, then soup.

"""


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(pathlib.Path(folder))
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
            TARGET.parent.mkdir(parents=True, exist_ok=True)
            ines.page.screenshot(path=TARGET, animations="disabled", caret="initial")
            browser.close()
        finally:
            server.stop()
    size = TARGET.stat().st_size
    print(f"{TARGET.relative_to(ROOT)}: {size} bytes")
    return 0 if size < BYTES_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
