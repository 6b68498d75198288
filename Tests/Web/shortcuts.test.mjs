// Keys that are shortcuts, and keys that type a character.

import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultKeymap, historyKeymap } from "../../Web/js/codemirror.js";
import { isApple, isSearchKey, shortcutOf, withoutCharacters } from "../../Web/js/ground/shortcuts.js";

/**
 * Returns a `keydown` event as browsers report it.
 *
 * @param {string} keys Modifiers and the key's place, such as "Alt+KeyN".
 * @param {string} key The character that the layout types.
 */
function press(keys, key) {
  const held = keys.split("+");
  const code = held.pop() ?? "";
  return {
    key,
    code,
    altKey: held.includes("Alt"),
    ctrlKey: held.includes("Control"),
    metaKey: held.includes("Meta"),
    shiftKey: held.includes("Shift"),
    isComposing: held.includes("Composing"),
    getModifierState: (/** @type {string} */ name) => name === "AltGraph" && held.includes("AltGraph"),
  };
}

test("on a Mac, shortcuts need Control with Option, because Option types characters", () => {
  const typing = [
    ["KeyL", "@"], ["KeyL", "¬"], ["KeyL", "ł"], ["KeyE", "€"], ["KeyE", "´"], ["KeyE", "Dead"], ["KeyE", "ę"],
    ["KeyN", "~"], ["KeyN", "Dead"], ["KeyN", "ń"], ["KeyN", "ñ"], ["KeyH", "˙"], ["KeyH", "ª"], ["KeyN", "n"],
    ["KeyN", "т"],
  ];
  for (const [code, key] of typing) {
    assert.equal(shortcutOf(press(`Alt+${code}`, key ?? ""), true), undefined, `Option and ${code} give ${key}`);
    assert.equal(shortcutOf(press(`Shift+Alt+${code}`, key ?? ""), true), undefined);
  }
  assert.equal(shortcutOf(press("Control+Alt+KeyN", "Dead"), true), "create");
  assert.equal(shortcutOf(press("Control+Alt+KeyL", "@"), true), "list");
  assert.equal(shortcutOf(press("Control+Alt+KeyE", "e"), true), "text");
  assert.equal(shortcutOf(press("Control+Alt+KeyH", "˙"), true), "history");
  assert.equal(shortcutOf(press("Meta+Alt+KeyN", "˜"), true), undefined);
});

test("AltGr types characters, in every form in which browsers report it", () => {
  for (const [code, key] of [["KeyE", "€"], ["KeyE", "ę"], ["KeyL", "ł"], ["KeyN", "ń"], ["KeyQ", "@"], ["KeyH", "ħ"], ["KeyN", "n"]]) {
    for (const held of ["AltGraph", "Control+Alt+AltGraph", "Control+Alt", "Alt+AltGraph"]) {
      assert.equal(shortcutOf(press(`${held}+${code}`, key ?? ""), false), undefined, `${held} ${code} ${key}`);
    }
  }
});

test("on other systems, Alt and a letter of any layout is a shortcut", () => {
  assert.equal(shortcutOf(press("Alt+KeyN", "n"), false), "create");
  assert.equal(shortcutOf(press("Alt+KeyN", "N"), false), "create");
  // On a Dvorak layout, the letter on the key decides.
  assert.equal(shortcutOf(press("Alt+KeyL", "n"), false), "create");
  assert.equal(shortcutOf(press("Alt+KeyN", "b"), false), undefined);
  // On a layout without Latin letters, the position of the key decides.
  assert.equal(shortcutOf(press("Alt+KeyN", "т"), false), "create");
  assert.equal(shortcutOf(press("Alt+KeyE", "ק"), false), "text");
  for (const keys of ["KeyN", "Shift+Alt+KeyN", "Control+KeyN", "Alt+Composing+KeyN", "Alt+Meta+KeyN"]) {
    assert.equal(shortcutOf(press(keys, "n"), false), undefined, keys);
  }
  // Keys of a Mac in a browser that does not report a Mac.
  for (const key of ["@", "€", "Dead", "~", "ń", "Process", "Unidentified"]) {
    assert.equal(shortcutOf(press("Alt+KeyN", key), false), undefined, key);
  }
});

test("Macs and iPads are recognised", () => {
  assert.equal(isApple({ platform: "MacIntel" }), true);
  assert.equal(isApple({ platform: "iPad" }), true);
  assert.equal(isApple({ platform: "", userAgentData: { platform: "macOS" } }), true);
  for (const platform of ["Win32", "Linux x86_64", "Linux armv8l", ""]) assert.equal(isApple({ platform }), false);
});

test("the editor has no shortcuts on keys that type a character", () => {
  const kept = withoutCharacters([...defaultKeymap, ...historyKeymap]);
  for (const binding of kept) {
    for (const platform of ["key", "win", "linux"]) assert.doesNotMatch(binding[platform] ?? "", /Alt-(.+-)?.$/);
    if (!/Ctrl|Mod/.test(binding.mac ?? "")) assert.doesNotMatch(binding.mac ?? "", /Alt-(.+-)?.$/);
  }
  const dropped = [...defaultKeymap, ...historyKeymap].length - kept.length;
  assert.ok(dropped > 0 && dropped < 5, `${dropped} dropped`);
  // Shortcuts on other keys remain.
  assert.ok(kept.some(({ key }) => key === "Alt-ArrowUp"));
  assert.ok(kept.some(({ mac }) => mac === "Ctrl-l"));
});

test("Control+K, or Command+K on a Mac, opens the search", () => {
  const pressed = { key: "k", code: "KeyK", altKey: false, ctrlKey: true, metaKey: false, shiftKey: false, isComposing: false };
  assert.ok(isSearchKey(pressed, false));
  assert.ok(isSearchKey({ ...pressed, key: "K" }, false));
  assert.ok(isSearchKey({ ...pressed, key: "л" }, false));
  assert.ok(isSearchKey({ ...pressed, ctrlKey: false, metaKey: true }, true));
  // On a Mac, Control+K deletes to the end of the line.
  assert.ok(!isSearchKey(pressed, true));
  for (const other of [{ key: "j" }, { altKey: true }, { shiftKey: true }, { metaKey: true }, { isComposing: true }]) {
    assert.ok(!isSearchKey({ ...pressed, ...other }, false), JSON.stringify(other));
  }
});
