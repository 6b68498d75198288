// Formulas and diagrams of a page, drawn in the place of their sources. What draws them is fetched with the first one.

import { t } from "../shell/language.js";
import { formulasAddress } from "./drawingassets.js";
import { DrawingQueue } from "./drawingqueue.js";
import { mathIn } from "./mathml.js";

/** @typedef {import("./drawingqueue.js").Answer} Answer */

const formulas = new DrawingQueue({ open: openWorker, timeMax: 500 });

/** @param {(message: any) => void} receive @param {() => void} fail */
function openWorker(receive, fail) {
  const worker = new Worker(formulasAddress);
  worker.addEventListener("message", ({ data }) => receive(data));
  worker.addEventListener("error", fail);
  return { send: (/** @type {object} */ request) => worker.postMessage(request), end: () => worker.terminate() };
}

/** @param {Answer} answer @returns {string | undefined} Why there is no drawing. */
function problemOf(answer) {
  if (answer === "late") return t("drawing.tooLong");
  if (answer === "failed") return t("drawing.failed");
  return "problem" in answer ? t("drawing.wrong", { reason: answer.problem }) : undefined;
}

/** @param {HTMLElement} element @param {string | undefined} problem Is shown behind the source. */
function showProblem(element, problem) {
  if (problem === undefined) return;
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

/**
 * Draws what a page has of formulas and diagrams.
 *
 * @param {HTMLElement} host
 */
export async function draw(host) {
  const drawings = [];
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (host.querySelectorAll(".formula"))) {
    if (element.dataset.isDrawn) continue;
    element.dataset.isDrawn = "true";
    drawings.push(drawFormula(element));
  }
  await Promise.all(drawings);
}
