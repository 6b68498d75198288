"""Formatted notes: writing, formatting by several people, paste, Markdown both ways, comments, and without a line."""

import json
import re

import pytest
from conftest import PHONE, barriers, token, wait_until
from playwright.sync_api import expect
from touching import small_targets

# In the page: the lines of the editor's document, each with its kind, and its text, in which marks are in brackets.
LINES = """() => {
    const doc = document.querySelector("#editor")?.shadowRoot?.querySelector(".content")?.pmViewDesc?.node;
    if (!doc) return null;
    const lines = [];
    doc.forEach((line) => {
        let text = "";
        line.forEach((node) => {
            const marks = node.marks.map(({ type, attrs }) => type.name + (attrs.value === true ? "" : `=${attrs.value}`));
            const own = node.isText ? node.text : node.type.name === "embed" ? JSON.stringify(node.attrs.embed) : "";
            text += marks.length > 0 ? `[${marks}:${own}]` : own;
        });
        const { block = "", indent } = line.attrs.set;
        lines.push(`${block}${indent ?? ""}|${text}`);
    });
    return lines;
}"""


def rich(server, title="Plan"):
    """Makes a formatted note; its id."""
    return server.request("POST", "/api/notes", {"title": title, "kind": "rich"})["id"]


class Writer:
    """A person with a formatted note open."""

    def __init__(self, person, note):
        self.person = person
        self.page = person.page
        self.keys = person.page.keyboard
        self.page.goto(f"/n/{note}")
        self.wait()

    def wait(self):
        self.person.wait_for_status("saved")
        self.content.wait_for(state="attached")
        return self

    @property
    def content(self):
        return self.page.locator("#editor .content")

    def lines(self):
        return self.page.evaluate(LINES)

    def type(self, *texts):
        """Types texts, with Enter between them."""
        self.content.focus()
        for index, text in enumerate(texts):
            if index:
                self.keys.press("Enter")
            self.keys.type(text)
        return self

    def press(self, *keys):
        for key in keys:
            self.keys.press(key)
            self.person.wait_for_frames()
        return self

    def paste(self, html="", text="", shift=False):
        """Dispatches the paste event that the browser fires for content of another program."""
        self.content.focus()
        if shift:
            self.content.dispatch_event("keydown", {"key": "V", "shiftKey": True, "ctrlKey": True})
        self.content.evaluate(
            """(element, [html, text]) => {
                const clipboardData = new DataTransfer();
                if (html) clipboardData.setData("text/html", html);
                clipboardData.setData("text/plain", text);
                element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
            }""",
            [html, text],
        )
        return self

    def expect(self, *lines):
        wait_until(lambda: self.lines() == list(lines), lambda: f"{self.person.name} has {self.lines()}")
        return self


def agree(*writers):
    """Waits until all have the same document; its lines."""
    for one in writers:
        one.person.wait_until_saved()
    wait_until(lambda: len({json.dumps(one.lines()) for one in writers}) == 1, lambda: " | ".join(map(str, [one.lines() for one in writers])))
    return writers[0].lines()


def test_two_people_write_and_format(server, person):
    note = rich(server)
    ann = Writer(person("Ann"), note)
    ann.type("# Plan", "Some **bold** words", "- one", "two", "")
    ann.press("Enter")
    ann.type("[] tea")
    bo = Writer(person("Bo"), note)
    expected = ["h1|Plan", "|Some [bold:bold] words", "bullet|one", "bullet|two", "task|tea", "|"]
    assert agree(ann, bo) == expected
    # Bo ticks; a plain client writes into the middle of the bold word, and its text is bold.
    bo.page.locator("#editor .tick").click()
    ann.expect(*expected[:4], "done|tea", "|")
    revision = server.request("GET", f"/api/notes/{note}")["revision"]
    length = len("Plan\nSome bold words\none\ntwo\ntea\n")
    server.request("POST", f"/api/notes/{note}/changes", {"revision": revision, "operation": [12, "XX", length - 12]})
    ann.expect("h1|Plan", "|Some [bold:boXXld] words", *expected[2:4], "done|tea", "|")
    # Undo takes back one's own alone.
    ann.press("Control+z")
    assert agree(ann, bo)[:2] == ["h1|Plan", "|Some [bold:boXXld] words"]
    assert bo.lines()[4] in ("|[] tea", "done|", "|")
    # The editor of Markdown notes is not fetched, not even at a first visit.
    names = bo.page.evaluate("() => performance.getEntriesByType('resource').map(({ name }) => name)")
    assert any("prosemirror" in name for name in names)
    assert not any("codemirror" in name for name in names)
    # The history shows the formatting of a moment.
    bo.page.goto(f"/n/{note}#history")
    expect(bo.page.locator("#history-page h2")).to_have_text("Plan")
    expect(bo.page.locator("#history-page strong").first).to_contain_text("bo")


