"""The page in Arabic: right-to-left layout, texts in both directions, on a phone and in the dark theme."""

import re

from conftest import PHONE, VIEW_IN, barriers, converge, wait_until
from playwright.sync_api import expect
from test_languages import texts

ARABIC = texts("ar")
# Lines in both directions, a line without letters, and an empty line.
LINES = ["قائمة المهام: milk 3 ثم Brot", "Call +49 30 هاتف later", "12:30 – 13:45", "", "نهاية"]

# In the page: the coordinates of another user's caret, and those of its position in the text.
CARET = f"""(place) => {{
    const view = ({VIEW_IN})("#editor");
    const caret = document.querySelector("#editor").shadowRoot.querySelector(".peer-caret");
    if (!caret) return null;
    const box = caret.getBoundingClientRect();
    const wanted = view.coordsAtPos(place);
    return Math.max(Math.abs(box.left + box.width / 2 - wanted.left), Math.abs(box.top - wanted.top)) <= 3;
}}"""

NAME = """() => {
    const name = document.querySelector("#editor").shadowRoot.querySelector(".peer-name").getBoundingClientRect();
    return [name.left >= 0, name.right <= innerWidth];
}"""


def left_of(page, selector):
    return page.locator(selector).bounding_box()["x"]


def mirrored(page, selector):
    transform = page.locator(selector).evaluate("(svg) => getComputedStyle(svg).transform")
    return transform.startswith("matrix(-1,")


