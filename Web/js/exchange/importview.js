// The dialog that imports notes: the choice of files, the progress, and the outcome for each file. The import continues
// if the dialog is closed, and reports its result at the end.

import { announce, byId, openDialog, toast } from "../ground/dialogs.js";
import { request } from "../client/http.js";
import { importNotes } from "./importing.js";
import { ImportProblem } from "./importproblem.js";
import { ImportReader, importFilesMax } from "./importreader.js";
import { importStyles } from "./importsheet.js";
import { language, t } from "../ground/language.js";
import { untitled } from "../state/newnote.js";
import { pathOf } from "../state/routes.js";
import { connection, list, profile } from "../state/session.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {import("./importreader.js").Given} Given
 * @typedef {import("./importing.js").Outcome} Outcome
 */

const sheet = new CSSStyleSheet();
sheet.replaceSync(await importStyles());
document.adoptedStyleSheets.push(sheet);

/** Maximum rows of each kind; further ones are only counted. */
const rowsMax = 500;
/** The default limits of a server, used until the server reports its own. */
const limitsOtherwise = { messageBytesMax: 4 << 20, documentScalarsMax: 4_000_000 };

/** Whether an import is running; files that are chosen meanwhile are ignored. */
let isBusy = false;

/** @template {keyof HTMLElementTagNameMap} Name @param {Name} name @param {string} [className] @param {string} [text] */
function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {string} text @param {string} className */
function buttonWith(text, className) {
  const made = element("button", className, text);
  made.type = "button";
  return made;
}

/** @param {string} id @param {boolean} isFolder */
function field(id, isFolder) {
  const made = element("input");
  made.id = id;
  made.type = "file";
  made.hidden = made.multiple = true;
  if (isFolder) made.webkitdirectory = true;
  else made.accept = ".md,.markdown,.txt,.text,.zip,.etherpad,text/markdown,text/plain,application/zip";
  return made;
}

/** Creates the dialog at its first use. */
function makeDialog() {
  const dialog = element("dialog", "dialog wide");
  dialog.id = "import";
  const title = element("h2", "", t("import.title"));
  title.id = "import-title";
  dialog.setAttribute("aria-labelledby", title.id);
  const [files, folder] = [field("import-files", false), field("import-folder", true)];
  const choices = element("div", "import-choices");
  for (const [input, text, className] of /** @type {const} */ ([
    [files, t("import.files"), "button primary"],
    [folder, t("import.folder"), "button"],
  ])) {
    const button = buttonWith(text, className);
    button.addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const given = [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
      // Allows the same files to be chosen again.
      input.value = "";
      void run(given);
    });
    choices.append(button, input);
  }
  const state = element("p", "import-state");
  state.id = "import-state";
  const rows = element("div", "import-rows");
  rows.id = "import-rows";
  const buttons = element("div", "dialog-buttons");
  const stop = buttonWith(t("import.stop"), "button plain");
  stop.id = "import-stop";
  stop.hidden = true;
  const close = buttonWith(t("close"), "button");
  close.dataset.close = "";
  buttons.append(stop, close);
  dialog.append(title, element("p", "hint", t("import.hint")), choices, state, rows, buttons);
  document.body.append(dialog);
  return dialog;
}

/** @returns {HTMLDialogElement} */
const theDialog = () => /** @type {HTMLDialogElement | null} */ (document.getElementById("import")) ?? makeDialog();

/**
 * Shows the dialog, and imports dropped files at once.
 *
 * @param {AsyncIterable<Given> | Given[]} [dropped]
 */
export async function openImport(dropped) {
  const dialog = theDialog();
  if (!isBusy) {
    byId("import-state").textContent = "";
    byId("import-rows").replaceChildren();
  }
  const closed = dialog.open ? undefined : openDialog(dialog);
  if (dropped) {
    /** @type {Given[]} */
    const given = [];
    // Collect one file more than allowed, so that the import reports that there are too many.
    for await (const one of dropped) if (given.push(one) > importFilesMax) break;
    void run(given);
  }
  await closed;
}