def test_paste_keeps_formatting_and_never_runs_scripts(server, person):
    note = rich(server)
    # Without the page's policy, any script that got through would run.
    ann = Writer(person("Ann", bypass_csp=True), note)
    ann.paste("<h2>Head</h2><p>a <b>bold</b> word</p><ul><li>one<ul><li>two</li></ul></li></ul>", "x")
    ann.expect("h2|Head", "|a [bold:bold] word", "bullet|one", "bullet1|two", "|")
    ann.press("Control+z").expect("|")
    attacks = [
        "<img src=x onerror=\"document.title='run'\">a", "<svg onload=\"document.title='run'\"><p>b</p></svg>",
        "<script>document.title='run'</script><p>c</p>", "<iframe srcdoc=\"<script>top.document.title='run'</script>\"></iframe>d",
        "<p style=\"background:url(javascript:document.title='run')\">e</p>", "<a href=\"javascript:document.title='run'\">f</a>",
        "<a href=\" jAvA\tscript:document.title='run'\">g</a>", "<a href=\"&#106;avascript:document.title='run'\">h</a>",
        "<a href=\"data:text/html,<script>opener.document.title='run'</script>\">i</a>", "<math><mtext><img src=x onerror=\"document.title='run'\">j",
        "<details open ontoggle=\"document.title='run'\">k</details>", "<b autofocus onfocus=\"document.title='run'\" tabindex=0>l</b>",
    ]  # fmt: skip
    for attack in attacks:
        before = len("".join(ann.lines()))
        ann.paste(attack, "plain")
        wait_until(lambda before=before: len("".join(ann.lines())) > before, ann.lines)
    assert "link" not in "".join(ann.lines())
    # Attributes that another client sends: addresses are checked where they are drawn.
    ann.person.wait_until_saved()
    answer = server.request("GET", f"/api/notes/{note}")
    sets = [{"link": "javascript:document.title='run'"}, {"color": "red;background:url(x)"}, {"mention": "<img onerror=1>"},
            {"link": "java\nscript:document.title='run'"}, {"block": "h9"}]  # fmt: skip
    length = sum(len(line.split("|", 1)[1]) + 1 for line in ann.lines()) - 1
    plain = re.sub(r"\[[a-z=,]*:([^\]]*)\]", r"\1", "".join(line.split("|", 1)[1] + "\n" for line in ann.lines()))
    assert len(plain) <= length + 1
    change = {"operation": ["evil\n", len(plain) - 1], "format": {"sets": sets, "put": [1, 1, 1, 2, 1, 3, 1, 4, 1, 5]}}
    server.request("POST", f"/api/notes/{note}/changes", {"revision": answer["revision"], **change})
    wait_until(lambda: "evil" in re.sub(r"\[[^:]*:|[\]]", "", ann.lines()[0].replace("document.title='run'", "")) or "link" in ann.lines()[0])
    assert ann.page.locator("#editor a").count() == 0
    ann.page.locator("#editor .is-refused").first.click(modifiers=["Control"])
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(ann.page.locator("#rendered p").first).to_be_visible()
    assert ann.page.locator("#rendered a").count() == 0
    assert ann.page.title() != "run" and "run" not in ann.page.title()


def test_markdown_becomes_formatted_and_markdown_again(server, person):
    note = server.create("Shopping")
    server.put_text(note, "# Shopping\n\n- [ ] **milk**\n- [x] bread\n\nSee [there](https://example.org/).\n")
    person_ann = person("Ann").open(note)
    page = person_ann.page
    page.locator("#note-menu").click()
    page.get_by_role("menuitem", name="Turn into a formatted note").click()
    page.get_by_role("button", name="Turn into a formatted note").click()
    page.locator("#editor .content").wait_for(state="attached")
    expected = ["h1|Shopping", "task|[bold:milk]", "done|bread", "|See [link=https://example.org/:there].", "|"]
    wait_until(lambda: page.evaluate(LINES) == expected, lambda: page.evaluate(LINES))
    person_ann.wait_until_saved()
    assert server.request("GET", f"/api/notes/{note}")["kind"] == "rich"
    page.locator("#note-menu").click()
    page.get_by_role("menuitem", name="Write its text as Markdown").click()
    page.locator("#editor .cm-content").wait_for(state="attached")
    markdown = "# Shopping\n\n- [ ] **milk**\n- [x] bread\n\nSee [there](https://example.org/).\n"
    person_ann.wait_for_text(markdown)
    person_ann.wait_until_saved()
    page.locator("#note-menu").click()
    page.get_by_role("menuitem", name="Format its Markdown").click()
    wait_until(lambda: page.evaluate(LINES) == expected, lambda: page.evaluate(LINES))


