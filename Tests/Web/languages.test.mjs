// The page's texts: none is missing in a language, none is left over, and none is written beside the files.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { isFromTheRight, isolatedIn, speaker } from "../../Web/js/ground/texts.js";

const folder = new URL("../../Web/js/", import.meta.url);
const html = readFileSync(new URL("../index.html", folder), "utf8");
const names = readdirSync(new URL("languages/", folder)).map((name) => name.replace(".js", ""));

/** @type {Map<string, import("../../Web/js/ground/texts.js").Texts>} */
const languages = new Map();
for (const name of names) languages.set(name, (await import(`../../Web/js/languages/${name}.js`)).default);
const english = languages.get("en") ?? {};
const others = [...languages].filter(([name]) => name !== "en");

/** The page's own modules. That of operators is in English. */
const modules = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".js") && !/^(admin|languages)\/|^(codemirror|code|html)\.js$/.test(name));

/** @param {string} source */
const withoutComments = (source) => source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[\s;])\/\/.*$/gm, "$1");

const sources = new Map(modules.map((name) => [name, withoutComments(readFileSync(new URL(name, folder), "utf8"))]));

/** @param {import("../../Web/js/ground/texts.js").Text} text */
const formsOf = (text) => (typeof text === "string" ? [text] : Object.values(text));

/** @param {string} form */
const placesIn = (form) => [...new Set([...form.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ""))].sort();

/** Keys that end in what is known only when they are asked for. */
const families = ["problem.", "notice.", "provider."];

/** @returns {Set<string>} The keys that modules and the document name. */
function usedKeys() {
  const all = [...sources.values()].join("\n");
  const used = [...all.matchAll(/"([a-z]\w*(?:\.\w+)?)"/gi)].map(([, key]) => key ?? "").filter((key) => key.includes(".") && Object.hasOwn(english, key));
  const asked = [...all.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, key]) => key ?? "");
  const named = [...html.matchAll(/\bdata-(?:text|label|title|placeholder|content)="([^"]*)"/g)].map(([, key]) => key ?? "");
  return new Set([...used, ...asked, ...named]);
}

test("each language that is offered has a file, and each file is offered", () => {
  const offered = (/** @type {string} */ source, /** @type {RegExp} */ list) =>
    [...(list.exec(source)?.[1] ?? "").matchAll(/"?(\w+)"?(?:: "[^"]*")?,?/g)].map(([, name]) => name ?? "").sort();
  const { language = "", choose = "" } = { language: sources.get("ground/language.js"), choose: sources.get("chooselanguage.js") };
  assert.deepEqual(offered(language, /const languages = \{([^}]*)\}/), names.sort());
  assert.deepEqual(offered(choose, /const known = \[([^\]]*)\]/), names.sort());
  const fetched = [...language.matchAll(/import\("\.\.\/languages\/(\w+)\.js"\)/g)].map(([, name]) => name ?? "");
  assert.deepEqual([...fetched, "en"].sort(), names.sort());
  assert.match(choose, new RegExp(`language === "${names.find(isFromTheRight) ?? "ar"}" \\? "rtl"`));
});

test("each text that is used is there in English, and each that is there is used", () => {
  const used = usedKeys();
  for (const key of used) assert.ok(Object.hasOwn(english, key), `no text is named ${key}`);
  const unused = Object.keys(english).filter((key) => !used.has(key) && !families.some((start) => key.startsWith(start)));
  assert.deepEqual(unused, [], "texts that nothing uses");
});

