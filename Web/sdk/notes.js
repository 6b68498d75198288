// Requests about notes, which need not be open: from creation to deletion. They use HTTP and the client's token
// function. This module is fetched with the first request.

/**
 * A note as the gateway lists it. Times are in milliseconds since 1970. `may`: this user's rights, in lists.
 *
 * @typedef {{id: string, title: string, revision: number, createdAt: number, updatedAt: number, folder?: string,
 *   may?: ("read" | "write" | "presence" | "manage" | "comment")[]}} NoteInfo
 */

/** @typedef {{id: string, path?: string, access: "read" | "comment" | "write", expiresAt: number}} NoteLink */

/**
 * `place` counts Unicode scalars, not UTF-16 units.
 *
 * @typedef {{id: string, author?: string, mine?: boolean, text?: string, createdAt: number, thread?: string,
 *   place?: {revision: number, from: number, to: number} | null, resolved?: {by: string, at: number}}} NoteComment
 */

/** @typedef {{hash: string, name: string, bytes: number, path: string}} NoteFile */

/**
 * The changes of all people without a pause of more than five minutes.
 *
 * @typedef {{firstRevision: number, lastRevision: number, firstTime: number, lastTime: number,
 *   authors: {author: string, changes: number, inserted: number, deleted: number}[]}} EditingSession
 */

/**
 * All functions reject with ParleyError: `unreachable`, also after the timeout; and `refused`, whose `reason` is the
 * protocol's error code.
 */
export class Notes {
  #base;
  #token;
  #timeout;
  #error;

  /**
   * Created by `Parley.notes`.
   *
   * @param {{base: URL, token: (isRefused: boolean) => Promise<string | undefined>, timeout: number,
   *   error: (code: any, message: string, reason: string) => Error}} parts
   */
  constructor({ base, token, timeout, error }) {
    this.#base = base;
    this.#token = token;
    this.#timeout = timeout;
    this.#error = error;
  }

  /**
   * Sends any request of Documentation/HTTP.md, with this user's token. Resolves to the answer's JSON.
   *
   * @param {string} method
   * @param {string} path Below the gateway's address: `api/…`.
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  request(method, path, body) {
    return this.#ask(method, path, body);
  }

  // Making and finding.

  /**
   * Creates a note. With an `id` of your own, a note that this client has created under it already is returned.
   *
   * @param {{title: string, id?: string, folder?: string}} note
   * @returns {Promise<NoteInfo>}
   */
  create({ title, id, folder }) {
    return id === undefined ? this.#post("api/notes", { title, folder }) : this.#ask("PUT", of(id), { title, folder });
  }

  /** @param {string} id @returns {Promise<NoteInfo>} */
  info(id) {
    return this.#ask("GET", of(id));
  }

  /**
   * Returns a page of the notes that this user may read; `next` is the `after` of the next one.
   *
   * @param {{folder?: string, tag?: string, after?: string, limit?: number}} options `folder`: "" for notes in none.
   * @returns {Promise<{notes: NoteInfo[], next?: string, mayCreate?: boolean}>}
   */
  list({ folder, tag, after, limit = 100 } = {}) {
    return this.#ask("GET", query("api/notes", { folder, tag, after, limit }));
  }

