// Draws formulas and diagrams of a page in place of their sources. The code that draws is loaded with the first one.

import { t } from "../ground/language.js";
import { diagramsAddress, formulasAddress, mermaidAddress } from "./drawingassets.js";
import { DrawingQueue } from "./drawingqueue.js";
import { mathIn } from "./mathml.js";

/** @typedef {import("./drawingqueue.js").Answer} Answer */

const formulas = new DrawingQueue({ open: openWorker, timeMax: 500 });
const diagrams = new DrawingQueue({ open: openFrame, timeMax: 5_000 });

/** Maximum length of a diagram's SVG, in UTF-16 units. */
const pictureMax = 2_000_000;

/** @param {(message: any) => void} receive @param {() => void} fail */
function openWorker(receive, fail) {
  const worker = new Worker(formulasAddress);
  worker.addEventListener("message", ({ data }) => receive(data));
  worker.addEventListener("error", fail);
  return { send: (/** @type {object} */ request) => worker.postMessage(request), end: () => worker.terminate() };
}

/**
 * Creates a frame without an origin, because drawing diagrams needs a document. The frame cannot access this page, and
 * loads only its scripts.
 *
 * @param {(message: any) => void} receive
 */
function openFrame(receive) {
  const frame = document.createElement("iframe");
  frame.className = "drawing-frame";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("aria-hidden", "true");
  frame.tabIndex = -1;
  const scripts = [mermaidAddress, diagramsAddress].map((address) => new URL(address, location.href).href);
  // The policy follows the scripts: WebKit would take the 'self' of the page's policy for the frame once it has its own.
  frame.srcdoc =
    `<!doctype html>${scripts.map((address) => `<script src="${address}"></script>`).join("")}` +
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><body>`;
  /** @param {MessageEvent} event */
  const hear = ({ source, data }) => {
    if (source === frame.contentWindow) receive(data);
  };
  addEventListener("message", hear);
  document.body.append(frame);
  return {
    send: (/** @type {object} */ request) => frame.contentWindow?.postMessage(request, "*"),
    end() {
      removeEventListener("message", hear);
      frame.remove();
    },
  };
}

/** @param {Answer} answer @returns {string | undefined} A message if there is no drawing. */
function problemOf(answer) {
  if (answer === "late") return t("drawing.tooLong");
  if (answer === "stopped") return t("drawing.stopped");
  if (answer === "failed") return t("drawing.failed");
  return "problem" in answer ? t("drawing.wrong", { reason: answer.problem }) : undefined;
}

/** @param {HTMLElement} element @param {string | undefined} problem Shown after the source. */
function showProblem(element, problem) {
  if (problem === undefined) return;
  element.querySelector(".drawing-problem")?.remove();
  const words = document.createElement("span");
  words.className = "drawing-problem";
  words.append(problem);
  element.append(" ", words);
}

/** @param {HTMLElement} element */
async function drawFormula(element) {
  const answer = await formulas.draw({ source: element.dataset.formula, isDisplay: element.classList.contains("is-display") });
  const math = typeof answer === "object" && "drawn" in answer ? mathIn(answer.drawn) : undefined;
  if (math) element.replaceChildren(math);
  else showProblem(element, problemOf(answer) ?? t("drawing.tooLong"));
  if (answer === "failed") delete element.dataset.isDrawn;
}

/** @param {HTMLElement} element */
async function drawDiagram(element) {
  const source = element.dataset.diagram ?? "";
  const answer = await diagrams.draw({ source });
  const drawn = typeof answer === "object" && "drawn" in answer ? String(answer.drawn) : undefined;
  if (drawn !== undefined && drawn.length <= pictureMax) showDiagram(element, drawn);
  else showProblem(element, problemOf(answer) ?? t("drawing.tooLong"));
  if (answer === "failed") delete element.dataset.isDrawn;
}

/**
 * Shows a diagram as an image, which runs no script and loads nothing; its source can be expanded below.
 *
 * @param {HTMLElement} element @param {string} drawn SVG.
 */
function showDiagram(element, drawn) {
  const picture = document.createElement("img");
  picture.alt = t("drawing.diagram");
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn)}`;
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(t("drawing.source"));
  details.append(summary, ...element.childNodes);
  element.replaceChildren(picture, details);
}

/**
 * Draws the formulas and diagrams of a page.
 *
 * @param {HTMLElement} host
 */
export async function draw(host) {
  const drawings = [];
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (host.querySelectorAll(".formula, .diagram"))) {
    if (element.dataset.isDrawn) continue;
    element.dataset.isDrawn = "true";
    drawings.push(element.dataset.diagram === undefined ? drawFormula(element) : drawDiagram(element));
  }
  await Promise.all(drawings);
}
