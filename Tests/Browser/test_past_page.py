"""Changes of a note in the page view: by words, in blocks of every kind."""

import random
import re
import time

import pytest
from conftest import SECONDS, barriers
from playwright.sync_api import expect
from test_history import Past

OLDER = """---
title: The old plan
---

# Our old plan

We meet at **nine** at the [bridge](https://a.example), and walk.[^1]

- [ ] bring bread
- [x] call Bo
- bring a dog

> Old words stay old.

| Who | What |
| --- | --- |
| Ann | bread |
| Bo | tea |

```js
let hour = 9;
```

So $a^2$ it is.

> [!NOTE]
> The bridge is closed.

This paragraph goes.

[^1]: If it is dry.
"""
NEWER = """---
title: The new plan
---

# Our plan

We meet at **ten** sharp at the [bridge](https://a.example), and walk.[^1]

- [x] bring bread
- [x] call Bo
- bring a map

> Old words stay young.

| Who | What |
| --- | --- |
| Ann | cheese |
| Bo | tea |
| Cy | jam |

```js
let hour = 10;
```

So $a^3$ it is.

> [!NOTE]
> The bridge is open.

An other one comes.

[^1]: If it is warm.
"""
MARKS = """() => [...document.querySelectorAll("#history-page :is(ins, del)")]
    .map((one) => (one.localName === "del" ? "-" : "+") + one.textContent.trim())"""


class PastPage(Past):
    """The history in the page view."""

    def as_page(self):
        self.section.get_by_role("button", name="Read as a page").click()
        return self

    def wait_for_page(self, shown):
        expect(self.section).to_have_attribute("data-shown", shown)
        expect(self.section.locator("#history-page")).to_have_attribute("aria-busy", "false")


def two_moments(server, title="Plan"):
    """Creates a note with two revisions."""
    note = server.create(title)
    server.put_text(note, OLDER)
    server.put_text(note, NEWER)
    return note


def test_changes_are_shown_by_words_on_the_page(server, person):
    note = two_moments(server)
    ann = person("Ann", "#16737f").open(note)
    past = PastPage(ann).open()
    head = past.at()
    past.as_page()
    past.wait_for_page(str(head))
    shown = past.section.locator("#history-page")
    expect(shown.locator("h2")).to_have_text("Our plan")
    assert ann.page.evaluate(MARKS) == []
    ann.picture("past-page")
    past.show_changes()
    # The changes since the older revision, which is chosen in the list with the keyboard.
    since = past.section.get_by_label("Since")
    since.focus()
    ann.press("ArrowDown")
    past.wait_for_page(f"0-{head}")
    past.slider.focus()
    ann.press("ArrowLeft")
    past.wait_for_page(f"0-{head - 1}")
    past.section.get_by_role("button", name="From here").click()
    past.wait_for_page(f"{head - 1}-{head - 1}")
    past.slider.focus()
    ann.press("End")
    past.wait_for_page(f"{head - 1}-{head}")
    assert ann.page.evaluate(MARKS) == [
        "-old", "+new", "-old", "-nine", "+ten sharp", "-", "+", "-dog", "+map", "-old", "+young", "-bread", "+cheese",
        "+Cy", "+jam", "-9", "+10", "-a2a^2", "+a3a^3", "-closed", "+open", "-This paragraph goes.", "+An other one comes.",
        "-dry", "+warm",
    ]  # fmt: skip
    boxes = shown.locator("li").first.locator("input")
    assert [box.is_checked() for box in boxes.all()] == [False, True]
    expect(boxes.first).to_be_disabled()
    # Screen readers read the meaning of the marks, which is not copied with the text.
    expect(shown).to_match_aria_snapshot("- 'heading /Our Deleted: .*old/ [level=2]'")
    assert barriers(ann.page) == []
    ann.picture("past-page-changes")

    # The buttons move between changed parts. In the page view, parts cannot be reverted.
    expect(past.section.locator("#history-change-place")).to_have_text("14 changed parts")
    past.section.get_by_role("button", name="Next changed part").press("Enter")
    expect(shown.locator(".is-looked-at")).to_have_text("titleThe oldnew plan")
    expect(past.section.locator("#history-change-restore")).to_be_hidden()
    # Following a footnote does not change the address.
    shown.locator("a.footnote").click()
    expect(shown.locator("#past-footnote-1")).to_be_focused()
    assert ann.page.url.endswith("#history")

    # The printed page has the marks, too.
    ann.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    ann.page.emulate_media(media="print")
    printed = ann.page.locator("#printed")
    expect(printed.locator("del").first).to_have_css("text-decoration-line", "line-through")
    expect(printed.locator("ins")).to_have_count(shown.locator("ins").count())
    ann.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    ann.page.emulate_media(media="screen")

    # The page view is remembered.
    ann.page.reload()
    past.wait_for_page(str(head))
    expect(shown.locator("h2")).to_have_text("Our plan")
    past.section.get_by_role("button", name="Read as a page").click()
    past.wait_for_text(NEWER)
    expect(shown).to_be_hidden()


