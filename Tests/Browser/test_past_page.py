"""What was changed in a note, as a page: by words, in blocks of every kind."""

from playwright.sync_api import expect
from test_history import Past
from test_palette import violations

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
    """The history, in the page's form."""

    def as_page(self):
        self.section.get_by_role("button", name="Read as a page").click()
        return self

    def wait_for_page(self, shown):
        expect(self.section).to_have_attribute("data-shown", shown)
        expect(self.section.locator("#history-page")).to_have_attribute("aria-busy", "false")


def two_moments(server, title="Plan"):
    """A note with two revisions."""
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
    # Since the older of both moments, chosen in the list by keyboard.
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
    # Screen readers hear what the marks mean, and the words can be copied without that.
    expect(shown).to_match_aria_snapshot("- 'heading /Our Deleted: .*old/ [level=2]'")
    assert violations(ann) == []
    ann.picture("past-page-changes")

    # From part to part; one of a page is not taken back.
    expect(past.section.locator("#history-change-place")).to_have_text("14 changed parts")
    past.section.get_by_role("button", name="Next changed part").press("Enter")
    expect(shown.locator(".is-looked-at")).to_have_text("titleThe oldnew plan")
    expect(past.section.locator("#history-change-restore")).to_be_hidden()
    # A footnote is gone to without another address.
    shown.locator("a.footnote").click()
    expect(shown.locator("#past-footnote-1")).to_be_focused()
    assert ann.page.url.endswith("#history")

    # On paper, with its marks.
    ann.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    ann.page.emulate_media(media="print")
    printed = ann.page.locator("#printed")
    expect(printed.locator("del").first).to_have_css("text-decoration-line", "line-through")
    expect(printed.locator("ins")).to_have_count(shown.locator("ins").count())
    ann.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    ann.page.emulate_media(media="screen")

    # The form is remembered.
    ann.page.reload()
    past.wait_for_page(str(head))
    expect(shown.locator("h2")).to_have_text("Our plan")
    past.section.get_by_role("button", name="Read as a page").click()
    past.wait_for_text(NEWER)
    expect(shown).to_be_hidden()
