// The lists of connections, of rooms in use, of notes, of the cluster's nodes, and of the audit log.

import { at } from "../ground/base.js";
import { RequestError, request } from "../client/http.js";
import { when } from "../state/notes.js";
import { countOf } from "../client/words.js";
import { auditList } from "./audit.js";
import { bytes, duration, latency, number } from "./figures.js";
import { Table } from "./table.js";

/**
 * @typedef {{id: string, dialect: string, user?: string, isGuest: boolean, name?: string, clientId?: string,
 *   address: string, since: number, documents: number, rooms: number, queuedBytes: number,
 *   isLagging: boolean}} ConnectionEntry
 * @typedef {{room: string, subscribers: number, present: number}} RoomEntry
 * @typedef {import("../state/notes.js").NoteEntry} NoteEntry
 * @typedef {{name: string, version: string, startedAt: number, loops: number, connections: number,
 *   documents: number, hintLagMicroseconds?: number, silentMilliseconds: number, isAsked: boolean}} NodeEntry
 */

/** Maximum number of items in one request. */
const shownMax = 500;

const dialectNames = /** @type {Record<string, string>} */ ({
  native: "native", whaler: "Whaler", socketIO: "Socket.IO", bayeux: "Bayeux", pusher: "Pusher",
});

/** @param {string} className @param {string} text */
function span(className, text) {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

/** @param {ConnectionEntry} connection */
export const nameOf = ({ name, user, address }) => name || user || address;

/** @param {ConnectionEntry} connection */
function who(connection) {
  const cell = document.createDocumentFragment();
  cell.append(span("admin-name", nameOf(connection)));
  const { user, isGuest } = connection;
  const details = [isGuest ? "guest" : "", user && user !== nameOf(connection) ? user : ""].filter(Boolean);
  if (details.length > 0) cell.append(span("admin-detail", details.join(" · ")));
  return cell;
}

/** @param {ConnectionEntry} connection */
function queue({ queuedBytes, isLagging }) {
  if (!isLagging) return queuedBytes > 0 ? bytes(queuedBytes) : "–";
  const cell = document.createDocumentFragment();
  cell.append(`${bytes(queuedBytes)} `, span("badge bad", "lagging"));
  return cell;
}

/** Maximum time since a node's last report; beyond it, the node may be down. A report is due every two seconds. */
const silentMax = 6_000;

/** @param {NodeEntry} node */
function seen({ isAsked, silentMilliseconds }) {
  if (isAsked) return "answers now";
  const ago = `${duration(silentMilliseconds)} ago`;
  if (silentMilliseconds <= silentMax) return ago;
  const cell = document.createDocumentFragment();
  cell.append(`${ago} `, span("badge bad", "silent"));
  return cell;
}

/**
 * The items of a list, which may be a part of all. `more`: the total is not known, but there are more than `total`.
 *
 * @template Item
 * @typedef {{items: Item[], total: number, more?: boolean}} Answer
 */

/**
 * A list: its request, and its display.
 *
 * @template Item
 * @typedef {object} List
 * @property {string} id The id of the panel.
 * @property {Table<Item>} table
 * @property {(filter: string) => Promise<Answer<Item>>} fetch
 * @property {(item: Item) => string} words The text that the filter searches.
 * @property {string} none
 * @property {string} [part] Which items are shown of those that do not fit into one answer.
 */

/**
 * @typedef {object} Options
 * @property {(id: string) => HTMLElement} hostOf The panel of a list.
 * @property {(connection: ConnectionEntry) => void} disconnect
 * @property {() => number} now Milliseconds of the server's clock.
 */

/**
 * @param {Options} options
 * @returns {List<any>[]}
 */
export const makeLists = (options) => [
  connectionList(options), roomList(options), noteList(options), nodeList(options), auditList(options),
];

/**
 * @param {Options} options
 * @returns {List<ConnectionEntry>}
 */
function connectionList({ hostOf, disconnect, now }) {
  return {
    id: "connections",
    none: "No clients are connected.",
    part: "Filter for a user's name to find others.",
    table: new Table({
      host: hostOf("connections"),
      name: "Connections",
      rowName: "connection",
      keyOf: ({ id }) => id,
      columns: [
        { name: "Who", cell: who },
        { name: "Speaks", cell: ({ dialect }) => dialectNames[dialect] ?? dialect },
        { name: "From", cell: ({ address }) => address },
        { name: "For", cell: ({ since }) => duration(now() - since), isNumber: true },
        { name: "Notes", cell: ({ documents }) => number(documents), isNumber: true },
        { name: "Rooms", cell: ({ rooms }) => number(rooms), isNumber: true },
        { name: "Unread", cell: queue, isNumber: true },
        { name: "Disconnect", action: disconnect, nameOf },
      ],
    }),
    words: ({ name, user, address, dialect, clientId }) =>
      [name, user, address, dialectNames[dialect], clientId].join(" "),
    async fetch(filter) {
      const { connections: items, total, more } = await request(`/api/connections?limit=${shownMax}`);
      // Beyond the first page, the server searches for a user with this name.
      if (!more || !filter) return { items, total };
      const { connections: found } = await request(
        `/api/connections?limit=${shownMax}&user=${encodeURIComponent(filter)}`,
      );
      const known = new Set(items.map((/** @type {ConnectionEntry} */ { id }) => id));
      return { items: [...items, ...found.filter((/** @type {ConnectionEntry} */ { id }) => !known.has(id))], total };
    },
  };
}

/**
 * @param {Options} options
 * @returns {List<RoomEntry>}
 */
function roomList({ hostOf }) {
  return {
    id: "rooms",
    none: "No room has a subscriber.",
    part: "They are the first by name.",
    table: new Table({
      host: hostOf("rooms"),
      name: "Rooms",
      rowName: "room",
      keyOf: ({ room }) => room,
      columns: [
        { name: "Room", cell: ({ room }) => span("admin-name", room) },
        { name: "Subscribers", cell: ({ subscribers }) => number(subscribers), isNumber: true },
        { name: "People", cell: ({ present }) => number(present), isNumber: true },
      ],
    }),
    words: ({ room }) => room,
    async fetch() {
      const { rooms: items, total } = await request(`/api/rooms?limit=${shownMax}`);
      return { items, total };
    },
  };
}

/**
 * @param {Options} options
 * @returns {List<NoteEntry>}
 */
function noteList({ hostOf, now }) {
  return {
    id: "notes",
    none: "No notes yet, or none that this key may read: say document:*=read when you make one.",
    part: "They are the last changed.",
    table: new Table({
      host: hostOf("notes"),
      name: "Notes",
      rowName: "note",
      keyOf: ({ id }) => id,
      columns: [
        { name: "Title", cell: noteLink },
        { name: "Revision", cell: ({ revision }) => number(revision), isNumber: true },
        { name: "Changed", cell: ({ updatedAt }) => when(updatedAt, now()), isNumber: true },
      ],
    }),
    words: ({ title, id }) => `${title} ${id}`,
    async fetch() {
      try {
        const { notes: items, more } = await request("/api/notes");
        return { items, total: items.length, more };
      } catch (error) {
        // An operator's key alone does not include the right to read notes.
        if (error instanceof RequestError && error.status === 403) return { items: [], total: 0 };
        throw error;
      }
    },
  };
}

/**
 * @param {Options} options
 * @returns {List<NodeEntry>}
 */
function nodeList({ hostOf, now }) {
  return {
    id: "nodes",
    none: "No gateway was heard of.",
    table: new Table({
      host: hostOf("nodes"),
      name: "Nodes",
      rowName: "node",
      keyOf: ({ name, startedAt }) => `${startedAt} ${name}`,
      columns: [
        { name: "Node", cell: ({ name }) => span("admin-name", name) },
        { name: "Version", cell: ({ version }) => version },
        { name: "Up", cell: ({ startedAt }) => duration(Math.max(0, now() - startedAt)), isNumber: true },
        { name: "Loops", cell: ({ loops }) => number(loops), isNumber: true },
        { name: "Connections", cell: ({ connections: count }) => number(count), isNumber: true },
        { name: "Notes", cell: ({ documents }) => number(documents), isNumber: true },
        { name: "Hints take", cell: ({ hintLagMicroseconds: lag }) => (lag === undefined ? "–" : latency(lag)), isNumber: true },
        { name: "Heard", cell: seen, isNumber: true },
      ],
    }),
    words: ({ name, version }) => `${name} ${version}`,
    async fetch() {
      const { nodes: items } = await request("/api/stats");
      return { items, total: items.length };
    },
  };
}

/** @param {NoteEntry} note */
function noteLink({ id, title }) {
  const link = document.createElement("a");
  link.className = "admin-name";
  link.href = at(`/n/${encodeURIComponent(id)}`);
  link.target = "_blank";
  link.rel = "noopener";
  link.textContent = title || "Untitled note";
  return link;
}

/**
 * @template Item
 * @param {List<Item>} list
 * @param {Answer<Item>} answer
 * @param {string} filter
 */
export function drawList({ table, words, none, part }, answer, filter) {
  const { items, total, more = false } = answer;
  const wanted = filter.toLocaleLowerCase();
  const shown = items.filter((item) => words(item).toLocaleLowerCase().includes(wanted));
  const isPart = more || items.length < total;
  const ofAll = more ? `more than ${number(total)}` : number(total);
  const remark = [
    items.length === 0 ? none : shown.length === 0 ? `Nothing here has “${filter}” in it.` : "",
    isPart && items.length > 0 ? `${countOf(items.length, "entry", "entries")} of ${ofAll}. ${part ?? ""}` : "",
  ];
  table.draw(shown, remark.filter(Boolean).join(" ").trim());
}

/** @param {Answer<any>} answer @returns {string} The number of all items. */
export const totalOf = ({ total, more }) => `${total.toLocaleString()}${more ? "+" : ""}`;