for (const [name, texts] of others) {
  test(`${name} has all texts, and no others`, () => {
    assert.deepEqual(Object.keys(english).filter((key) => !Object.hasOwn(texts, key)), [], "missing");
    assert.deepEqual(Object.keys(texts).filter((key) => !Object.hasOwn(english, key)), [], "left over");
  });

  test(`${name} has the places and the forms that it needs`, () => {
    for (const [key, text] of Object.entries(texts)) {
      const model = english[key] ?? "";
      assert.equal(typeof text, typeof model, `${key} has forms in one language alone`);
      const places = new Set(formsOf(model).flatMap(placesIn));
      for (const form of formsOf(text)) {
        assert.notEqual(form.trim(), "", key);
        for (const place of placesIn(form)) assert.ok(places.has(place), `${key}: no value is named ${place}`);
      }
      // In words for one or two, the number itself may be left out.
      if (typeof text === "string") assert.deepEqual(placesIn(text), [...places], key);
      else assert.deepEqual(placesIn(text.other ?? ""), [...places], key);
    }
  });
}

test("each text that depends on a number has all forms of its language, and no others", () => {
  for (const [name, texts] of languages) {
    const wanted = new Intl.PluralRules(name).resolvedOptions().pluralCategories.sort();
    for (const [key, text] of Object.entries(texts)) {
      if (typeof text !== "string") assert.deepEqual(Object.keys(text).sort(), wanted, `${name}: ${key}`);
    }
  }
});

