// Converts the page view to the HTML of the CommonMark specification, and both to a normal form for comparison.
//
// Deliberate differences of the page view are reverted here: each is checked, and replaced by the specification's form.
// Documentation/Page.md lists the differences.

import assert from "node:assert/strict";
import { TestElement, address, withoutEntities } from "./elements.mjs";
import { nameOfLanguage } from "../../Web/js/markdown/codelanguages.js";

const schemes = new Set(["http:", "https:", "mailto:", "tel:"]);
/** Replaces an address that the page view does not link to. */
const refused = "refused:";

/** @type {Set<string>} Differences that were undone since they were last asked for. */
let undone = new Set();

/** @template Result @param {string} difference @param {Result} result */
function undo(difference, result) {
  undone.add(difference);
  return result;
}

/** @param {string} text */
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

/** @param {string} url As it is in HTML, its entities read. */
function resolved(url) {
  try {
    const { protocol, href } = new URL(url.replaceAll("\\", "%5C"), address);
    return schemes.has(protocol) ? href.replace(/%[2-7][\dA-F]/g, (code) => decodeURIComponent(code)) : refused;
  } catch {
    return refused;
  }
}

/** @param {TestElement} element */
function linkTag({ attributes, className, dataset }) {
  const { href, target, rel, title } = attributes;
  if (className.includes("is-refused")) {
    assert.equal(href, undefined);
    return undo("address refused", `<a href="${refused}">`);
  }
  if (className.includes("within")) assert.equal(target, undefined);
  else assert.deepEqual([target, rel], ["_blank", "noopener noreferrer nofollow"]);
  const url = className.includes("within") && dataset.note === undefined ? href?.replace("#heading-", "#") : href;
  return `<a href="${escaped(url ?? "")}"${title ? ` title="${escaped(title)}"` : ""}>`;
}

/** @param {TestElement} element */
const contentOf = ({ childNodes }) =>
  childNodes.map((node) => (node instanceof TestElement ? htmlOf(node) : escaped(node))).join("");

/** @param {TestElement} element @param {string} name */
function cell(element, name) {
  const alignment = /^to-(center|right)$/.exec(element.className)?.[1];
  return `<${name}${alignment ? ` align="${alignment}"` : ""}>${contentOf(element)}</${name}>`;
}

/** @type {Record<string, (element: TestElement) => string>} Elements that differ from the specification's. */
const differing = {
  a(element) {
    const words = element.className.split(" ");
    if (words.includes("footnote-back")) return "";
    if (words.includes("picture")) {
      const { title } = element.attributes;
      const source = words.includes("is-refused") ? refused : element.attributes.href ?? "";
      const alternative = words.includes("is-unnamed") ? "" : element.textContent;
      return undo("picture as link", `<img src="${escaped(source)}" alt="${escaped(alternative)}"${title ? ` title="${escaped(title)}"` : ""} />`);
    }
    // Links of GFM without brackets.
    if (words.includes("bare") && !isGFM) return undo("GFM link", contentOf(element));
    const isBare = words.includes("bare") && /^www\./i.test(element.textContent);
    // GFM links to "http".
    if (isBare) return linkTag(element).replace("https://www", "http://www") + contentOf(element) + "</a>";
    return `${linkTag(element)}${words.includes("is-unnamed") ? undo("link without text", "") : contentOf(element)}</a>`;
  },
  input: ({ attributes, checked }) => `<input type="${attributes.type}"${checked ? ' checked=""' : ""} disabled="" />`,
  s: (element) => `<del>${contentOf(element)}</del>`,
  sup: (element) => `<sup>${element.firstElementChild?.className === "footnote" ? element.textContent : contentOf(element)}</sup>`,
  th: (element) => cell(element, "th"),
  td: (element) => cell(element, "td"),
  br: ({ className }) => (className === "soft" ? "\n" : "<br />"),
  hr: () => "<hr />",
  code(element) {
    const { language } = element.dataset;
    return `<code${language === undefined ? "" : ` data-language="${language}"`}>${contentOf(element)}</code>`;
  },
  p(element) {
    // Items of a tight list contain text without paragraphs.
    const list = element.parentElement?.tagName === "LI" ? element.parentElement.parentElement : null;
    return list?.className === "is-tight" ? contentOf(element) : `<p>${contentOf(element)}</p>`;
  },
  div: (element) => contentOf(element),
  span: (element) => contentOf(element),
  ol: (element) => `<ol${element.attributes.start ? ` start="${element.attributes.start}"` : ""}>${contentOf(element)}</ol>`,
};