def test_the_page_is_laid_out_from_right_to_left(server, person):
    note = server.request("POST", "/api/notes", {"title": "Budget 2026 (draft)", "folder": "Reports"})["id"]
    mona = person("منى", locale="ar-EG").open(note)
    page = mona.page
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    assert left_of(page, ".sidebar") > left_of(page, "#main")
    assert left_of(page, "#note-menu") < left_of(page, "#title")
    expect(page.locator("#status-text")).to_have_text(ARABIC["status.saved"][0])
    # A menu opens below its button, within the window.
    page.locator("#note-menu").click()
    menu, button = page.get_by_role("menu").bounding_box(), page.locator("#note-menu").bounding_box()
    assert abs(menu["x"] - button["x"]) <= 8 and menu["x"] >= 0
    icon, word = page.get_by_role("menuitem").first.locator("svg").bounding_box(), menu["x"] + menu["width"] / 2
    assert icon["x"] > word
    mona.press("ArrowDown", "Escape")
    expect(page.locator("#note-menu")).to_be_focused()
    # The punctuation of a title in another direction stays within the title.
    expect(page.locator("#title")).to_have_css("direction", "ltr")
    expect(page.locator("#notes .note-title")).to_have_css("direction", "ltr")
    expect(page.locator("#notes .note-title")).to_have_css("text-align", "right")
    expect(page.locator("#folders .folder-name").last).to_have_css("direction", "ltr")
    expect(page.locator("#folders .folder-name").last).to_have_css("text-align", "right")
    page.locator("#notes .note-row").hover()
    more = page.locator("#notes .icon-button")
    expect(more).to_have_attribute("aria-label", ARABIC["list.moreFor"][0].format(title="\u2068Budget 2026 (draft)\u2069"))
    more.click()
    row = page.locator("#notes .note-row").bounding_box()
    assert page.get_by_role("menu").bounding_box()["x"] + 172 <= row["x"] + row["width"] + 8
    mona.press("Escape")
    # Icons that point forwards or backwards are mirrored.
    mona.type("abc")
    mona.wait_until_saved()
    mona.press("Alt+h")
    expect(page.locator("#history-text")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#history-sessions .group")).to_have_count(1)
    for selector in ("#history-close svg", "#history-back svg", "#history-forward svg", "#history-canvas"):
        assert mirrored(page, selector), selector
    assert not mirrored(page, ".version-flag svg, #history-name svg")
    assert left_of(page, "#history-side") < left_of(page, ".history-paper")
    assert left_of(page, "#history-back") > left_of(page, "#history-forward")
    # The left arrow key moves forwards, as on any right-to-left slider.
    slider = page.locator("#history-slider")
    slider.focus()
    head = slider.input_value()
    mona.press("ArrowRight")
    expect(slider).not_to_have_value(head)
    mona.press("ArrowLeft")
    expect(slider).to_have_value(head)
    mona.picture("arabic-history")


def test_texts_in_both_directions(server, person):
    note = server.create("كلمات")
    mona = person("منى", locale="ar").open(note)
    ben = person("Ben (guest)", color="#8a4bab").open(note)
    for index, line in enumerate(LINES):
        if index:
            mona.press("Enter")
        mona.page.keyboard.type(line)
    text = converge(mona, ben)
    assert text == "\n".join(LINES)
    lines = mona.page.locator("#editor .cm-line")
    for index, direction in enumerate(["rtl", "ltr", "rtl", "rtl", "rtl"]):
        expect(lines.nth(index)).to_have_css("direction", direction)
    # On a page in English, lines without letters are left-to-right.
    for index, direction in enumerate(["rtl", "ltr", "ltr", "ltr", "rtl"]):
        expect(ben.page.locator("#editor .cm-line").nth(index)).to_have_css("direction", direction)
    # Another user's caret is at its position in the text, on both pages.
    for one, other in ((ben, mona), (mona, ben)):
        for place in (0, 6, text.index("milk") + 2, text.index("\n"), text.index("Call"), text.index("هاتف") + 2, len(text)):
            one.put_caret(place)
            wait_until(lambda: other.page.evaluate(CARET, place), lambda: f"the caret at {place} stands elsewhere")
        assert other.page.evaluate(NAME) == [True, True]
    mona.picture("arabic-text")
    # Arrow keys move visually: left is forwards in an Arabic line.
    mona.put_caret(0)
    mona.press("ArrowLeft", "ArrowLeft")
    mona.page.keyboard.type("ـ")
    assert converge(mona, ben) == text[:2] + "ـ" + text[2:]
    mona.press("Backspace")
    assert converge(mona, ben) == text
    # Names of others are isolated, and the mark of guests is in the page's language.
    ben.type("x")
    writing = mona.page.locator("#writing")
    expect(writing).to_have_text(re.compile("\u2068\u2068Ben\u2069 \\(ضيف\\)\u2069"))
    ben.press("Backspace")
    # In the page view, too, each block has its own direction.
    mona.page.locator("#read").click()
    expect(mona.page.locator("#rendered p").first).to_have_css("direction", "rtl")
    expect(mona.page.locator("#rendered p").first).to_have_css("text-align", "start")


def test_the_page_is_accessible(server, person):
    note = server.create("خطة الرحلة")
    server.put_text(note, "\n".join([*LINES, "- حليب", "1. خبز", "# عنوان"]))
    mona = person("منى", locale="ar")
    page = mona.page

    def check(picture=None):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert barriers(mona.page) == [], scheme
            if picture:
                mona.picture(f"{picture}-{scheme}")

    page.goto("/")
    expect(page.locator("#notes .note-title")).to_have_count(1)
    check("arabic-home")
    mona.open(note)
    check("arabic")
    page.locator("#language").click()
    expect(page.get_by_role("menuitemradio", name="العربية")).to_be_visible()
    check()
    mona.press("Escape")
    page.locator("#share").click()
    check("arabic-sharing")
    page.locator("#sharing [data-close]").click()
    mona.press("Alt+h")
    expect(page.locator("#history-text")).to_have_attribute("aria-busy", "false")
    check()


def test_on_a_phone(server, person):
    note = server.create("قائمة المشتريات")
    server.create("Shopping list")
    server.put_text(note, "\n".join(LINES))
    mona = person("منى", locale="ar", **PHONE).open(note)
    page = mona.page
    assert mirrored(page, "#back svg")
    assert left_of(page, "#back") > left_of(page, "#title")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    mona.picture("arabic-phone")
    assert barriers(mona.page) == []
    page.locator("#note-menu").click()
    box = page.get_by_role("menu").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    mona.picture("arabic-phone-menu")
    mona.press("Escape")
    page.locator("#back").click()
    expect(page.locator("#notes .note-title")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    mona.picture("arabic-phone-list")
