"""The page in all its languages: no text is in English or cut off, and a chosen language is kept."""

import json
import re

import pytest
from conftest import ROOT, wait_until
from playwright.sync_api import expect
from test_offline import wait_until_kept

LANGUAGES = ROOT / "Web" / "js" / "languages"
LINE = re.compile(r'^  ("[^"]+"): (.*),$', re.M)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

# In the page: all texts of the page, the editor and dialogs, including those for screen readers.
READ = """() => {
    const found = new Set([document.title]);
    const visit = (root) => {
        for (const element of root.querySelectorAll("*")) {
            if (!element.checkVisibility()) continue;
            for (const node of element.childNodes) if (node.nodeType === 3 && node.data.trim()) found.add(node.data.trim());
            for (const name of ["aria-label", "title", "placeholder", "aria-valuetext", "aria-placeholder"]) {
                const value = element.getAttribute(name);
                if (value) found.add(value);
            }
            if (element.shadowRoot) visit(element.shadowRoot);
        }
    };
    visit(document.body);
    return [...found];
}"""

# In the page: elements whose text does not fit, or that exceed the window, except for elements that scroll or end in dots.
CUT_OFF = """() => {
    const boxes = "button, label, h1, h2, h3, dialog, .button, .dialog-buttons, .menu, .note-bar, .history-bar, .sidebar, .brand";
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(".visually-hidden, .skip, svg")) continue;
        const { left, right, width, height } = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        if (width <= 1 || height <= 1 || style.opacity === "0") continue;
        // On a phone, what says more than an icon is cut down to nothing.
        if (style.clipPath !== "none" || element.parentElement.closest("[aria-hidden=true]")) continue;
        const isTooWide = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
        if (isTooWide && element.matches(boxes) && style.textOverflow !== "ellipsis") found.push(["too wide", element.outerHTML]);
        // The bar of tools is moved sideways by a finger, or by the arrow keys.
        if (element.closest(".tools > *")) continue;
        if (left < -1 || right > innerWidth + 1) found.push(["outside", element.outerHTML]);
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push(["scrolls", String(document.documentElement.scrollWidth)]);
    return found.map(([what, html]) => `${what}: ${html.slice(0, 160)}`);
}"""


def texts(language):
    """Returns the texts of a language, each with all its forms."""
    source = (LANGUAGES / f"{language}.js").read_text()
    return {json.loads(key): [json.loads(form) for form in STRING.findall(text)] for key, text in LINE.findall(source)}


def left_in_english(language):
    """Returns a function that checks whether a text is English and has another form in the language."""
    own = {form for forms in texts(language).values() for form in forms}
    foreign = {form for forms in texts("en").values() for form in forms} - own
    patterns = [
        re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(form)))
        for form in foreign
        if len(re.findall(r"[a-z]", re.sub(r"\{\w+\}", "", form))) > 3
    ]
    return lambda text: text in foreign or any(pattern.fullmatch(text) for pattern in patterns)


class Reader:
    """Checks the texts of each part of the page."""

    def __init__(self, person, language):
        self.person = person
        self.page = person.page
        self.language = language
        self.is_foreign = left_in_english(language) if language != "en" else lambda text: False
        self.wrong = []

    def look(self, name):
        for text in self.page.evaluate(READ):
            if self.is_foreign(text):
                self.wrong.append(f"{self.language}, {name}: in English: {text}")
        self.measure(name)

    def measure(self, name):
        self.wrong += [f"{self.language}, {name}: {one}" for one in self.page.evaluate(CUT_OFF)]


