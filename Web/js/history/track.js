// The line above the slider: a stripe for each session, in its authors' colours, and a flag for each named version.

import { icon } from "../ground/dialogs.js";
import { amountsOf } from "./sessions.js";

/**
 * @typedef {import("./history.js").NoteHistory} NoteHistory
 */

/**
 * Draws the loaded sessions. The width of a stripe is its share of the revisions; the height of an author's part is the
 * author's share of the inserted and deleted text.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {NoteHistory} history
 * @param {Map<string, string>} colors By author.
 */
export function drawTrack(canvas, { sessions, head, oldest }, colors) {
  const { width, height } = canvas.getBoundingClientRect();
  const context = canvas.getContext("2d");
  if (!context || width === 0) return;
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  const scale = canvas.width / Math.max(1, head - oldest);
  // Draw a gap between sessions if they are more than 6 CSS pixels wide on average.
  const gap = canvas.width > 6 * sessions.length * devicePixelRatio ? devicePixelRatio : 0;
  for (const session of sessions) {
    const from = (session.firstRevision - 1 - oldest) * scale;
    const to = (session.lastRevision - oldest) * scale;
    const { inserted, deleted } = amountsOf(session);
    const whole = Math.max(1, inserted + deleted);
    let top = 0;
    for (const [index, author] of session.authors.entries()) {
      const isLast = index === session.authors.length - 1;
      const share = (canvas.height * (author.inserted + author.deleted)) / whole;
      context.fillStyle = colors.get(author.author) ?? "gray";
      context.fillRect(from, top, Math.max(1, to - from - gap), isLast ? canvas.height - top : share);
      top += share;
    }
  }
}

/**
 * @param {HTMLElement} host
 * @param {NoteHistory} history
 * @param {(revision: number) => void} choose
 */
export function drawFlags(host, { versions, head, oldest }, choose) {
  const span = Math.max(1, head - oldest);
  host.replaceChildren(
    ...versions.map((version) => {
      const flag = document.createElement("button");
      flag.type = "button";
      flag.className = "track-flag";
      // The list of versions offers the same action for the keyboard and screen readers.
      flag.tabIndex = -1;
      flag.setAttribute("aria-hidden", "true");
      flag.title = version.name;
      flag.style.insetInlineStart = `${(100 * (version.revision - oldest)) / span}%`;
      flag.append(icon("flag"));
      flag.addEventListener("click", () => choose(version.revision));
      return flag;
    }),
  );
}