def words(chance, count):
    return " ".join("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(count))


def long_text(chance):
    """Returns headings, lists and paragraphs, 900 kB in total."""
    blocks = []
    while sum(map(len, blocks)) < 900_000:
        kind = chance.random()
        if kind < 0.1:
            blocks.append("## " + words(chance, 4))
        elif kind < 0.25:
            blocks.append("\n".join("- " + words(chance, 6) for _ in range(6)))
        else:
            blocks.append(words(chance, chance.randint(20, 120)))
    return blocks


def edited(blocks, chance):
    """Returns the blocks with words and blocks added, replaced and deleted everywhere."""
    new = []
    for block in blocks:
        if chance.random() < 0.08:
            new.append(words(chance, 30))
        if chance.random() < 0.08:
            continue
        parts = block.split(" ")
        for _ in range(3):
            at = chance.randrange(len(parts))
            parts[at] = chance.choice(["new", parts[at] + " added", "two words"])
        new.append(" ".join(parts))
    return new


# In the page: the text of the compared page without insertions or deletions, and the longest time without an answer.
SIDE = """(left_out) => {
    const host = document.querySelector("#history-page").cloneNode(true);
    host.querySelectorAll(`${left_out}, .contents`).forEach((each) => each.remove());
    return [...host.querySelectorAll("p, h3, li:not(:has(p))")].map((each) => each.textContent).join(" ").split(/\\s+/).filter(Boolean);
}"""
LONGEST = """() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ entryTypes: ["longtask"] });
}"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["edited", "replaced"])
def test_a_megabyte_with_both_sides_changed_is_compared_whole(server, person, kind):
    chance = random.Random(3)
    old = long_text(chance)
    new = edited(old, chance) if kind == "edited" else long_text(chance)
    note = server.create("Long")
    for text in (old, new):
        server.put_text(note, "\n\n".join(text))
    ann = person("Ann").open(note)
    past = Past(ann).open()
    past.slider.press("ArrowLeft")
    expect(past.section).to_have_attribute("data-shown", "1")
    ann.page.evaluate(LONGEST)
    for view in ("text", "page"):
        begin = time.monotonic()
        if view == "page":
            ann.page.locator("#history-read").click()
        else:
            past.section.get_by_role("button", name="Show changes").click()
            ann.page.locator("#history-pick").click()
            past.slider.press("ArrowRight")
        place = ann.page.locator("#history-change-place")
        expect(place).to_have_text(re.compile(r"[1-9][\d,]* changed parts$"), timeout=SECONDS * 1_000)
        print(f"{kind}, {view}: {place.text_content()} after {time.monotonic() - begin:.1f} s")
        ann.page.locator("#history-change-forward").click()
        expect(place).to_have_text(re.compile("^1 of"))
    print(f"the page did not answer for {ann.page.evaluate('() => longest'):.0f} ms, at most")
    for left_out, side in (("del, .is-deleted", new), ("ins, .is-inserted", old)):
        plain = [word for word in " ".join(side).split() if word not in ("##", "-")]
        shown = ann.page.evaluate(SIDE, left_out)
        assert len(shown) == len(plain) and shown == plain, (len(shown), len(plain), shown[:20], plain[:20])