test("texts have the form that the build reads, and no HTML", () => {
  for (const [name, texts] of languages) {
    const source = readFileSync(new URL(`languages/${name}.js`, folder), "utf8");
    const read = [...source.matchAll(/^ {2}("[^"]+"): (.*),$/gm)].map(([, key]) => JSON.parse(key ?? ""));
    assert.deepEqual(read, Object.keys(texts), `${name}: each text on a line of its own, its name in quotation marks`);
    for (const [key, text] of Object.entries(texts)) {
      for (const form of formsOf(text)) assert.doesNotMatch(form, /[<>&\u2066-\u2069\u202a-\u202e]/, `${name}: ${key}`);
    }
  }
});

/**
 * How no text of a language is written: in the other form of address, in a second word for the same thing, or with
 * spaces that the language does not have.
 *
 * @type {Record<string, RegExp>}
 */
const foreign = {
  // Buttons are named as in other programs: OK, Cancel, Create link.
  en: /^(?:All right|Not now|Make a link)\b/,
  // The reader is not addressed.
  de: /\wen Sie\b|\b(?:[Dd]u|[Dd]ich|[Dd]ir|[Dd]eine?\w*|Ihnen|Ihre?\w*)\b|[^ ]…$/,
  // People are "vous", and a narrow space is before marks of two parts.
  fr: /\b(?:tu|toi|ton|tes)\b|exploitant|[^\u202f][:;?!»]|«(?!\u202f)/,
  // People are "tú", and events are in the perfect.
  es: /\b(?:(?:usted|busque|escriba|ponga|pulse)\b|inténtelo|puede seguir|se pudo|se (?:eliminó|envió|cerró|movió|detuvo|importó))/i,
  ja: /ログイン|ログアウト|取得できませんでした|\d文字/,
  ar: /مشغّل|تعذر |جلب|م\.ب/,
};

test("each language addresses people in one way, and has one word for one thing", () => {
  for (const [name, texts] of languages) {
    const wrong = Object.entries(texts).filter(([, text]) => formsOf(text).some((form) => foreign[name]?.test(form)));
    assert.deepEqual(wrong, [], name);
  }
});

/** Words in code that no person reads: names of keys, of headers, and of what has no other name in any language. */
const noTexts = new Set([
  "Parley", "English", "Deutsch", "Français", "Español", "Control", "Meta", "Option", "Alt", "Ctrl", "Page Up", "Page Down", "Esc",
  "ArrowDown", "ArrowUp", "Backspace", "Delete", "End", "Enter", "Escape", "Home", "PageDown", "PageUp", "Shift", "Tab", "AltGraph",
  "Accept", "Authorization", "Bearer ${token}", "Content-Security-Policy", "Content-Type", "Idempotency-Key",
  "Files", "DELETE", "GET", "HEAD", "PATCH", "POST", "PUT", "SCRIPT", "LINK", "MB",
  "QuotaExceededError", "SecurityError",
]);

/**
 * Literals that look as if a person were to read them.
 *
 * @param {string} name
 * @param {string} source
 */
function textsIn(name, source) {
  const code = source
    .replace(/^(?:import|export)\b[^;]*? from "[^"]*";$/gm, "")
    // Internal errors are for developers.
    .replace(/(?:new \w*Error|super|console\.\w+)\((?:[^()]|\([^()]*\))*\)/g, "")
    // The editor's own words are the keys of the page's; Markdown's and HTML's parts have names.
    .replace(/"[^"\n]*": t\(/g, "t(");
  const found = [];
  for (const [, , literal = ""] of code.matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g)) {
    const words = literal.replace(/\$\{[^}]*\}/g, " ");
    const isSentence = /[\p{L}\p{N}…”)] ?[…”]|^\p{Lu}\p{Ll}+(?: \p{L}+)+|\p{L}+ \p{L}+ \p{L}+|^\p{Lu}.*[.?!]$/u.test(words);
    const isWord = /^\p{Lu}\p{Ll}+$/u.test(words.trim());
    if ((isSentence || isWord) && !noTexts.has(literal)) found.push(`${name}: ${literal}`);
  }
  // What goes straight to where people read.
  const sinks = /(?:\.(?:textContent|title|placeholder|ariaLabel) = |"aria-(?:label|valuetext|description)", |\b(?:toast|announce|say)\(|\b(?:label|text|title|yes|no): |\bappend\()(["'`])((?:\\.|(?!\1)[^\\])*\p{L}(?:\\.|(?!\1)[^\\])*)\1/gu;
  for (const [, , literal = ""] of code.matchAll(sinks)) {
    if (/\p{L}/u.test(literal.replace(/\$\{[^}]*\}/g, "")) && !noTexts.has(literal)) found.push(`${name}: ${literal}`);
  }
  return [...new Set(found)];
}

/** Modules that may have words: names that are made up for guests, kinds of Markdown's parts, styles of files. */
const exceptions = new Map([
  ["markdown/boundedmarkdown.js", /^Paragraph$/],
  ["markdown/formulas.js", /^Formula$/],
  ["reading/mathml.js", /^[a-z ]+$/],
  ["state/people.js", /^\p{Lu}\p{Ll}+$/u],
  ["ground/language.js", /^(aria-label|title)$/],
  ["reading/rendering.js", /^↩/u],
  ["reading/blocks.js", /^\p{Lu}\p{Ll}+$/u],
  ["reading/dialect.js", /^\p{Lu}\p{Ll}+$/u],
  ["reading/inlines.js", /^\p{Lu}\p{Ll}+$|^noopener/u],
  ["reading/tree.js", /^\p{Lu}\p{Ll}+$/u],
  ["exchange/exporting.js", /\{[^}]*\}|^width|default-src/],
  ["reading/footnotes.js", /^Link$/],
  ["shell/help.js", /^dialog wide help$/],
  ["editing/pasting/insertion.js", /^(Link|Image|Autolink|Table)$/],
  ["editing/writing/tablekeys.js", /^Table$|^\\n\$/],
  ["editing/writing/drawnmarks.js", /^(Table|Image|Escape|Link)$/],
  ["editing/writing/choices.js", /^picture image file$/],
  ["editing/livetext.js", /^(Link|Image|Autolink|Table)$/],
  ["editing/textcommands.js", /^(Link|Image|Autolink|Table)$/],
  ["formatted/frommarkdown.js", /^\p{Lu}\p{Ll}+$/u],
  ["formatted/linkbox.js", /^button small primary$/],
  ["formatted/pasted.js", /^\\ufffc$/],
  ["formatted/writingaids.js", /^picture image file$/],
  ["notes/titlebar.js", /· Parley$/],
]);

test("no text is written in the modules", () => {
  assert.ok(modules.length > 50, `${modules.length}`);
  const found = [...sources].flatMap(([name, source]) =>
    textsIn(name, source).filter((one) => !exceptions.get(name)?.test(one.slice(name.length + 2))),
  );
  assert.deepEqual(found, [], "texts belong into Web/js/languages (Documentation/Page.md)");
});

test("a text that is planted in a module is found", () => {
  for (const planted of [
    'toast("Saved")', 'label: "Print…"', 'byId("x").textContent = "saved";', 'const message = "The note was not deleted.";',
    "say(`No link was made. ${reason}`)", 'x.setAttribute("aria-label", "more")', 'const nobody = "Somebody";',
    'announce(isBad ? "Not saved" : "")', 'x.append("you and me")',
  ]) {
    assert.notDeepEqual(textsIn("a", planted), [], planted);
  }
});

test("no text is written in the document", () => {
  const body = html.replace(/<!--[\s\S]*?-->/g, "").replace(/<(script|style)\b[\s\S]*?<\/\1>/g, "");
  const words = [...body.matchAll(/>([^<]*\p{L}[^<]*)</gu)].map(([, text]) => text?.trim());
  assert.deepEqual([...new Set(words)].sort(), ["Alt", "Ctrl", "E", "H", "K", "L", "M", "N", "Parley"]);
  assert.deepEqual(body.match(/\s(?:aria-label|title|placeholder|alt)="[^"]*"/g), null);
});

// What a text becomes.

const say = (/** @type {string} */ language) => speaker({ language, own: languages.get(language) ?? {}, english });

test("forms follow from the number by the rules of the language", () => {
  assert.equal(say("en")("count.words", { count: 1 }), "1 word");
  assert.equal(say("en")("count.words", { count: 1_200 }), "1,200 words");
  const own = { few: { zero: "0", one: "1", two: "2", few: "few", many: "many", other: "{count}" } };
  const arabic = speaker({ language: "ar", locale: "ar-u-nu-latn", own, english });
  assert.deepEqual([0, 1, 2, 3, 11, 100].map((count) => arabic("few", { count })), ["0", "1", "2", "few", "many", "100"]);
});

test("what a language does not have is said in English, by the rules of English", () => {
  const polish = speaker({ language: "pl", own: {}, english });
  assert.equal(polish("count.words", { count: 22 }), "22 words");
  assert.throws(() => polish("no.such"), /no\.such/);
});

test("values are put in as they are, and keep their direction to themselves", () => {
  const english = say("en");
  assert.equal(english("remove.title", { title: "{name} $& <b>" }), "Delete “{name} $& <b>”?");
  assert.equal(english("remove.title", { title: "רשימה" }), "Delete “\u2068רשימה\u2069”?");
  assert.equal(english("remove.title", {}), "Delete “{title}”?");
  assert.equal(isolatedIn("Plan B", true), "\u2068Plan B\u2069");
  assert.equal(isolatedIn("قائمة", true), "قائمة");
  assert.equal(isolatedIn("…", true), "…");
});

for (const [name, texts] of languages) {
  test(`each text of ${name} can be said`, () => {
    const speak = say(name);
    for (const [key, text] of Object.entries(texts)) {
      const places = new Set(formsOf(text).flatMap(placesIn));
      for (const count of typeof text === "string" ? [1] : [0, 1, 2, 3, 11, 99, 100, 1_000_000]) {
        const values = Object.fromEntries([...places].map((place) => [place, place === "count" ? count : "Ann"]));
        assert.doesNotMatch(speak(key, values), /[{}]|undefined|NaN/, key);
      }
    }
  });
}

test("buttons that agree, cancel and create say so", () => {
  assert.deepEqual([english.ok, english.cancel, english["sharing.make"]], ["OK", "Cancel", "Create link"]);
  const said = [...languages.values()].flatMap((texts) => Object.values(texts).flatMap(formsOf));
  for (const words of ["All right", "Not now", "Make a link", "In Ordnung", "Jetzt nicht", "D’accord"]) {
    assert.ok(!said.includes(words), words);
  }
});
