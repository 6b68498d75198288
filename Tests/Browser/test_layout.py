"""The layout of the page: long titles, writing directions, contrast, headings and landmarks."""

import re

import pytest
from conftest import PHONE, wait_until
from playwright.sync_api import expect

# In the page: the contrast of each matching element to the colours behind it.
CONTRAST = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
    const channels = (color) => color.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], below) => [r, g, b].map((one, i) => one * a + below[i] * (1 - a));
    const behind = (one) => {
        const below = one.parentElement ? behind(one.parentElement) : [255, 255, 255];
        return over(channels(getComputedStyle(one).backgroundColor), below);
    };
    const light = (color) => {
        const [r, g, b] = color.map((one) => one / 255)
            .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [low, high] = [light(behind(element)), light(channels(getComputedStyle(element).color))]
        .sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
})"""

# In the page: visible elements outside of landmarks, dialogs and live regions, except for the link that skips to the text.
STRAYS = """() => {
    const inside = "main, nav, aside, [role=complementary], [role=main], dialog, [role=status], [role=alert], [aria-live], .skip";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const strays = [];
    for (let node; (node = walker.nextNode()); ) {
        const element = node.parentElement;
        if (node.data.trim() && element.checkVisibility() && !element.closest(inside)) strays.push(node.data);
    }
    return strays;
}"""

LONG = {
    "words": "A plan for the summer, with all that we want to see, and who brings what along",
    "one word": "x" * 200,
    "long": "long " * 400,
    "long word": "y" * 2_000,
    "emoji": "👨‍👩‍👧‍👦🏳️‍🌈" * 40,
    "Hebrew": "רשימת הקניות של כולנו לסוף השבוע הזה ולכל השבועות שיבואו אחריו עד סוף הקיץ",
}


@pytest.fixture
def server_options():
    return ["--title-size-max", "9000"]


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_a_long_title_does_not_widen_the_list(server, person, options):
    for title in LONG.values():
        server.create(title)
    ann = person("Ann", **options)
    ann.page.goto("/")
    rows = ann.page.locator("#notes .note-row")
    expect(rows).to_have_count(len(LONG))
    ann.picture(f"long-titles-{'phone' if options else 'wide'}")
    widths = ann.page.evaluate(
        """() => {
            const list = document.querySelector(".notes");
            const { left, right } = list.getBoundingClientRect();
            return [...list.querySelectorAll(".note-row, .note-row > *")]
                .map((one) => one.getBoundingClientRect())
                .filter((box) => box.left < left || box.right > right || box.height > 90)
                .map(({ width, height }) => [width, height]);
        }"""
    )
    assert widths == []
    assert ann.page.evaluate("document.querySelector('.notes').scrollWidth <= document.querySelector('.notes').clientWidth")
    # A cut title ends with dots, on the side on which it ends.
    cut = ann.page.locator("#notes .note-title").evaluate_all(
        "(all) => all.map((one) => [getComputedStyle(one).textOverflow, one.scrollWidth > one.clientWidth])"
    )
    assert cut == [["ellipsis", True]] * len(LONG)
    hebrew = ann.page.locator("#notes .note-title", has_text=LONG["Hebrew"])
    expect(hebrew).to_have_css("direction", "rtl")
    # It does not widen other parts that show it either.
    ann.page.get_by_role("link", name=LONG["long word"]).click()
    ann.wait_for_status("saved")
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="Delete").click()
    dialog = ann.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_in_viewport()
    ann.picture(f"long-title-dialog-{'phone' if options else 'wide'}")
    assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_deleted_note_offers_no_actions(server, person):
    ann = person("Ann")
    ann.page.goto("/n/there-is-no-such-note")
    expect(ann.page.locator("#gone-title")).to_have_text("This note does not exist.")
    for name in ("Share", "More for this note", "Only you are here", "Read as a page"):
        expect(ann.page.get_by_role("button", name=name)).to_be_hidden()
    expect(ann.page.locator("#status")).to_be_hidden()
    ann.picture("unknown-note")
    note = server.create("Short-lived")
    ann.open(note)
    expect(ann.page.get_by_role("button", name="Share")).to_be_visible()
    server.request("DELETE", f"/api/notes/{note}")
    expect(ann.page.locator("#gone-text")).to_have_text("It was deleted.")
    expect(ann.page.locator("#status")).to_be_hidden()
    expect(ann.page.get_by_role("button", name="Share")).to_be_hidden()
    ann.open(server.create("Another"))
    expect(ann.page.get_by_role("button", name="Share")).to_be_visible()


def test_narrow_screens_show_whether_a_note_is_saved(server, person):
    note = server.create("Autumn walk at the lake")
    widths = {320: "de", 375: "ja", 390: "fr", 430: "ar"}
    for width, language in widths.items():
        options = PHONE | {"viewport": {"width": width, "height": 700}, "locale": language}
        person(f"Somebody at {width}", **options).open(note)
    for width in widths:
        ann = person("Ann", **PHONE | {"viewport": {"width": width, "height": 700}, "locale": "de"})
        ann.open(note)
        # As many faces as fit are shown, and the texts are not cut.
        expect(ann.page.locator("#people-avatars .more")).to_be_attached()
        words = ann.page.locator("#status-text")
        expect(words).to_have_text("Gespeichert")
        assert words.evaluate("(it) => it.scrollWidth <= it.clientWidth")
        status, bar = (ann.page.locator(name).bounding_box() for name in ("#status", ".note-bar"))
        assert bar["x"] <= status["x"] and status["x"] + status["width"] <= bar["x"] + bar["width"]
        tops = {ann.page.locator(name).bounding_box()["y"] for name in ("#read", "#comments", "#share", "#note-menu")}
        assert len(tops) == 1, "the buttons have one row"
        assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        ann.leave()


def test_headings_and_landmarks(server, person):
    note = server.create("Structure")
    ann = person("Ann").open(note)
    heading = ann.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Structure")
    expect(ann.page.get_by_role("region", name="Structure")).to_be_visible()
    ann.page.get_by_role("button", name="More for this note").click()
    menu = ann.page.get_by_role("menu")
    expect(menu).to_be_visible()
    assert menu.evaluate("(menu) => menu.closest('main') !== null")
    assert ann.page.evaluate(STRAYS) == []
    ann.press("Escape")
    ann.page.locator("#notes .note-row").hover()
    ann.page.get_by_role("button", name="More for “Structure”").click()
    assert menu.evaluate("(menu) => menu.closest('.sidebar') !== null")
    ann.picture("menu-in-the-list")
    assert ann.page.evaluate(STRAYS) == []
    ann.press("Escape", "Alt+h")
    expect(ann.page.get_by_role("heading", level=1, name="History")).to_be_visible()
    expect(ann.page.locator("#note")).to_have_js_property("inert", True)
    assert ann.page.evaluate(STRAYS) == []


def test_times_in_the_history_are_readable(server, person):
    ann = person("Ann").open(server.create("Contrast"))
    ann.type("written")
    ann.wait_until_saved()
    ann.press("Alt+h")
    current = ann.page.locator("#history-sessions .group[aria-current]")
    expect(current).to_be_visible()
    for step in (lambda: None, ann.page.locator("#history-sessions .group").hover):
        step()
        for scheme in ("light", "dark"):
            ann.page.emulate_media(color_scheme=scheme)
            assert min(ann.page.evaluate(CONTRAST, ".group-time")) >= 4.5, scheme


def test_each_line_has_its_own_direction(server, person):
    ann = person("Ann").open(server.create("Directions"))
    bo = person("נועה", "#b0452a").open(re.search("/n/(.+)", ann.page.url).group(1))
    ann.editor.focus()
    ann.page.keyboard.insert_text("Milk and bread\nשלום לכולם!\n- مرحبا بالعالم\n\nEnd")
    ann.wait_until_saved()
    lines = ann.page.locator("#editor .cm-line")
    for index, direction in enumerate(["ltr", "rtl", "rtl", "ltr", "ltr"]):
        expect(lines.nth(index)).to_have_css("direction", direction)
    # At the beginning of a Hebrew line, the caret is on the right.
    content = ann.editor.bounding_box()
    ann.put_caret(15)
    # The caret is drawn in the next frame.
    own = ann.page.locator("#editor .cm-cursor-primary")
    expect(own).to_be_visible()
    wait_until(lambda: own.bounding_box()["x"] > content["x"] + content["width"] / 2)
    # The caret blinks without an animation, which would make the browser draw at every refresh of the screen.
    ann.page.emulate_media(reduced_motion="no-preference")
    for opacity in ("0", "1"):
        expect(ann.page.locator("#editor .cm-cursorLayer")).to_have_css("opacity", opacity)
    animated = "() => document.querySelector('#editor').shadowRoot.getAnimations().map(({ animationName }) => animationName)"
    assert not any(ann.page.evaluate(animated))
    ann.page.emulate_media(reduced_motion="reduce")
    # The caret of another user is there, too, with the name beside it.
    caret = bo.page.locator("#editor .peer-caret")
    wait_until(lambda: caret.bounding_box()["x"] > content["x"] + content["width"] / 2)
    bo.put_caret(20)
    expect(ann.page.locator("#editor .peer-name")).to_have_css("direction", "rtl")
    ann.press("ArrowLeft")
    ann.page.keyboard.type("ו")
    ann.wait_until_saved()
    assert ann.text().split("\n")[1] == "שולום לכולם!"
    ann.picture("directions")
    # The same applies to the history and to early text.
    ann.press("Alt+h")
    expect(ann.page.locator("#history-text .cm-line").nth(1)).to_have_css("direction", "rtl")
    ann.picture("directions-history")