/** @param {TestElement} element @returns {string} */
function htmlOf(element) {
  const name = element.tagName.toLowerCase();
  const { className } = element;
  if (className.split(" ").includes("typed")) {
    return undo("HTML as typed", name === "p" ? `${element.textContent}\n` : element.textContent);
  }
  const level = /^level-([1-6])$/.exec(className)?.[1];
  if (level !== undefined) {
    assert.equal(name, `h${Math.min(Number(level) + 1, 6)}`);
    return `<h${level}>${contentOf(element)}</h${level}>`;
  }
  const differs = differing[name];
  return differs ? differs(element) : `<${name}>${contentOf(element)}</${name}>`;
}

let isGFM = false;

/**
 * @param {TestElement} page
 * @param {boolean} [hasGFM] Whether links without brackets are links.
 * @returns {{html: string, differences: string[]}} The differences that were undone in it.
 */
export function htmlOfPage(page, hasGFM = false) {
  isGFM = hasGFM;
  undone = new Set();
  return { html: contentOf(page), differences: [...undone] };
}

const blocks =
  "address article aside blockquote body col colgroup dd del details div dl dt fieldset figcaption figure footer form h1 h2 " +
  "h3 h4 h5 h6 head header hr html ins li link main meta nav ol p pre script section style summary table tbody td " +
  "textarea tfoot th thead title tr ul video";
const isBlock = new Set(blocks.split(" "));

const attribute = /([a-z_:][\w:.-]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))?/gi;

/** @param {string} tag */
function normalTag(tag) {
  const [, close, name = "", rest = ""] = /^<(\/?)([a-z][\w-]*)([\s\S]*?)\/?>$/i.exec(tag) ?? [];
  if (close) return `</${name.toLowerCase()}>`;
  const attributes = [...rest.matchAll(attribute)].map(([, key = "", value]) => {
    const text = value === undefined ? undefined : withoutEntities(value.replace(/^(["'])([\s\S]*)\1$/, "$2"));
    if (text === undefined) return key.toLowerCase();
    // The page view names only languages that it can highlight.
    if (name === "code" && key === "class") {
      const language = nameOfLanguage(text.replace("language-", ""));
      return language === undefined ? "" : `data-language="${language}"`;
    }
    return `${key.toLowerCase()}="${escaped(key === "href" || key === "src" ? resolved(text) : text)}"`;
  });
  return `<${[name.toLowerCase(), ...attributes.filter(Boolean).sort()].join(" ")}>`;
}

const token = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<![a-z][^>]*>|<\/?[a-z][\w-]*(?:"[^"]*"|'[^']*'|[^"'>])*>|[^<]+|</gi;

/**
 * HTML in one form, as the specification's own runner compares it: attributes sorted, white space collapsed outside of
 * `pre` and removed beside blocks, entities read.
 *
 * @param {string} html
 */
export function normalHTML(html) {
  let result = "";
  let isPlain = false;
  let isAfterBlock = true;
  // Comments are not shown.
  for (const [part] of html.replace(/<!--(?:-?>|[\s\S]*?-->)/g, "").matchAll(token)) {
    const name = /^<\/?([a-z][\w-]*)/i.exec(part)?.[1]?.toLowerCase();
    if (name === undefined) {
      let text = part.startsWith("<") && part.length > 1 ? part : escaped(withoutEntities(part));
      if (!isPlain) text = text.replace(/\s+/g, " ");
      if (!isPlain && isAfterBlock) text = text.trimStart();
      result += text;
      if (text) isAfterBlock = false;
      continue;
    }
    if (name === "pre") isPlain = !part.startsWith("</");
    const isOutside = isBlock.has(name) || name === "br";
    if (isOutside && !isPlain) result = result.trimEnd();
    result += normalTag(part);
    isAfterBlock = isOutside;
  }
  return result.trim();
}