def test_a_new_note_of_each_kind(server, person):
    ann = person("Ann")
    ann.page.goto("/")
    ann.page.locator("#create").click()
    expect(ann.page.locator("#kind-choice")).to_be_visible()
    ann.page.get_by_role("radio", name="Formatted").check(force=True)
    ann.page.locator("#editor .content").wait_for(state="attached")
    expect(ann.page.locator("#kind-choice")).to_be_visible()
    ann.page.locator("#editor .content").focus()
    ann.page.keyboard.type("# Begun")
    expect(ann.page.locator("#kind-choice")).to_be_hidden()
    wait_until(lambda: ann.page.evaluate(LINES) == ["h1|Begun", "|"])
    # The heading is the title of an untitled note.
    expect(ann.page.locator("#title")).to_have_value("Begun")
    # The next one is of the same kind at once; Markdown is offered.
    ann.page.locator("#create").click()
    ann.page.locator("#editor .content").wait_for(state="attached")
    ann.page.get_by_role("radio", name="Markdown").check(force=True)
    ann.page.locator("#editor .cm-content").wait_for(state="attached")


def test_without_a_line_and_over_a_reload(server, person):
    note = rich(server)
    ann = Writer(person("Ann", worker=True), note)
    ann.type("# Plan", "words")
    ann.person.wait_until_saved()
    wait_until(lambda: ann.page.evaluate("() => navigator.serviceWorker?.controller != null"))
    ann.page.reload()
    ann.wait()
    wait_until(lambda: ann.page.evaluate("""async () => (await Promise.all((await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).some(({ url }) => url.includes("prosemirror"))))).some(Boolean)"""))
    server.kill()
    ann.person.wait_for_status("offline")
    ann.content.focus()
    ann.press("Control+End")
    ann.keys.type("- offline **bold**")
    expected = ["h1|Plan", "|words", "bullet|offline [bold:bold]", "|"]
    ann.expect(*expected)
    ann.page.reload()
    ann.content.wait_for(state="attached")
    ann.expect(*expected)
    server.start()
    bo = Writer(person("Bo"), note)
    assert agree(ann, bo) == expected


def test_comments_follow_formatted_text(server, person):
    note = rich(server)
    ann = Writer(person("Ann"), note)
    ann.type("# Plan", "the important words")
    ann.person.wait_until_saved()
    revision = server.request("GET", f"/api/notes/{note}/comments")["revision"]
    server.request("POST", f"/api/notes/{note}/comments", {"text": "Why?", "anchor": {"revision": revision, "from": 9, "to": 18}})
    mark = ann.page.locator("#editor .comment-mark")
    expect(mark).to_have_text("important")
    ann.press("Control+Home")
    ann.keys.type("A ")
    ann.expect("h1|A Plan", "|the important words", "|")
    expect(mark).to_have_text("important")
    mark.click()
    expect(ann.page.locator("#comments-list li")).to_contain_text("Why?")


def test_a_composed_word_is_not_disturbed(server, person):
    note = rich(server)
    ann, bo = Writer(person("Ann"), note), Writer(person("Bo"), note)
    ann.type("one", "two")
    agree(ann, bo)
    session = ann.page.context.new_cdp_session(ann.page)
    ann.content.focus()
    session.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    bo.content.focus()
    bo.press("Control+End")
    bo.keys.type("BO")
    bo.press("Control+Home")
    bo.keys.type("# ")
    bo.person.wait_until_saved()
    # The other line is shown at once, the composed one when the word is complete.
    ann.expect("h1|one", "|twoに")
    session.send("Input.insertText", {"text": "日本"})
    lines = agree(ann, bo)
    assert lines[0] == "h1|one" and "日本" in lines[1] and "BO" in lines[1]


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_nothing_keeps_people_out(server, person, options):
    note = rich(server)
    ann = Writer(person("Ann", **options), note)
    ann.type("# Plan", "- one", "- two", "")
    ann.press("Enter")
    ann.type("[] box", "", "")
    ann.keys.type("> quote")
    ann.press("Enter", "Enter")
    ann.keys.type("```")
    ann.press("Enter")
    ann.keys.type("code")
    ann.person.wait_until_saved()
    expect(ann.page.locator("#editor .is-task .item")).to_have_attribute("aria-posinset", "3")
    assert barriers(ann.page) == []
    if options:
        assert small_targets(ann.page) == []


