"""Keyboards of other layouts: keys that type a character are not shortcuts."""

import re

from conftest import wait_until
from playwright.sync_api import expect

ALT, CONTROL = 1, 2

# Keys and their characters, as Chromium reports them for these keyboards.
MAC = [("l", "@"), ("e", "€"), ("n", "~"), ("n", "ń"), ("h", "˙")]
ALTGR = [("e", "€"), ("l", "ł"), ("n", "ń"), ("h", "ħ")]


def press(cdp, letter, key, modifiers, text=None):
    """Presses and releases a key. Its character is typed unless the page handles the key."""
    event = {
        "modifiers": modifiers,
        "code": f"Key{letter.upper()}",
        "key": key,
        "windowsVirtualKeyCode": ord(letter.upper()),
    }
    typed = {"text": text, "unmodifiedText": letter} if text else {}
    cdp.send("Input.dispatchKeyEvent", {"type": "keyDown" if text else "rawKeyDown", **event, **typed})
    cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})


def test_option_types_on_a_mac(server, person):
    ann = person("Ann")
    ann.context.add_init_script("Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })")
    ann.context.add_init_script("Object.defineProperty(navigator, 'userAgentData', { get: () => undefined })")
    ann.page.goto("/")
    expect(ann.page.locator(".keys div").first).to_contain_text("Control Option N")
    ann.picture("keys-on-a-mac")
    note = server.create("Mac")
    ann.open(note)
    ann.editor.focus()
    cdp = ann.context.new_cdp_session(ann.page)
    for letter, key in MAC:
        press(cdp, letter, key, ALT, text=key)
    # A dead key, and the letter after it.
    press(cdp, "n", "Dead", ALT)
    cdp.send("Input.imeSetComposition", {"text": "˜", "selectionStart": 1, "selectionEnd": 1})
    cdp.send("Input.insertText", {"text": "ñ"})
    ann.wait_for_text("@€~ń˙ñ")
    expect(ann.page).to_have_url(re.compile(f"/n/{note}$"))
    press(cdp, "h", "˙", ALT | CONTROL)
    expect(ann.page.locator("#history")).to_be_visible()
    press(cdp, "h", "˙", ALT | CONTROL)
    expect(ann.page.locator("#history")).to_be_hidden()
    press(cdp, "l", "¬", ALT | CONTROL)
    expect(ann.page.locator("#notes .note-link")).to_be_focused()
    press(cdp, "e", "Dead", ALT | CONTROL)
    expect(ann.editor).to_be_focused()
    assert ann.text() == "@€~ń˙ñ"


def test_altgr_types(server, person):
    note = server.create("AltGr")
    ann = person("Ann").open(note)
    ann.editor.focus()
    taken = ann.page.evaluate(
        """(keys) => keys.flatMap(([letter, key]) =>
            [{ modifierAltGraph: true }, { modifierAltGraph: true, ctrlKey: true, altKey: true },
                { ctrlKey: true, altKey: true }, { altKey: true, modifierAltGraph: true }]
                .map((held) => new KeyboardEvent("keydown", {
                    key, code: `Key${letter.toUpperCase()}`, keyCode: letter.toUpperCase().charCodeAt(0),
                    bubbles: true, composed: true, cancelable: true, ...held,
                }))
                .filter((event) => !document.querySelector("#editor").shadowRoot
                    .querySelector(".cm-content").dispatchEvent(event))
                .map((event) => event.key))""",
        [*ALTGR, ("q", "@"), ("ß", "\\\\"), ("n", "n")],
    )
    assert taken == []
    expect(ann.page).to_have_url(re.compile(f"/n/{note}$"))
    expect(ann.page.locator("#history")).to_be_hidden()
    # Alt without AltGr is a shortcut, which types nothing.
    ann.type("one\ntwo")
    ann.press("Alt+l")
    expect(ann.page.locator("#notes .note-link")).to_be_focused()
    ann.press("Alt+e")
    ann.page.keyboard.type("!")
    wait_until(lambda: ann.text() == "one\ntwo!")


def test_help_requested_twice_while_it_loads_opens_once(server, person):
    # With a service worker there would be no request to delay.
    ann = person("Ann", worker=False).open(server.create("Help"))
    held = []
    ann.page.route(re.compile("/help[^/]*[.]js$"), lambda route: held.append(route))
    ann.press("F1", "F1")
    wait_until(lambda: ann.page.evaluate("true") and held)
    held[0].continue_()
    expect(ann.page.get_by_role("heading", name="Keyboard")).to_be_visible()
    expect(ann.page.locator("dialog[open]")).to_have_count(1)
    ann.press("Escape")
    expect(ann.page.locator("dialog[open]")).to_have_count(0)
