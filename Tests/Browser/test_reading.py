"""The page view of a note: its content, boxes that are ticked, and hostile texts."""

import pytest
from conftest import PHONE, wait_until
from playwright.sync_api import expect

MOTION = "no-preference"

TEXT = """# Plan *for* May

Read [the site](https://example.org "Title") or <https://example.net>, see www.example.com.
A second line with `code`, **strong**, ~~gone~~ and R&amp;D \\*not\\*.

- [ ] milk
- [x] bread
  1. rye
- eggs

| what | price |
| :--- | ---: |
| tea | **3** |
|  | 4 |

> quoted
> twice

```js
let x = "<b>";
```

[ref]: https://example.org/ref
Go to [there][ref] and [nowhere].
"""


def rendered(person):
    return person.page.locator("#rendered")


def read(person):
    person.page.get_by_role("button", name="Read as a page").click()
    expect(rendered(person)).to_be_visible()


def open_as_page(server, person, title, text):
    """Creates a note, and opens its page view as Ann."""
    note = server.create(title)
    server.put_text(note, text)
    ann = person("Ann").open(note)
    ann.wait_until_saved()
    read(ann)
    return ann, rendered(ann)


def test_a_note_is_read_as_a_page(server, person):
    ann, page = open_as_page(server, person, "Plan", TEXT)
    expect(ann.page.locator("#editor")).to_be_hidden()
    expect(page.locator("h2.level-1")).to_have_text("Plan for May")
    expect(page.locator("h2 em")).to_have_text("for")
    links = page.locator("a[href]")
    assert [link.get_attribute("href") for link in links.all()] == [
        "https://example.org/", "https://example.net/", "https://www.example.com/", "https://example.org/ref",
    ]  # fmt: skip
    assert {link.get_attribute("rel") for link in links.all()} == {"noopener noreferrer nofollow"}
    expect(page.locator("strong").first).to_have_text("strong")
    expect(page.locator("s")).to_have_text("gone")
    expect(page.locator("p").first).to_contain_text("R&D *not*.")
    expect(page.locator("li.task")).to_have_count(2)
    expect(page.locator("li ol li")).to_have_text("rye")
    expect(page.locator("th")).to_have_text(["what", "price"])
    expect(page.locator("td")).to_have_text(["tea", "3", "", "4"])
    expect(page.locator("td").nth(1)).to_have_class("to-right")
    expect(page.locator("blockquote")).to_contain_text("quotedtwice")
    expect(page.locator("pre code")).to_have_text('let x = "<b>";')
    expect(page.locator("pre .token-string")).to_have_text('"<b>"')
    expect(page).to_contain_text("[nowhere]")
    ann.picture("read-as-a-page")
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(page).to_be_hidden()
    expect(ann.editor).to_be_visible()


def test_a_box_is_ticked_for_all_users(server, person):
    note = server.create("Boxes")
    server.put_text(note, "before\n\n- [ ] one\n- [x] two\n")
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    ann.wait_until_saved()
    read(ann)
    read(bo)
    # Text that others wrote before the boxes has moved them.
    server.put_text(note, "longer than before\n\nand more\n\n- [ ] one\n- [x] two\n")
    expect(rendered(ann)).to_contain_text("and more")
    ann.page.get_by_role("checkbox", name="one").check()
    expect(bo.page.get_by_role("checkbox", name="one")).to_be_checked()
    bo.page.get_by_role("checkbox", name="two").uncheck()
    expect(ann.page.get_by_role("checkbox", name="two")).not_to_be_checked()
    text = "longer than before\n\nand more\n\n- [x] one\n- [ ] two\n"
    wait_until(lambda: server.request("GET", f"/api/notes/{note}/text")["text"] == text)