  /**
   * Returns the notes with all of the words in title or text, the best first.
   *
   * @param {string} words
   * @param {{limit?: number}} options
   * @returns {Promise<{id: string, title: string, place: {text: string, start: number}}[]>}
   */
  async search(words, { limit = 20 } = {}) {
    return (await this.#ask("GET", query("api/search", { q: words, limit }))).notes;
  }

  /** @returns {Promise<{folder: string, notes: number}[]>} */
  async folders() {
    return (await this.#ask("GET", "api/folders")).folders;
  }

  // Changing and deleting.

  /** @param {string} id @param {string} title @returns {Promise<NoteInfo>} */
  rename(id, title) {
    return this.#ask("PATCH", of(id), { title });
  }

  /** @param {string} id @param {string} folder "" for none. @returns {Promise<NoteInfo>} */
  move(id, folder) {
    return this.#ask("PATCH", of(id), { folder });
  }

  /**
   * Deletes a note. It can be restored for a while.
   *
   * @param {string} id
   * @returns {Promise<void>}
   */
  delete(id) {
    return this.#ask("DELETE", of(id));
  }

  /**
   * Returns a page of the deleted notes that this user may restore.
   *
   * @param {{after?: string, limit?: number}} options
   * @returns {Promise<{notes: {id: string, title: string, deletedAt: number, deletedBy?: string}[], next?: string}>}
   */
  deleted({ after, limit = 100 } = {}) {
    return this.#ask("GET", query("api/deleted", { after, limit }));
  }

  /**
   * Restores a deleted note, with its history.
   *
   * @param {string} id
   * @returns {Promise<NoteInfo>}
   */
  restore(id) {
    return this.#post(`api/deleted/${encodeURIComponent(id)}/restore`);
  }

  /**
   * Removes a deleted note for good.
   *
   * @param {string} id
   * @returns {Promise<void>}
   */
  purge(id) {
    return this.#ask("DELETE", `api/deleted/${encodeURIComponent(id)}`);
  }

  // Sharing.

  /**
   * Makes a link that opens the note for every holder: the gateway's address and the link's `path`.
   *
   * @param {string} id
   * @param {{access?: NoteLink["access"], expiresIn?: number}} options `expiresIn`: seconds.
   * @returns {Promise<NoteLink & {url: string}>}
   */
  async share(id, { access = "read", expiresIn } = {}) {
    const link = await this.#post(of(id, "share"), { access, expiresIn });
    return { ...link, url: new URL(`.${link.path}`, this.#base).href };
  }

  /** @param {string} id @returns {Promise<NoteLink[]>} */
  async links(id) {
    return (await this.#ask("GET", of(id, "share"))).links;
  }

  /**
   * Ends a link of a note, or all of them.
   *
   * @param {string} id
   * @param {string} [link]
   * @returns {Promise<void>}
   */
  unshare(id, link) {
    return this.#ask("DELETE", link === undefined ? of(id, "share") : of(id, "share", link));
  }

  // The history.

  /**
   * Returns the text: the newest, or that of a revision.
   *
   * @param {string} id
   * @param {{revision?: number}} options
   * @returns {Promise<{revision: number, text: string}>}
   */
  text(id, { revision } = {}) {
    return this.#ask("GET", query(of(id, "text"), { revision }));
  }

  /**
   * Returns a page of the history, the newest session first; its `before` is that of the next page.
   *
   * @param {string} id
   * @param {{before?: number, limit?: number}} options
   * @returns {Promise<{head: number, oldest: number, sessions: EditingSession[], before?: number}>}
   */
  history(id, { before, limit = 100 } = {}) {
    return this.#ask("GET", query(of(id, "sessions"), { before, limit }));
  }

  /**
   * Returns the words that were changed between two revisions, in the order of the text.
   *
   * @param {string} id
   * @param {{from: number, to: number}} revisions
   * @returns {Promise<{kept?: number, deleted?: string, inserted?: string, author?: string}[]>}
   */
  async changes(id, { from, to }) {
    return (await this.#ask("GET", query(of(id, "diff"), { from, to }))).parts;
  }

  /**
   * Makes the text of a revision the newest one, by an ordinary change.
   *
   * @param {string} id
   * @param {number} revision
   * @returns {Promise<{revision: number}>}
   */
  restoreTo(id, revision) {
    return this.#post(of(id, "restore"), { revision });
  }

  /** @param {string} id @returns {Promise<{revision: number, name: string, author?: string, time: number}[]>} */
  async versions(id) {
    return (await this.#ask("GET", of(id, "versions"))).versions;
  }

  /**
   * Names a revision.
   *
   * @param {string} id
   * @param {{name: string, revision: number}} version
   * @returns {Promise<{revision: number, name: string, author?: string, time: number}>}
   */
  addVersion(id, { name, revision }) {
    return this.#post(of(id, "versions"), { name, revision });
  }

  /** @param {string} id @param {number} revision @returns {Promise<void>} */
  removeVersion(id, revision) {
    return this.#ask("DELETE", of(id, "versions", `${revision}`));
  }

  // Comments.

  /** @param {string} id @returns {Promise<NoteComment[]>} The oldest first. */
  async comments(id) {
    return (await this.#ask("GET", of(id, "comments"))).comments;
  }

  /**
   * Comments on a range of the text at a revision, in Unicode scalars; or answers a comment, with `thread`.
   *
   * @param {string} id
   * @param {{text: string, anchor?: {revision: number, from: number, to: number}, thread?: string}} comment
   * @returns {Promise<NoteComment>}
   */
  comment(id, { text, anchor, thread }) {
    return this.#post(of(id, "comments"), { text, anchor, thread });
  }

  /**
   * Changes the text of a comment of this user, or resolves or reopens a thread.
   *
   * @param {string} id
   * @param {string} comment
   * @param {{text: string} | {resolved: boolean}} change
   * @returns {Promise<NoteComment>}
   */
  editComment(id, comment, change) {
    return this.#ask("PATCH", of(id, "comments", comment), change);
  }

  /** @param {string} id @param {string} comment @returns {Promise<void>} */
  deleteComment(id, comment) {
    return this.#ask("DELETE", of(id, "comments", comment));
  }

  // Files.

  /** @param {string} id @returns {Promise<NoteFile[]>} The newest first. */
  async files(id) {
    return (await this.#ask("GET", of(id, "files"))).files;
  }

  /**
   * Adds a file to the note; resolves once it is on the gateway's disk. Insert its `path` into the text, or the gateway
   * removes it after some time.
   *
   * @param {string} id
   * @param {Blob} file
   * @param {string} name
   * @returns {Promise<NoteFile>}
   */
  upload(id, file, name) {
    return this.#post(query(of(id, "files"), { name }), file);
  }

  /** @param {string} id @param {{hash: string, name: string}} file @returns {Promise<Blob>} */
  async download(id, { hash, name }) {
    return (await this.#send("GET", of(id, "files", hash, name))).blob();
  }

  // The requests themselves.

  /** @param {string} path @param {object | Blob} [body] */
  #post(path, body) {
    // A request that is sent again for a new token is performed once.
    return this.#ask("POST", path, body, { "Idempotency-Key": crypto.randomUUID() });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object | Blob} [body]
   * @param {Record<string, string>} [headers]
   * @returns {Promise<any>}
   */
  async #ask(method, path, body, headers) {
    const response = await this.#send(method, path, body, headers);
    if (response.status === 204) return undefined;
    try {
      return await response.json();
    } catch {
      throw this.#notParley(response.status);
    }
  }

  /** @param {number} status */
  #notParley(status) {
    return this.#error("unreachable", `expected a Parley gateway, got an answer of another server (status ${status})`, "");
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object | Blob} [body]
   * @param {Record<string, string>} [headers]
   * @returns {Promise<Response>} A successful one.
   */
  async #send(method, path, body, headers = {}) {
    const isFile = body instanceof Blob;
    for (let isRefused = false; ; isRefused = true) {
      const token = await this.#token(isRefused);
      /** @type {Response} */
      let response;
      try {
        response = await fetch(new URL(path, this.#base), {
          method, cache: "no-store", signal: /** @type {any} */ (AbortSignal).timeout(this.#timeout),
          headers: {
            ...headers,
            ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
            ...(body ? { "Content-Type": isFile ? "application/octet-stream" : "application/json" } : {}),
          },
          ...(body ? { body: isFile ? body : JSON.stringify(body) } : {}),
        });
      } catch {
        throw this.#error("unreachable", "the gateway gave no answer: is it up, and does it name this page's origin in "
          + "allowed-origin?", "");
      }
      if (response.ok) return response;
      // The token may have expired: the token function has a new one.
      if (response.status === 401 && token !== undefined && !isRefused) continue;
      const { code, message } = await response.json().catch(() => ({}));
      if (!code) throw this.#notParley(response.status);
      if (code === "unknownDocument") throw this.#error("refused", "no note has this id; create it first", code);
      throw this.#error("refused", `the gateway refuses this: ${code}${message ? `: ${message}` : ""}`, code);
    }
  }
}

/** @param {string} id @param {...string} rest Returns the path of a note. */
const of = (id, ...rest) => ["api/notes", ...[id, ...rest].map(encodeURIComponent)].join("/");

/** @param {string} path @param {Record<string, string | number | undefined>} fields */
function query(path, fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))}`;
}