/** @param {string} heading @param {HTMLElement} into */
function rowsUnder(heading, into) {
  const list = element("ul");
  let count = 0;
  const rest = element("p", "hint");
  return (/** @type {HTMLElement} */ row) => {
    count += 1;
    if (count === 1) into.append(element("h3", "", heading), list, rest);
    if (count <= rowsMax) list.append(row);
    else rest.textContent = t("import.more", { count: count - rowsMax });
  };
}

/** @param {string} name @param {string} [href] @param {string} [detail] */
function rowOf(name, href, detail) {
  const row = element("li", "import-row");
  const title = element(href === undefined ? "span" : "a", "note-title", name);
  title.dir = "auto";
  if (href !== undefined) {
    title.setAttribute("href", href);
    title.dataset.link = "";
    title.addEventListener("click", () => theDialog().close());
  }
  row.append(title);
  if (detail) row.append(element("span", "import-reason", detail));
  return row;
}

/** @param {Outcome} outcome */
function reasonOf({ problem, isLeft }) {
  const reason = problem instanceof ImportProblem ? t(problem.key, problem.values) : messageOf(problem);
  return isLeft ? t("withReason", { text: t("import.left"), reason }) : reason;
}

/** @param {NonNullable<Outcome["pad"]>} pad */
function restOf({ revision, authors }) {
  const rest = t("import.padRest", { revision });
  if (authors.length === 0) return rest;
  const names = new Intl.ListFormat(language).format(authors);
  return t("withReason", { text: rest, reason: t("import.padAuthors", { names }) });
}

/** @param {Given[]} given */
async function run(given) {
  if (isBusy || given.length === 0) return;
  isBusy = true;
  const dialog = theDialog();
  const [state, rows, stop] = [byId("import-state"), byId("import-rows"), byId("import-stop")];
  /** @type {NodeListOf<HTMLButtonElement>} */
  const choices = dialog.querySelectorAll(".import-choices button");
  const counts = { made: 0, failed: 0 };
  let isStopped = false;
  const end = () => (isStopped = true);
  const stay = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();
  const summary = () => {
    const text = t("import.made", { count: counts.made });
    return counts.failed ? t("withReason", { text, reason: t("import.failed", { count: counts.failed }) }) : text;
  };
  rows.replaceChildren();
  const [failed, made] = [element("section"), element("section")];
  rows.append(failed, made);
  const addFailed = rowsUnder(t("import.notImported"), failed);
  const addMade = rowsUnder(t("import.imported"), made);
  for (const button of choices) button.disabled = true;
  stop.hidden = false;
  stop.onclick = end;
  addEventListener("beforeunload", stay);
  try {
    const { messageBytesMax, documentScalarsMax } = { ...limitsOtherwise, ...connection.welcome?.limits };
    const reader = await ImportReader.load({ scalarsMax: documentScalarsMax });
    const outcomes = importNotes(reader.notesIn(given), {
      gateway: { request, wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)) },
      untitled,
      author: profile.name,
      messageBytesMax,
      isStopped: () => isStopped,
    });
    for await (const outcome of outcomes) {
      const { path, id, title, pad, problem, isLeft } = outcome;
      const href = id === undefined ? undefined : pathOf(id);
      if (problem) {
        counts.failed += 1;
        addFailed(rowOf(path, isLeft ? href : undefined, reasonOf(outcome)));
      } else {
        counts.made += 1;
        addMade(rowOf(title ?? path, href, pad && restOf(pad)));
      }
      state.textContent = t("import.running", { count: counts.made + counts.failed });
    }
  } catch (error) {
    console.error(error);
    addFailed(rowOf(t("import.title"), undefined, messageOf(error)));
    counts.failed += 1;
  } finally {
    isBusy = false;
    removeEventListener("beforeunload", stay);
    for (const button of choices) button.disabled = false;
    stop.hidden = true;
  }
  const text = isStopped ? t("withReason", { text: t("import.stopped"), reason: summary() }) : summary();
  state.textContent = text;
  if (dialog.open) announce(text);
  else toast(text);
  void list.refresh();
}