def test_text_and_page_are_side_by_side(server, person):
    note = server.create("Both")
    ann = person("Ann").open(note)
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="Read beside the text").click()
    expect(rendered(ann)).to_be_visible()
    expect(ann.editor).to_be_visible()
    ann.editor.click()
    ann.page.keyboard.type("# Head")
    expect(rendered(ann).locator("h2")).to_have_text("Head")
    # Their first lines are at the same height, measured at the middle of the letters.
    middles = ann.page.evaluate(
        """() => [document.querySelector("#editor").shadowRoot.querySelector(".cm-line"), document.querySelector("#rendered h2")]
            .map((line) => line.getBoundingClientRect())
            .map(({ top, height }) => top + height / 2)"""
    )
    assert abs(middles[0] - middles[1]) < 6, middles
    ann.picture("beside")


HOSTILE = [
    "<script>run()</script>",
    "<img src=x onerror=run()>",
    "<svg onload=run()><script>run()</script></svg>",
    "<svg><animate onbegin=run() attributeName=x dur=1s></svg>",
    "<iframe srcdoc='<script>parent.run()</script>'></iframe>",
    "<math><mtext><table><mglyph><style><img src=x onerror=run()></style></table></mtext></math>",
    "[a](javascript:run())",
    "[a](JaVaScRiPt:run())",
    "[a](java\tscript:run())",
    "[a](&#106;avascript:run())",
    "[a](\\javascript:run())",
    "[a](<javascript:run()>)",
    "[a](vbscript:run())",
    "[a](data:text/html,<script>run()</script>)",
    '[a](https://example.org "\\" onmouseover=run() x=\\"")',
    '![a](x" onerror="run())',
    "![a](javascript:run())",
    "![<img src=x onerror=run()>](x)",
    "<javascript:run()>",
    "[x]: javascript:run()\n\n[x]",
    '[x]: https://a.example "<img src=x onerror=run()>"\n\n[x]',
    "`<img src=x onerror=run()>`",
    "```\"onload=run()\n</code></pre><img src=x onerror=run()>\n```",
    "| <img src=x onerror=run()> |\n| --- |\n| <script>run()</script> |",
    "# <img src=x onerror=run()>",
    "- [ ] <img src=x onerror=run()>",
    "&lt;img src=x onerror=run()&gt;",
    "&#60;script&#62;run()&#60;/script&#62;",
    "<a href='javascript:run()'>x</a>",
    "<style>@import 'javascript:run()';</style>",
    "<form action=javascript:run()><button>x</button></form>",
    "<!--><img src=x onerror=run()>-->",
    "<?x ><img src=x onerror=run()>?>",
    "<![CDATA[<img src=x onerror=run()>]]>",
    "\u202e<img src=x onerror=run()>",
    "<details open ontoggle=run()>",
    "<base href=javascript:/run()//>[a](x)",
    "<x contenteditable onblur=run()>lose focus!",
    "<div id=app><form name=body><input name=append>",
    "# app",
    "[a](#\"><img src=x onerror=run()>)",
    "[^<img src=x onerror=run()>]",
    "x[^a]\n\n[^a]: <img src=x onerror=run()> [b](javascript:run())",
    "```js\nlet a = '<img src=x onerror=run()>'; // </code></pre><script>run()</script>\n```",
    "```\"onmouseover=run()\nx\n```",
    "```constructor\nx\n```",
    "> [!NOTE]\n> <img src=x onerror=run()> [a](javascript:run())",
    "> [!<img src=x onerror=run()>]\n> x",
    "[https://a.example/ <img src=x onerror=run()>](javascript:run())",
    "<!-- --><img src=x onerror=run()>",
    "<!-- <img src=x onerror=run()>",
]


@pytest.fixture
def without_policy(browser, server):
    """A page in a browser that ignores content security policies."""
    context = browser.new_context(base_url=server.url, bypass_csp=True)
    context.add_init_script("window.ran = []; window.run = () => window.ran.push(location.href)")
    yield context.new_page()
    context.close()


