// Downloads notes as files: one note as Markdown, text or HTML, or all notes in an archive.

import { Archive, fileName } from "./archive.js";
import { embedFiles, fetchFile } from "../links/files.js";
import { authorised, request } from "../client/http.js";
import { shownOf } from "../ground/lineends.js";
import { t } from "../ground/language.js";

/** @param {string} title */
const nameOf = (title) => fileName(title, t("untitledFile"));

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has read the file within this time.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * @param {"md" | "txt" | "html"} kind
 * @param {string} title
 * @param {string} text
 * @param {string} [note] The note with the text's files.
 * @param {DocumentFragment} [drawn] A formatted note as a page.
 */
export async function downloadText(kind, title, text, note, drawn) {
  if (kind === "html") return save(new Blob([await pageOf(title, text, note, drawn)], { type: "text/html;charset=utf-8" }), `${nameOf(title)}.html`);
  const type = kind === "md" ? "text/markdown" : "text/plain";
  save(new Blob([text], { type: `${type};charset=utf-8` }), `${nameOf(title)}.${kind}`);
}

/**
 * Returns the source of an HTML page that loads nothing.
 *
 * @param {string} title
 * @param {string} text
 * @param {string} [note]
 * @param {DocumentFragment} [drawn] A formatted note as a page.
 */
async function pageOf(title, text, note, drawn) {
  const whole = document.implementation.createHTMLDocument(title);
  const policy = whole.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  const characters = whole.createElement("meta");
  characters.setAttribute("charset", "utf-8");
  whole.head.prepend(characters, policy);
  const article = document.createElement("article");
  if (drawn) article.append(drawn);
  else {
    const { colourCode, drawParts, renderInto } = await import("../reading/pageview.js");
    renderInto(article, text);
    await colourCode(article);
    await drawParts(article);
  }
  if (note !== undefined) await embedFiles(article, note);
  for (const box of article.querySelectorAll("input")) {
    box.toggleAttribute("checked", box.checked);
    box.disabled = true;
  }
  whole.documentElement.dir = "auto";
  whole.body.append(whole.adoptNode(article));
  // Added as text, because this page's own policy would apply to a style element.
  const html = whole.documentElement.outerHTML.replace("</head>", () => `<style>${pageStyle}</style></head>`);
  return `<!doctype html>\n${html}\n`;
}

const pageStyle = `
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1.05rem/1.6 Georgia, serif; color-scheme: light dark; }
pre, code { font: .9em ui-monospace, monospace; } pre { overflow: auto; }
table { border-collapse: collapse; } th, td { padding: .3em .7em; border: 1px solid #8888; text-align: start; }
.to-right { text-align: right; } .to-center { text-align: center; } .typed { white-space: pre-wrap; font-family: monospace; }
blockquote { margin-block: 0; margin-inline: 1em 0; padding-inline-start: 1em; border-inline-start: 3px solid #8888; }
.callout { margin-block: 1em; padding: .4em 1em; border-inline-start: 3px solid; } .callout-title { font-weight: bold; }
.callout-title svg { width: 1.1em; margin-inline-end: .4em; vertical-align: -.15em; fill: none; stroke: currentcolor; stroke-width: 1.6; }
.formula.is-display { display: block; overflow: auto; margin-block: 1em; text-align: center; } .diagram { margin-inline: 0; } @media screen and (prefers-color-scheme: dark) { .diagram > img { filter: invert(0.9) hue-rotate(180deg); } }
.drawing-problem { color: light-dark(#b3372b, #ff9a8c); }
.footnotes { margin-top: 2em; border-top: 1px solid #8888; font-size: .9em; } .footnote-back { text-decoration: none; }
:is(.token-keyword, .token-modifier, .token-operatorKeyword, .token-controlKeyword, .token-definitionKeyword) { color: light-dark(#0d545d, #8fd6da); }
:is(.token-string, .token-special-string, .token-regexp) { color: light-dark(#226b42, #74c794); }
:is(.token-number, .token-bool, .token-atom, .token-null) { color: light-dark(#8f5a08, #e3b15a); }
:is(.token-comment, .token-lineComment, .token-blockComment) { font-style: italic; opacity: .8; }
pre { direction: ltr; } .has-color { color: var(--color); } .has-background { background: var(--background); } img { max-width: 100%; } li.task { list-style: none; margin-inline-start: -1.4em; }
`;

/**
 * Downloads an archive of all notes that this user may read. Each is a Markdown file named by its title, in the folder
 * of the note.
 *
 * @param {{id: string, title: string, updatedAt: string | number, folder?: string}[]} notes
 * @param {(text: string) => void} say
 */
export async function downloadAll(notes, say) {
  const archive = new Archive();
  let count = 0;
  const files = new Set();
  for (const { id, title, updatedAt, folder } of notes) {
    const response = await authorised(`/api/notes/${encodeURIComponent(id)}/text`, { Accept: "text/markdown" });
    // The note was deleted since.
    if (response === undefined) continue;
    const place = folder ? `${folder.split("/").map(nameOf).join("/")}/` : "";
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await response.arrayBuffer());
    archive.add(`${place}${nameOf(title)}.md`, new TextEncoder().encode(shownOf(text)), new Date(updatedAt));
    for (const { path, time } of (await request(`/api/notes/${encodeURIComponent(id)}/files`)).files) {
      const place = decodeURIComponent(path);
      if (files.has(place)) continue;
      files.add(place);
      const blob = await fetchFile(id, path.slice("files/".length));
      if (blob) archive.add(place, new Uint8Array(await blob.arrayBuffer()), new Date(time));
    }
    count += 1;
    if (count % 100 === 0) say(t("list.downloading", { count, total: notes.length }));
  }
  save(new Blob(archive.parts(), { type: "application/zip" }), "notes.zip");
}
