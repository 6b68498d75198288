"""Composing words (input methods, dead keys, Android keyboards) while other people edit around them.

PARLEY_COMPOSING=2000 runs 2,000 cases in the page's editor, and a fifth of that in each editor of the SDK and with two people.
"""

import os

import pytest
from composing import Composer, Keyboard, run_cases, run_pair
from conftest import wait_until
from playwright.sync_api import expect
from test_sdk import AREA, CODEMIRROR, MONACO, PLAIN, open_page  # noqa: F401

CASES = int(os.environ.get("PARLEY_COMPOSING", 100))
SDK = {"CodeMirror": CODEMIRROR, "Monaco": MONACO, "text area": AREA, "plain text": PLAIN}
# The test lets a minute pass.
CLOCK = """const later = window.setTimeout;
window.minutes = [];
window.setTimeout = (call, delay, ...more) => delay === 60_000 ? -minutes.push(call) : later(call, delay, ...more);"""


@pytest.fixture
def ann(person):
    one = person("Ann")
    one.context.add_init_script(CLOCK)
    yield one
    # Chromium styles a composed word that replaces a selection, which the page's policy forbids.
    one.problems = [problem for problem in one.problems if "Applying inline style" not in problem]


def check_minute(composer):
    """A composition that delays its line for a minute is committed unchanged, and the line is redrawn."""
    composer.begin("abc\n¶\n", 3, 3)
    composer.keyboard.compose("に")
    composer.until()
    mark, shown = composer.foreign("abcに\n¶\n", [(2, 0, "X")])
    assert shown.startswith("abcに\n")
    composer.page.evaluate("() => minutes.splice(0).forEach((call) => call())")
    composer.until(text=f"abXcに\n¶\n{mark}")
    # The caret has not moved, and the next word is composed there.
    composer.keyboard.compose("ほ")
    composer.until()
    more, shown = composer.foreign(f"abXcにほ\n¶\n{mark}", [(0, 0, "Y")])
    assert shown.startswith("abXcにほ\n")
    composer.keyboard.commit("本")
    composer.until(text=f"YabXcに本\n¶\n{mark}{more}")


def test_a_composed_word_is_intact_after_edits_around_it(server, ann):
    note = server.create("Composing")
    ann.open(note)
    composer = Composer(server, note, "page", ann.page)
    check_minute(composer)
    assert run_cases(composer, range(CASES)) == []


def test_two_people_compose_at_once(server, ann, person):
    note = server.create("Composing")
    pair = [Composer(server, note, "page", one.open(note).page) for one in (ann, person("Ben"))]
    broken = [(seed, problem) for seed in range(CASES // 5) if (problem := run_pair(*pair, seed))]
    print(f"composition by two people: {CASES // 5} cases, {len(broken)} broken")
    assert broken == []


def test_a_composed_word_is_intact_in_editors_of_apps(gateway, open_page, browser):  # noqa: F811
    context = browser.new_context()
    context.add_init_script(CLOCK)
    broken = {}
    for kind, page in SDK.items():
        note = gateway.create("Composing")
        tab = open_page(page, note, context=context)
        tab.wait_for_function("() => document.title === 'ready'")
        composer = Composer(gateway, note, kind, tab)
        check_minute(composer)
        broken[kind] = run_cases(composer, range(CASES // 5))
        tab.close()
    context.close()
    assert broken == dict.fromkeys(SDK, [])


def test_edits_of_others_do_not_disturb_a_composition_in_other_fields(server, ann):
    note = server.create("Plan")
    server.insert_text(note, "one two three")
    comments = f"/api/notes/{note}/comments"
    first, last = (
        server.request("POST", comments, {"text": "Why?", "anchor": {"revision": 1, "from": start, "to": end}})
        for start, end in ((0, 3), (8, 13))
    )
    page = ann.open(note).page
    keyboard = Keyboard(page)
    page.evaluate("() => { window.ends = 0; document.addEventListener('compositionend', () => (ends += 1), true); }")

    def check(field, disturb):
        """Composes in a field while others act. Returns the field's text."""
        field.fill("")
        ends = page.evaluate("() => ends")
        for step in ("に", "にほ"):
            keyboard.compose(step)
            disturb()
            expect(field).to_have_value(step)
            expect(field).to_be_focused()
        assert page.evaluate("() => ends") == ends
        keyboard.commit("日本")
        expect(field).to_have_value("日本")
        field.fill("")

    texts = []

    def edit():
        texts.append(f"{len(texts)} one two three")
        server.put_text(note, texts[-1])
        ann.wait_for_text(texts[-1])

    def rename():
        edit()
        title = f"Title {len(texts)}"
        server.request("PATCH", f"/api/notes/{note}", {"title": title})
        other = server.create(f"Other {len(texts)}")
        expect(page.locator(f'#notes [data-key="link {other}"]')).to_have_count(1)

    check(page.locator("#title"), rename)
    page.locator("#search").click()
    check(page.locator("#palette-field"), rename)
    ann.press("Escape")
    page.locator("#comments").click()
    threads = page.locator("#comments-list .thread")
    expect(threads).to_have_count(2)
    answers = threads.locator(".comment-text")
    answered = [2]

    def answer():
        edit()
        for thread in (first, last):
            server.request("POST", comments, {"text": "Because.", "thread": thread["id"]})
            answered[0] += 1
        expect(answers).to_have_count(answered[0])

    def order():
        return page.evaluate("() => [...document.querySelectorAll('#comments-list .thread')].map((each) => each.dataset.id)")

    threads.nth(1).get_by_role("button", name="Answer").click()
    check(threads.nth(1).get_by_role("textbox", name="Answer"), answer)

    def delete_words():
        # A thread without a place comes after the others.
        server.put_text(note, "two three")
        server.request("POST", comments, {"text": "Gone.", "thread": first["id"]})
        wait_until(lambda: order() == [last["id"], first["id"]], order)

    field = page.locator(f'.thread[data-id="{last["id"]}"]').get_by_role("textbox", name="Answer")
    check(field, delete_words)

    # A new comment, while others edit and delete its text, and other comments appear beside it.
    ann.put_caret(0, 3)
    page.locator("#comment-here").click()
    count = threads.count()

    def comment():
        edit()
        anchor = {"revision": server.request("GET", f"/api/notes/{note}/text")["revision"], "from": 0, "to": 3}
        server.request("POST", comments, {"text": "So it is.", "anchor": anchor})
        expect(threads).to_have_count(count + len(texts) - former)

    former = len(texts)
    field = page.locator("#comment-new textarea")
    check(field, comment)
    check(field, lambda: server.put_text(note, "\n"))