def test_nothing_in_a_note_runs_even_without_a_policy(server, without_policy, tmp_path):
    page = without_policy
    # The corpus runs if it is inserted as HTML; otherwise the test would be meaningless.
    page.goto("/")
    page.evaluate("(html) => { const box = document.createElement('div'); document.body.append(box); box.innerHTML = html; }", HOSTILE[1])
    page.wait_for_function("() => window.ran.length > 0")

    note = server.create("<img src=x onerror=run()>")
    server.put_text(note, "\n\n".join(HOSTILE))
    page.goto(f"/n/{note}")
    page.get_by_role("button", name="Read as a page").click()
    shown = page.locator("#rendered")
    expect(shown).to_contain_text("lose focus!")
    tags = set(page.evaluate("() => [...document.querySelectorAll('#rendered *')].map((one) => one.localName)"))
    allowed = (
        "div p br a em strong s code pre h2 ul ol li input span table thead tbody tr th td blockquote hr sub sup"
        # Elements of the page view: the buttons that copy a heading's address, and the footnotes.
        " button svg use section path"
    )
    assert tags <= set(allowed.split()), tags
    attributes = set(
        page.evaluate("() => [...document.querySelectorAll('#rendered *')].flatMap((one) => one.getAttributeNames())")
    )
    assert attributes <= {
        "class", "dir", "href", "target", "rel", "title", "type", "data-at", "data-from", "data-to", "aria-label", "tabindex",
        "start", "disabled", "id", "aria-hidden", "data-heading", "data-note", "data-footnote", "data-language",
        "data-is-coloured", "role", "viewBox", "d",
    }, attributes  # fmt: skip
    schemes = page.evaluate("() => [...document.querySelectorAll('#rendered a[href]')].map((one) => one.protocol)")
    assert set(schemes) <= {"https:", "http:", "mailto:"}, schemes
    for link in shown.locator("a").all():
        link.hover()
        link.dispatch_event("mouseover")
    # The downloaded page, too.
    page.get_by_role("button", name="More for this note").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download HTML").click()
    path = tmp_path / "note.html"
    path.write_bytes(download.value.path().read_bytes())
    assert page.evaluate("() => window.ran") == []
    page.goto(path.as_uri())
    expect(page.locator("article")).to_contain_text("lose focus!")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("() => window.ran") == []


def test_deep_and_large_texts_are_shown(server, person):
    note = server.create("Deep")
    # Thousands of headings, footnotes and code blocks, and deeply nested text.
    many = "".join(f"# h\n\nx[^{n}]\n\n```js\n1\n```\n\n[^{n}]: {n}\n\n" for n in range(2_000))
    deep = ">" * 5_000 + " deep\n\n" + "*" * 5_000 + "x\n\n" + "[" * 5_000 + "\n\n" + "[^" * 5_000 + "\n\n"
    wide = "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n" + ("|" + "b|" * 1_000 + "\n") * 20 + "\n"
    server.put_text(note, deep + many + wide + "the end\n")
    ann = person("Ann").open(note)
    ann.wait_until_saved()
    read(ann)
    expect(rendered(ann)).to_contain_text("the end")
    # Elements that are wider than the page scroll within their own frame.
    wider = """(host) => [...host.querySelectorAll("*")].filter((one) => !one.closest(".table, pre, svg") &&
      one.getBoundingClientRect().right > host.getBoundingClientRect().right).map((one) => one.localName).slice(0, 5)"""
    assert rendered(ann).evaluate(wider) == []
    assert rendered(ann).evaluate("(host) => host.scrollWidth <= host.clientWidth")
    assert rendered(ann).locator(".table").evaluate("(table) => table.scrollWidth > 10 * table.clientWidth")


def test_on_a_phone(server, person):
    note = server.create("Plan")
    server.put_text(note, TEXT)
    ann = person("Ann", **PHONE).open(note)
    ann.wait_until_saved()
    read(ann)
    expect(rendered(ann).locator("h2")).to_be_visible()
    assert ann.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    ann.picture("reading-on-a-phone")


