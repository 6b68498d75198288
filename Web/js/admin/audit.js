// The list of the audit log: who changed rights and accounts, or signed in.

import { request } from "../client/http.js";
import { when } from "../state/notes.js";
import { Table } from "./table.js";

/**
 * @typedef {{number: number, time: number, actor: string, action: string, target: string, address: string,
 *   outcome: string, detail: string}} AuditEntry
 */

/** Maximum number of records in one request. */
const shownMax = 200;

/** @param {string} className @param {string} text */
function span(className, text) {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

/** @param {AuditEntry} entry */
function outcome({ outcome: word }) {
  return word === "refused" ? span("badge bad", "refused") : word;
}

/** @param {number} time @param {number} now */
function moment(time, now) {
  const element = document.createElement("time");
  element.dateTime = new Date(time).toISOString();
  element.title = element.dateTime;
  element.textContent = when(time, now);
  return element;
}

/**
 * @param {string} filter
 * @returns {Promise<import("./lists.js").Answer<AuditEntry>>}
 */
export async function fetchAudit(filter) {
  const newest = await request(`/api/audit?limit=${shownMax}`);
  /** @type {Map<number, AuditEntry>} */
  const found = new Map(newest.records.map((/** @type {AuditEntry} */ entry) => [entry.number, entry]));
  // Beyond the first page, the server searches for an actor, a target or an action with this name.
  if (newest.next !== undefined && filter) {
    const name = encodeURIComponent(filter);
    const answers = await Promise.all(
      ["actor", "target", "action"].map((field) => request(`/api/audit?limit=${shownMax}&${field}=${name}`)),
    );
    for (const entry of answers.flatMap(({ records }) => records)) found.set(entry.number, entry);
  }
  const items = [...found.values()].sort((one, other) => other.number - one.number);
  return { items, total: items.length, more: newest.next !== undefined };
}

/**
 * @param {import("./lists.js").Options} options
 * @returns {import("./lists.js").List<AuditEntry>}
 */
export function auditList({ hostOf, now }) {
  return {
    id: "audit",
    none: "Nothing was recorded yet.",
    part: "Filter for the exact name of a user, a key, a note or an action to find older ones.",
    table: new Table({
      host: hostOf("audit"),
      name: "Audit log",
      rowName: "record",
      keyOf: ({ number }) => String(number),
      columns: [
        { name: "When", cell: ({ time }) => moment(time, now()) },
        { name: "Who", cell: ({ actor }) => span("admin-name", actor || "unknown") },
        { name: "Action", cell: ({ action }) => action },
        { name: "Target", cell: ({ target }) => target || "–" },
        { name: "Result", cell: outcome },
        { name: "From", cell: ({ address }) => address || "–" },
        { name: "Detail", cell: ({ detail }) => detail || "–" },
      ],
    }),
    words: ({ actor, action, target, address, outcome: word, detail }) =>
      [actor, action, target, address, word, detail].join(" "),
    fetch: fetchAudit,
  };
}
