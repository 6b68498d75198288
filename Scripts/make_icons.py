#!/usr/bin/env python3
"""Draws the icons of Web/install from Web/icon.svg, in Chromium.

    .venv/bin/python Scripts/make_icons.py

Run it when the drawing has changed. The results are committed, because the page is built without a browser.
"""

import os
import pathlib
import shutil

from playwright.sync_api import sync_playwright

WEB = pathlib.Path(__file__).resolve().parent.parent / "Web"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
# Name, size in pixels, the fraction that the drawing occupies, and the background. Systems crop maskable icons, so that
# only the middle is certainly visible.
ICONS = (
    ("icon-192.png", 192, 1.0, "transparent"),
    ("icon-512.png", 512, 1.0, "transparent"),
    ("icon-mask-512.png", 512, 0.6, "#f4f2ec"),
)


def main():
    drawing = (WEB / "icon.svg").read_text()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, size, share, ground in ICONS:
            page = browser.new_page(viewport={"width": size, "height": size})
            page.set_content(
                f"<style>body {{ margin: 0; display: grid; place-content: center; height: 100vh; background: {ground} }}"
                f"svg {{ width: {round(size * share)}px; display: block }}</style>{drawing}"
            )
            page.screenshot(path=WEB / "install" / name, omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