LONG = """# Trip

See [the rent](/n/OTHER#heading=the-rent) and [below](#packing-list), this[^a] and that[^b], this again[^a], and [^c].

## Packing list

- [ ] tent

## Packing list

| what | price |
| --- | ---: |
| tea | 3 |

[^b]: Second.
[^a]: First, *marked*,
    on two lines.

    With a paragraph, and [^b].
[^never]: Named by nobody.
"""


def heading_at_top(person, name):
    """Returns whether a heading is at the top of the page view."""
    heading = person.page.get_by_role("heading", name=name, exact=True).last
    host = rendered(person).bounding_box()
    return abs(heading.bounding_box()["y"] - host["y"]) < 60


def test_headings_have_addresses_and_links_lead_to_them(server, person):
    other, note = server.create("Budget"), server.create("Trip")
    server.put_text(other, "# Budget\n\n" + "line\n\n" * 60 + "## The rent\n\nmuch\n\n" + "line\n\n" * 60)
    server.put_text(note, LONG.replace("OTHER", other) + "\nline\n" * 60)
    ann = person("Ann").open(note)
    ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ann.wait_until_saved()
    read(ann)
    contents = rendered(ann).get_by_role("navigation", name="Contents")
    contents.locator("summary").click()
    expect(contents.get_by_role("link")).to_have_text(["Trip", "Packing list", "Packing list"])
    # Each heading has another address, also headings with the same text.
    rendered(ann).get_by_role("button", name="Copy a link to “Packing list”").last.click()
    copied = ann.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == f"{server.url}/n/{note}#heading=packing-list-1"
    contents.get_by_role("link", name="Packing list").first.click()
    expect(ann.page).to_have_url(f"{server.url}/n/{note}#heading=packing-list")
    wait_until(lambda: heading_at_top(ann, "Packing list") or rendered(ann).evaluate("(host) => host.scrollTop") > 0)
    # Following a link to another note and going back does not reload the page.
    ann.page.evaluate("() => { window.isSame = true; }")
    rendered(ann).evaluate("(host) => host.scrollTo(0, 0)")
    ann.page.get_by_role("link", name="the rent").click()
    expect(ann.page).to_have_url(f"{server.url}/n/{other}#heading=the-rent")
    expect(ann.page.get_by_role("heading", name="The rent")).to_be_visible()
    wait_until(lambda: heading_at_top(ann, "The rent"))
    ann.page.go_back()
    expect(ann.page.get_by_role("heading", name="Trip", level=2)).to_be_attached()
    assert ann.page.evaluate("() => window.isSame")
    # In the editor, such an address scrolls to the heading in the text.
    bo = person("Bo").open(other, "#heading=the-rent")
    expect(bo.page.locator(".cm-line", has_text="The rent")).to_be_in_viewport()
    bo.page.goto(f"/n/{other}#heading=gone-long-ago")
    expect(bo.page.locator("#toast")).to_contain_text("This heading is no longer in the note.")


def test_footnotes_are_at_the_end_in_order(server, person):
    note = server.create("Notes")
    server.put_text(note, LONG)
    ann = person("Ann").open(note)
    ann.wait_until_saved()
    read(ann)
    marks = rendered(ann).locator("a.footnote")
    expect(marks).to_have_text(["1", "2", "1", "2"])
    # A reference without a footnote is text.
    expect(rendered(ann)).to_contain_text("[^c]")
    expect(rendered(ann).locator(".footnotes li")).to_have_count(2)
    expect(rendered(ann).locator(".footnotes li").first).to_contain_text("First, marked")
    expect(rendered(ann).locator(".footnotes li").first).to_contain_text("With a paragraph")
    expect(rendered(ann)).not_to_contain_text("Named by nobody")
    marks.first.click()
    expect(rendered(ann).locator(".footnotes li").first).to_be_focused()
    rendered(ann).get_by_role("link", name="Back to the text").first.click()
    expect(marks.first).to_be_focused()
    assert "#" not in ann.page.url
    # Only the changed footnote is redrawn.
    server.put_text(note, LONG.replace("Second.", "Changed."))
    expect(rendered(ann).locator(".footnotes li").last).to_contain_text("Changed.")


