// What is brought into a text: pasted, dropped, or chosen. Plain text is the editor's own matter; for HTML, addresses and
// files a part of the page is fetched, and until it is there their place follows the text.

import { ViewPlugin } from "../codemirror.js";
import { wholeText } from "../lineends.js";
import { toast } from "../shell/dialogs.js";
import { t } from "../shell/language.js";
import { messageOf } from "../words.js";

/**
 * @typedef {import("../codemirror.js").EditorView} EditorView
 * @typedef {{from: number, to: number, stop: AbortController}} Range Follows the text.
 */

const load = () => import("./pasting/pasting.js");

/** @param {import("../client/note.js").Note} note */
export function broughtInto(note) {
  /** @type {Set<Range>} */
  const awaited = new Set();
  /** @type {ReturnType<typeof import("./pasting/uploads.js").uploadsInto> | undefined} */
  let uploads;
  let hasLeft = false;
  const isGone = () => hasLeft;
  /** Whether the next paste is to be plain. */
  let isPlain = false;
  let isOwnDrag = false;

  /** @param {Range} range @param {(part: Awaited<ReturnType<typeof load>>) => unknown} use @param {(error: unknown) => void} otherwise */
  async function withPart(range, use, otherwise) {
    awaited.add(range);
    try {
      const part = await load();
      if (!isGone()) await use(part);
    } catch (error) {
      console.warn(error);
      if (!isGone()) otherwise(error);
    } finally {
      awaited.delete(range);
    }
  }

  /** @param {EditorView} view @param {File[]} files @param {number} place */
  function take(view, files, place) {
    if (view.state.readOnly) return toast(t("note.readOnlyHint"));
    const range = { from: place, to: place, stop: new AbortController() };
    void withPart(
      range,
      (part) => (uploads ??= part.uploadsInto(note, view)).add(files, range.from),
      (error) => toast(t("file.failed", { name: files[0]?.name ?? "", reason: messageOf(error) })),
    );
  }

  /** @param {EditorView} view @param {{html: string, text: string}} data @param {number} from @param {number} to */
  function convert(view, { html, text }, from, to) {
    const range = { from, to, stop: new AbortController() };
    void withPart(
      range,
      (part) => part.pasteHTML(view, { html, text, range, isGone }),
      () => view.dispatch({ changes: { from: range.from, to: range.to, insert: wholeText(text) }, userEvent: "input.paste" }),
    );
  }

  /** @param {ClipboardEvent} event @param {EditorView} view */
  function paste({ clipboardData: data }, view) {
    const wantsPlain = isPlain;
    isPlain = false;
    const files = [...(data?.files ?? [])];
    const text = data?.getData("text/plain") ?? "";
    // Words that come with a picture of themselves, as from a spreadsheet, are words.
    if (files.length > 0 && !text) {
      take(view, files, view.state.selection.main.to);
      return true;
    }
    const html = data?.getData("text/html") ?? "";
    const { from, to } = view.state.selection.main;
    const isAddress = from < to && /^\s*(?:https?:\/\/|mailto:)\S+\s*$/i.test(text);
    const isCode = data?.types.includes("vscode-editor-data");
    if (view.state.readOnly || wantsPlain || isCode || (!html && !isAddress)) return false;
    convert(view, { html, text }, from, to);
    return true;
  }

  /** @param {DragEvent} event @param {EditorView} view */
  function drop(event, view) {
    const { dataTransfer: data } = event;
    const files = [...(data?.files ?? [])];
    const place = view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.selection.main.to;
    const html = data?.getData("text/html");
    if (files.length > 0) take(view, files, place);
    // Words of the text itself are moved by the editor.
    else if (html && !isOwnDrag && !view.state.readOnly) convert(view, { html, text: data?.getData("text/plain") ?? "" }, place, place);
    else return false;
    return true;
  }

  const extension = ViewPlugin.fromClass(
    class {
      /** @param {import("../codemirror.js").ViewUpdate} update */
      update({ docChanged, changes }) {
        if (!docChanged) return;
        for (const range of awaited) {
          const isEmpty = range.from === range.to;
          range.from = changes.mapPos(range.from, isEmpty ? -1 : 1);
          range.to = Math.max(range.from, changes.mapPos(range.to, -1));
        }
      }
    },
    {
      eventHandlers: {
        keydown(/** @type {KeyboardEvent} */ event) {
          isPlain = event.shiftKey && event.key.toLowerCase() === "v";
          if (event.key === "Escape") for (const { stop } of awaited) stop.abort();
        },
        dragstart: () => void (isOwnDrag = true),
        dragend: () => void (isOwnDrag = false),
        paste,
        drop,
      },
    },
  );

  return {
    extension,
    take,
    destroy() {
      hasLeft = true;
      uploads?.destroy();
    },
  };
}
