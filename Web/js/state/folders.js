// Folders of notes: all folders, the chosen one, and its notes.
//
// The folders are fetched whenever the list is. Without a server, they are those of the notes in the copy of the list.
// If the list is too long to be fetched as a whole, the notes of a folder are fetched in pages.

import { Emitter } from "../ground/emitter.js";
import { request } from "../client/http.js";
import { Refresher } from "../client/refresher.js";

/**
 * @typedef {import("./notes.js").NoteEntry} NoteEntry
 * @typedef {{folder: string, notes: number, may?: string[]}} FolderEntry
 * @typedef {{path: string, name: string, notes: number, children: FolderNode[]}} FolderNode
 *   `notes`: the number of notes in it and below it.
 * @typedef {{match: string, may: string[]}} Granted
 */

/** Maximum folders of one answer, and notes of one page. */
const foldersMax = 5_000;
const pageSize = 100;

/**
 * Whether a right to folders includes a folder.
 *
 * @param {string} match A path; a path and `/*` for all folders below it, too; or `*`.
 * @param {string} folder
 */
export function covers(match, folder) {
  if (match === "*") return true;
  if (!match.endsWith("/*")) return match === folder;
  const above = match.slice(0, -2);
  return folder === above || folder.startsWith(`${above}/`);
}

/**
 * Returns the folders as a tree, sorted by name.
 *
 * @param {readonly FolderEntry[]} entries
 * @param {(one: string, other: string) => number} compare
 * @returns {FolderNode[]}
 */
export function treeOf(entries, compare) {
  /** @type {FolderNode} */
  const root = { path: "", name: "", notes: 0, children: [] };
  /** @type {Map<string, FolderNode>} */
  const nodes = new Map([["", root]]);
  for (const { folder, notes } of entries) {
    if (folder === "") continue;
    let above = root;
    let path = "";
    for (const name of folder.split("/")) {
      path = path ? `${path}/${name}` : name;
      let node = nodes.get(path);
      if (!node) {
        node = { path, name, notes: 0, children: [] };
        nodes.set(path, node);
        above.children.push(node);
      }
      node.notes += notes;
      above = node;
    }
  }
  for (const { children } of nodes.values()) children.sort((one, other) => compare(one.name, other.name));
  return root.children;
}

/**
 * Returns the folders of some notes.
 *
 * @param {readonly NoteEntry[]} notes
 * @returns {FolderEntry[]}
 */
export function foldersOf(notes) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { folder = "" } of notes) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return [...counts].map(([folder, count]) => ({ folder, notes: count }));
}

/** @extends {Emitter<{changed: void}>} */
export class Folders extends Emitter {
  /** @type {string | undefined} The folder that the list shows; undefined for all notes. */
  #chosen;
  /** @type {FolderEntry[] | undefined} The server's folders. */
  #entries;
  /** @type {Granted[]} */
  #granted = [];
  #refresher = new Refresher(() => this.#fetch());
  /** @type {{folder: string, notes: NoteEntry[], next?: string} | undefined} The fetched pages of a folder. */
  #pages;
  #list;
  #ask;

  /** @param {import("./notes.js").NoteList} list @param {(path: string) => Promise<any>} [ask] */
  constructor(list, ask = request) {
    super();
    this.#list = list;
    this.#ask = ask;
    list.on("fetched", () => void this.refresh());
    list.on("changed", () => this.emit("changed", undefined));
  }

  /**
   * The folders that contain notes, and those that this user has rights to.
   *
   * @returns {FolderEntry[]}
   */
  get all() {
    const known = this.#entries ?? foldersOf(this.#list.notes ?? []);
    const empty = this.#granted
      .map(({ match }) => match.replace(/\/?\*$/, ""))
      .filter((folder) => folder !== "" && !known.some((entry) => entry.folder === folder));
    return [...known, ...[...new Set(empty)].map((folder) => ({ folder, notes: 0 }))];
  }

  /** Whether there is any folder. */
  get hasAny() {
    return this.all.some(({ folder }) => folder !== "");
  }

  get chosen() {
    return this.#chosen;
  }

  /** @param {string | undefined} folder */
  choose(folder) {
    if (folder === this.#chosen) return;
    this.#chosen = folder;
    this.#pages = undefined;
    // If this fails, the pages are fetched again with the folders.
    if (folder !== undefined && this.#list.isCut) this.fetchMore().catch(() => this.refresh());
    this.emit("changed", undefined);
  }

  /**
   * The notes of the chosen folder that are loaded.
   *
   * @returns {NoteEntry[]}
   */
  get notes() {
    const folder = this.#chosen;
    if (folder === undefined) return this.#list.notes ?? [];
    if (this.#pages?.folder === folder) return this.#pages.notes;
    return (this.#list.notes ?? []).filter((note) => (note.folder ?? "") === folder);
  }

  /** Whether the chosen folder has notes that are not loaded. */
  get hasMore() {
    return this.#pages?.next !== undefined;
  }

  /** Fetches the next page of the chosen folder; if that fails, the loaded pages stay. */
  fetchMore() {
    return this.#fetchPage(this.#pages?.folder === this.#chosen ? this.#pages : undefined);
  }

  /** @param {{notes: NoteEntry[], next?: string} | undefined} before The pages before it; none for the first. */
  async #fetchPage(before) {
    const folder = this.#chosen;
    if (folder === undefined) return;
    const place = before?.next === undefined ? "" : `&after=${encodeURIComponent(before.next)}`;
    /** @type {{notes: NoteEntry[], next?: string}} */
    const { notes, next } = await request(
      `/api/notes?folder=${encodeURIComponent(folder)}&limit=${pageSize}${place}`,
    );
    // The pages may have been replaced since: another folder was chosen, or another fetch was faster.
    if (this.#chosen !== folder || (before && this.#pages !== before)) return;
    this.#pages = { folder, notes: [...(before?.notes ?? []), ...notes], next };
    this.emit("changed", undefined);
  }

  /** Fetches the folders. */
  refresh() {
    return this.#refresher.refresh();
  }

  async #fetch() {
    const { folders, granted } = await this.#ask(`/api/folders?limit=${foldersMax}`);
    this.#entries = folders;
    this.#granted = granted ?? [];
    this.emit("changed", undefined);
    // Notes may have been added to the folder, or removed: fetch its pages again from the first.
    if (this.#pages || (this.#chosen !== undefined && this.#list.isCut)) await this.#fetchPage(undefined);
  }

  /**
   * Whether this user may create notes in a folder, or move notes to it.
   *
   * @param {string} folder
   */
  mayCreateIn(folder) {
    if (this.#granted.some(({ match, may }) => covers(match, folder) && may.includes("manage"))) return true;
    const entry = this.#entries?.find((one) => one.folder === folder);
    return entry?.may?.includes("manage") ?? this.#list.mayCreate;
  }

  /** The folder for a new note; undefined if this user may create notes in no folder. */
  get forNewNote() {
    const chosen = this.#chosen;
    if (chosen !== undefined && this.mayCreateIn(chosen)) return chosen;
    if (this.#list.mayCreate) return "";
    const granted = this.#granted.find(({ may }) => may.includes("manage"));
    return granted?.match.replace(/\/?\*$/, "");
  }
}