DIALECT = """---
title: "Minutes"
tags: [a, b]
people:
  - Ann
note: <img src=x onerror=alert(1)>
---

# Heading

before

    first
    second

| a | b |
| --- | --- |
| `x\\|y` |
| 1 | 2 | 3 |

&notanentity; &copy; [there] [script](javascript&colon;alert(1))

> [there]: https://example.org/there
"""


def test_front_matter_code_tables_and_entities_follow_markdown(server, person):
    ann, page = open_as_page(server, person, "Dialects", DIALECT)
    front = page.locator(".front-matter")
    expect(front.locator("th")).to_have_text(["title", "tags", "people", "note"])
    expect(front.locator("td")).to_have_text(["Minutes", "a, b", "Ann", "<img src=x onerror=alert(1)>"])
    expect(page.locator("h2, h3, h4")).to_have_text(["Heading"])
    assert page.locator("pre code").text_content() == "first\nsecond\n"
    rows = page.locator(".table:not(.front-matter) tbody tr")
    assert [row.locator("td").all_text_contents() for row in rows.all()] == [["x|y", ""], ["1", "2"]]
    expect(page.locator("p").filter(has_text="notanentity")).to_contain_text("&notanentity; ©")
    expect(page.locator("a[href]")).to_have_attribute("href", "https://example.org/there")
    expect(page.locator("a.is-refused")).to_have_text("script")
    ann.picture("front-matter")
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(ann.editor.locator(".token-heading1").first).to_be_visible()
    expect(ann.editor.locator(".token-heading2")).to_have_count(0)


def test_a_link_for_reading_opens_as_a_page(server, person):
    note = server.create("Minutes")
    server.put_text(note, "# One\n\ntext\n\n# Two\n\n# Three")
    link = server.request("POST", f"/api/notes/{note}/share", {"access": "read"})
    guest = person("Guest")
    guest.page.goto(link["path"])
    page = guest.page.locator("#rendered")
    expect(page.locator("h2")).to_have_text(["One", "Two", "Three"])
    expect(page.locator(".contents")).to_be_visible()
    expect(guest.page.locator("#title")).to_have_value("Minutes")
    for name in ("#sidebar", "#editor", "#crumbs", "#back"):
        expect(guest.page.locator(name)).to_be_hidden()
    # One click shows the text, also after a reload.
    guest.page.locator("#read").click()
    expect(guest.editor).to_be_visible()
    guest.reload()
    expect(guest.editor).to_be_visible()
    expect(page).to_be_hidden()
    # Without the list, the menu has the action for the name.
    guest.page.locator("#note-menu").click()
    guest.page.get_by_role("menuitem", name="Edit name and colour").click()
    expect(guest.page.get_by_role("dialog", name="How others see you")).to_be_visible()
    guest.press("Escape")
    # Links with further rights show the text and the list.
    for access in ("comment", "write"):
        link = server.request("POST", f"/api/notes/{note}/share", {"access": access})
        other = person(access)
        other.page.goto(link["path"])
        other.wait_for_editor()
        expect(other.editor).to_be_visible()
        expect(other.page.locator("#sidebar")).to_be_visible()


def test_a_reload_keeps_the_page_view(server, person):
    note = server.create("Kept")
    server.put_text(note, "# One")
    ann = person("Ann").open(note)
    ann.page.locator("#read").click()
    heading = ann.page.locator("#rendered h2")
    expect(heading).to_have_text("One")
    ann.page.reload()
    expect(heading).to_have_text("One")
    expect(ann.page.locator("#read")).to_have_attribute("aria-pressed", "true")