def test_text_is_found_and_replaced(server, person):
    note = rich(server)
    ann = Writer(person("Ann"), note)
    ann.type("# A tea plan", "Tea and **tea** and teapots", "the end")
    ann.expect("h1|A tea plan", "|Tea and [bold:tea] and teapots", "|the end", "|")
    bo = Writer(person("Bo"), note)
    ann.press("Control+Home", "Control+f")
    card = ann.page.locator("#editor .find-card")
    words, by = card.get_by_role("textbox", name="Find"), card.get_by_role("textbox", name="Replace")
    expect(words).to_be_focused()
    ann.keys.type("tea")
    count = card.get_by_role("status")
    expect(count).to_have_text("4")
    expect(ann.page.locator("#editor .found")).to_have_count(4)
    ann.press("Enter")
    expect(count).to_have_text("1 / 4")
    # Others' changes are searched too, and the place that is selected stays.
    bo.content.focus()
    bo.press("Control+Home")
    bo.keys.type("tea ")
    ann.expect("h1|tea A tea plan", "|Tea and [bold:tea] and teapots", "|the end", "|")
    expect(count).to_have_text("2 / 5")
    # So does one directly behind which they write.
    bo.press("Control+Home", *["ArrowRight"] * len("tea A tea"))
    bo.keys.type("s")
    ann.expect("h1|tea A teas plan", "|Tea and [bold:tea] and teapots", "|the end", "|")
    expect(count).to_have_text("2 / 5")
    bo.press("Backspace")
    ann.expect("h1|tea A tea plan", "|Tea and [bold:tea] and teapots", "|the end", "|")
    ann.press("Shift+Enter")
    expect(count).to_have_text("1 / 5")
    card.get_by_label("Whole words").check()
    card.get_by_label("Match case").check()
    expect(count).to_have_text("1 / 3")
    ann.person.wait_until_saved()
    assert barriers(ann.page) == []
    by.fill("coffee")
    card.get_by_role("button", name="Replace", exact=True).click()
    ann.expect("h1|coffee A tea plan", "|Tea and [bold:tea] and teapots", "|the end", "|")
    card.get_by_role("button", name="Replace all").click()
    expected = ["h1|coffee A coffee plan", "|Tea and [bold:coffee] and teapots", "|the end", "|"]
    assert agree(ann, bo) == expected
    # One step of the history takes back all that were replaced at once.
    by.press("Escape")
    expect(card).to_have_count(0)
    expect(ann.page.locator("#editor .found")).to_have_count(0)
    expect(ann.content).to_be_focused()
    ann.press("Control+z").expect("h1|coffee A tea plan", "|Tea and [bold:tea] and teapots", "|the end", "|")


def test_the_find_card_is_low_on_a_phone(server, person):
    note = rich(server)
    ann = Writer(person("Ann", **PHONE), note)
    ann.type("Tea and tea", *[f"tea {number}" for number in range(20)])
    ann.press("Control+f")
    card = ann.page.locator("#editor .find-card")
    card.get_by_role("textbox", name="Find").fill("tea")
    ann.press("Enter")
    expect(card.get_by_role("status")).to_have_text(re.compile(r"^\d+ / 22$"))
    # The keyboard leaves about this much.
    ann.page.set_viewport_size({"width": 390, "height": 420})
    box = {name: card.get_by_role("button", name=name, exact=True).bounding_box() for name in ("Previous", "Next", "Replace", "Replace all")}
    assert box["Previous"]["y"] == box["Next"]["y"] and box["Replace"]["y"] == box["Replace all"]["y"]
    assert card.bounding_box()["height"] <= 240
    assert barriers(ann.page) == [] and small_targets(ann.page) == []


def test_typed_signs_make_italic(server, person):
    ann = Writer(person("Ann"), rich(server))
    ann.type("an *italic* and _another_, **bold**, snake_case_name, 2 * 3 * 4, __init__", "")
    ann.expect("|an [italic:italic] and [italic:another], [bold:bold], snake_case_name, 2 * 3 * 4, __init__", "|")