def browse(server, person, language):
    """Visits the parts of the page, and returns the problems."""
    ann = person("Qvist", locale=language)
    page = ann.page
    reader = Reader(ann, language)
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", language)
    # The document's texts are English until the page's modules are loaded, which also show the name.
    expect(page.locator("#me-name")).to_have_text("Qvist")
    expect(page.locator("#create")).to_be_visible()
    reader.look("nothing open")
    ann.picture(f"language-{language}")
    page.locator("#language").click()
    expect(page.get_by_role("menuitemradio")).to_have_count(len(list(LANGUAGES.glob("*.js"))) + 1)
    reader.look("languages")
    ann.press("Escape")
    page.locator("#create").click()
    ann.wait_for_editor()
    reader.look("a new note")
    ann.type("zzz 123")
    ann.wait_until_saved()
    page.locator("#note-menu").click()
    reader.look("a note's menu")
    ann.picture(f"language-{language}-note")
    ann.press("Escape")
    page.locator("#people").click()
    reader.look("people")
    ann.press("Escape")
    for width in (1180, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        reader.measure(f"a note at {width}")
        page.locator("#share").click()
        page.locator("#sharing-make").click()
        expect(page.locator("#sharing-link")).to_be_visible()
        reader.look(f"sharing at {width}")
        page.locator("#sharing [data-close]").click()
        page.keyboard.press("Alt+h")
        expect(page.locator("#history-sessions .group")).to_have_count(1)
        expect(page.locator("#history-text")).to_have_attribute("aria-busy", "false")
        reader.look(f"the history at {width}")
        page.locator("#history-name").click()
        reader.look(f"naming a version at {width}")
        page.locator("#version [data-close]").click()
        page.locator("#history-close").click()
        expect(page.locator("#history")).to_be_hidden()
    page.locator("#back").click()
    reader.look("the list on a phone")
    page.locator("#me").click()
    reader.look("the profile")
    page.locator("#profile [data-close]").click()
    page.set_viewport_size({"width": 1180, "height": 760})
    page.locator("#notes .note-link").focus()
    ann.press("Delete")
    reader.look("deleting")
    page.locator("#confirm-yes").click()
    expect(page.locator("#toast")).to_be_visible()
    reader.look("deleted")
    page.locator("#list-menu").click()
    page.get_by_role("menuitem").first.click()
    expect(page.locator("#deleted-list li")).to_have_count(1)
    reader.look("deleted notes")
    page.locator("#deleted-list .icon-button").click()
    reader.look("deleting for good")
    page.locator("#confirm-yes").click()
    expect(page.locator("#deleted-list li")).to_have_count(0)
    page.locator("#deleted [data-close]").click()
    page.goto("/n/there-is-no-such-note")
    expect(page.locator("#gone-title")).to_be_visible()
    reader.look("no such note")
    return reader.wrong


@pytest.mark.parametrize("language", sorted(path.stem for path in LANGUAGES.glob("*.js")))
def test_all_texts_are_in_the_language_and_fit(server, person, language):
    wrong = browse(server, person, language)
    assert not wrong, "\n".join(wrong)


def test_a_chosen_language_is_kept_without_the_server(server, person):
    note = server.create("Plan")
    ann = person("Ann", locale="de-CH", worker=True).open(note)
    page = ann.page
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#status-text")).to_have_text(texts("de")["status.saved"][0])
    wait_until_kept(ann)
    page.locator("#language").click()
    automatic = page.get_by_role("menuitemradio", name=texts("de")["language.automatic"][0])
    expect(automatic).to_be_checked()
    page.get_by_role("menuitemradio", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    ann.wait_for_editor()
    expect(page.locator("#status-text")).to_have_text(texts("fr")["status.saved"][0])
    cached = "caches.keys().then((names) => caches.open(names[0])).then((cache) => cache.keys())"
    wait_until(lambda: any("languages-fr" in url for url in page.evaluate(f"{cached}.then((all) => all.map(({{ url }}) => url))")))
    server.kill()
    page.reload()
    ann.wait_for_status("offline")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("#status-text")).to_have_text(texts("fr")["status.offline"][0])
    # A language that is not cached cannot be loaded now, and the page does not change.
    page.locator("#language").click()
    page.get_by_role("menuitemradio", name="Español").click()
    expect(page.locator("#toast")).to_have_text(texts("fr")["language.missing"][0])
    server.start()
    ann.wait_for_status("saved")
    # A user who reads none of the languages gets English.
    bo = person("Bo", locale="fi-FI").open(note)
    expect(bo.page.locator("html")).to_have_attribute("lang", "en")
    expect(bo.page.locator("#status-text")).to_have_text("Saved")


def test_a_language_that_cannot_be_loaded(server, person):
    ann = person("Ann", locale="ja")
    ann.context.route(re.compile("languages[-/]ja"), lambda route: route.abort())
    ann.page.goto("/")
    expect(ann.page.get_by_role("button", name="New note")).to_be_visible()
    expect(ann.page.locator("html")).to_have_attribute("lang", "en")