def test_a_chosen_format_waits_for_the_next_letter_while_others_write(server, person):
    note = rich(server)
    ann, bo = Writer(person("Ann"), note), Writer(person("Bo"), note)
    ann.type("one", "two ")
    agree(ann, bo)
    ann.press("Control+b", "Control+i")
    bo.content.focus()
    bo.press("Control+Home")
    bo.keys.type("# zero ")
    bo.person.wait_until_saved()
    ann.expect("h1|zero one", "|two ")
    ann.keys.type("three")
    assert agree(ann, bo) == ["h1|zero one", "|two [bold,italic:three]"]


def test_two_words_that_are_typed_at_one_place_stay_whole(server, person):
    note = rich(server)
    ann, bo = Writer(person("Ann"), note), Writer(person("Bo"), note)
    ann.type("x ")
    agree(ann, bo)
    bo.content.focus()
    bo.press("Control+End")
    ann.content.focus()
    for letters in zip("tea", "cup"):
        for one, letter in zip((ann, bo), letters):
            one.keys.type(letter)
            agree(ann, bo)
    assert agree(ann, bo) == ["|x cuptea"]
    # A selection does not take in what others write beside it.
    ann.press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft")
    bo.keys.type("s")
    agree(ann, bo)
    ann.press("Control+b")
    assert agree(ann, bo) == ["|x cups[bold:tea]"]


def test_a_restored_part_has_its_formatting(server, person):
    note = rich(server)
    ann = Writer(person("Ann"), note)
    ann.type("the first", "Some **bold** words", "the end")
    ann.person.wait_until_saved()
    revision = server.request("GET", f"/api/notes/{note}")["revision"]
    server.request("POST", f"/api/notes/{note}/versions", {"revision": revision, "name": "Draft", "author": "Bo"})
    # After each key the editor reads the selection.
    ann.press("Control+Home", "ArrowDown", "Control+Shift+End", "Delete").expect("|the first", "|")
    ann.person.wait_until_saved()
    ann.page.goto(f"/n/{note}#history")
    section = ann.page.locator("#history")
    section.get_by_role("button", name="Show changes").click()
    section.get_by_label("Since").select_option("Draft")
    section.get_by_role("button", name="Next changed part").click()
    section.locator("#history-change-restore").click()
    wait_until(lambda: "bold" in server.request("GET", f"/api/notes/{note}/text")["text"])
    ann.press("Escape")
    ann.wait().expect("|the first", "|Some [bold:bold] words", "|the end")


def test_a_mention_names_a_person_by_id(guarded, person):
    note = guarded.request("POST", "/api/notes", {"title": "Plan", "kind": "rich"})["id"]
    ada = Writer(person("Ada"), f"{note}#token={guarded.token}")
    ben = Writer(person("Ben"), f"{note}#token={token(sub='ben', name='Ben')}")
    ada.content.focus()
    ada.keys.type("ask @Be")
    choices = ada.page.locator("#editor .choices li")
    expect(choices).to_have_text(["Ben"])
    ada.press("Enter")
    ada.keys.type("now")
    ada.person.wait_until_saved()
    assert guarded.request("GET", f"/api/notes/{note}/text")["text"] == "ask @Ben now"
    [_, mention, _] = guarded.request("GET", f"/api/notes/{note}/text?format=delta")
    assert mention["insert"] == "@Ben"
    # The id is that of this note alone, and no name of an account.
    person_id = mention["attributes"]["mention"]
    assert len(person_id) == 20 and person_id not in ("ben", "Ben")
    ben.expect(f"|ask [mention={person_id}:@Ben] now")
    shown = ada.page.locator("#editor .mention:visible")
    expect(shown.first).to_have_text("@Ben")
    # The person has another name by now: the page shows it, the text stays.
    ben.page.goto("about:blank")
    ben.page.goto(f"/n/{note}#token={token(sub='ben', name='Benjamin')}")
    expect(ada.page.locator("#editor .mention .ProseMirror-widget")).to_have_text("@Benjamin")
    expect(ada.page.locator("#editor .is-renamed")).to_have_css("font-size", "0px")
    assert ada.lines() == [f"|ask [mention={person_id}:@Ben] now"]
    # Backspace deletes it as a whole.
    ada.press("Control+Home", *["ArrowRight"] * len("ask @Ben"), "Backspace")
    ada.expect("|ask  now")
    ada.press("Control+z").expect(f"|ask [mention={person_id}:@Ben] now")
    assert barriers(ada.page) == []
