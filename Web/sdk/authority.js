// A central authority for editors that rebase their own steps, such as ProseMirror with its collab module: a room whose
// publications are batches of steps. A batch is appended if it was made on the newest version, and refused otherwise.
// This module is fetched with the first authority.

/**
 * @typedef {import("./client.js").Parley} Parley
 * @typedef {import("./room.js").RoomPosition} RoomPosition
 * @typedef {{steps: any[], clients: any[]}} Batch Steps as JSON, and the client id of each.
 * @typedef {{version: number, steps?: any[], client?: any, doc?: any}} Data What is published: steps on a version, or the
 * document at a version.
 * @typedef {{data: any, offset: number}} Stored
 */

/** Publications that one request reads. */
const pageLength = 100;
/** Codes after which the same request is sent again. */
const retried = ["busy", "tooFast", "unavailable"];

const newKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

/** @param {number} count Waits before another try, longer after each, so that of many clients one succeeds. */
const pause = (count) => new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(25 * 2 ** count, 1_000)));

/** The steps of one document. */
export class Authority {
  /** The name of its room. */
  name;
  /** The number of steps that the gateway has stored. */
  version = 0;
  /** The document of the last snapshot, as JSON; undefined if there is none. */
  doc = /** @type {any} */ (undefined);
  /** The version of that document; 0 if there is none. */
  docVersion = 0;
  /**
   * Why steps are missing, so that the document has to be opened again; undefined if none are.
   *
   * @type {Error | undefined}
   */
  failure;

  #parley;
  /** @type {RoomPosition} */
  #position = { epoch: "", offset: 0 };
  /**
   * The steps since the snapshot.
   *
   * @type {Batch}
   */
  #since = { steps: [], clients: [] };
  /** @type {Set<(batch: Batch) => void>} */
  #listeners = new Set();
  /** @type {Set<(failure: Error) => void>} */
  #failureListeners = new Set();
  /** @type {import("./room.js").SharedRoom | undefined} */
  #room;
  #refusals = 0;

  /**
   * See `Parley.authority`.
   *
   * @param {Parley} parley
   * @param {string} name
   */
  constructor(parley, name) {
    this.#parley = parley;
    this.name = name;
  }

  /** The number of steps since the snapshot. */
  get length() {
    return this.version - this.docVersion;
  }

  /**
   * Calls a function with the steps since the snapshot, and then with each batch, own ones included. Returns a function
   * that ends this.
   *
   * @param {(batch: Batch) => void} listener
   */
  follow(listener) {
    this.#listeners.add(listener);
    if (this.#since.steps.length > 0) listener({ steps: [...this.#since.steps], clients: [...this.#since.clients] });
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls a function if steps are missing, because the gateway no longer has them.
   *
   * @param {(failure: Error) => void} listener
   */
  onFailure(listener) {
    this.#failureListeners.add(listener);
    return () => this.#failureListeners.delete(listener);
  }

  /**
   * Appends steps if `version` is the newest one. Otherwise the missing steps are delivered first: rebase, and send
   * again. Without a connection it is repeated until there is one; the steps are stored once.
   *
   * @param {number} version
   * @param {any[]} steps As JSON.
   * @param {any} client The editor's client id.
   * @returns {Promise<boolean>} Whether they were appended. Rejects with ParleyError: refused.
   */
  send(version, steps, client) {
    return this.#append(version, { version, steps, client });
  }

  /**
   * Stores the document of the newest version, so that others need not read the steps before it. The room's history must
   * contain it and the steps since: store one from time to time.
   *
   * @param {number} version
   * @param {any} doc As JSON.
   * @returns {Promise<boolean>} False if the version is not the newest one.
   */
  snapshot(version, doc) {
    return this.#append(version, { version, doc });
  }

  /** Stops following the room. */
  close() {
    this.#room?.close();
    this.#listeners.clear();
    this.failure ??= new Error("the authority is closed");
  }

  /** Reads what is stored, and follows the room from there. */
  async open() {
    /** @type {Stored[]} */
    const stored = [];
    let before = "";
    for (;;) {
      const page = await this.#history(before);
      if (!before) this.#position = { epoch: page.epoch, offset: page.offset };
      stored.unshift(...page.publications);
      const snapshot = stored.map(({ data }) => data?.doc !== undefined).lastIndexOf(true);
      if (snapshot >= 0) stored.splice(0, snapshot);
      if (snapshot >= 0 || !page.more) break;
      before = `before=${page.publications[0]?.offset ?? 0}`;
    }
    const [first] = stored.filter(({ data }) => Array.isArray(data?.steps) || data?.doc !== undefined);
    if (first?.data.doc === undefined && (first?.data.version ?? 0) !== 0) throw this.#lost();
    for (const { data } of stored) this.#take(data);
    if (this.failure) throw this.failure;
    const room = this.#parley.room(this.name, { from: this.#position });
    this.#room = room;
    room.on("publication", ({ data, position }) => this.#heard(data, position));
    room.on("gap", () => void this.#catchUp().catch(() => this.#lost()));
    return this;
  }

  /** @param {string} query @returns {Promise<{epoch: string, offset: number, publications: Stored[], gap: boolean, more: boolean}>} */
  #history(query) {
    return this.#parley.notes.request("GET", `${this.#path("history")}?limit=${pageLength}&${query}`);
  }

  /** @param {string} rest */
  #path(rest) {
    return `api/rooms/${encodeURIComponent(this.name)}/${rest}`;
  }

  /** @param {number} version @param {Data} data @returns {Promise<boolean>} */
  async #append(version, data) {
    if (this.failure) throw this.failure;
    if (version !== this.version) return false;
    const body = { data, key: newKey(), ifPosition: this.#position };
    try {
      const { epoch, offset } = await this.#repeated(() => this.#parley.notes.request("POST", this.#path("publish"), body));
      this.#refusals = 0;
      this.#heard(data, { epoch, offset });
      return true;
    } catch (/** @type {any} */ error) {
      if (error.reason !== "outdated") throw error;
    }
    this.#refusals += 1;
    await this.#catchUp();
    await pause(this.#refusals);
    return false;
  }

  /**
   * Repeats a request until the gateway answers.
   *
   * @template Answer @param {() => Promise<Answer>} request @returns {Promise<Answer>}
   */
  async #repeated(request) {
    for (let count = 0; ; count += 1) {
      try {
        return await request();
      } catch (/** @type {any} */ error) {
        if (this.failure) throw this.failure;
        if (error.code !== "unreachable" && !retried.includes(error.reason)) throw error;
      }
      await pause(count);
    }
  }

  /** Reads what was published since. */
  async #catchUp() {
    for (let hasMore = true; hasMore && !this.failure;) {
      const { epoch, offset, publications, gap, more } = await this.#repeated(
        () => this.#history(`since=${this.#position.offset}`),
      );
      if (epoch !== this.#position.epoch || gap) throw this.#lost();
      for (const each of publications) this.#heard(each.data, { epoch, offset: each.offset });
      if (!more) this.#advance({ epoch, offset });
      hasMore = more;
    }
  }

  /** @param {any} data @param {RoomPosition} position */
  #heard(data, position) {
    if (this.failure || !this.#advance(position)) return;
    this.#take(data);
  }

  /** @param {RoomPosition} position Returns whether it is a later one of the same history. */
  #advance({ epoch, offset }) {
    if (epoch === this.#position.epoch && offset <= this.#position.offset) return false;
    if (epoch !== this.#position.epoch) this.#lost();
    this.#position = { epoch, offset };
    return !this.failure;
  }

  /** @param {any} data */
  #take(data) {
    const { version, steps, client, doc } = data ?? {};
    if (doc !== undefined && version >= this.version) {
      this.#since = { steps: [], clients: [] };
      [this.version, this.doc, this.docVersion] = [version, doc, version];
    }
    if (!Array.isArray(steps)) return;
    if (version !== this.version) return void this.#lost();
    this.version += steps.length;
    const batch = { steps, clients: steps.map(() => client) };
    this.#since.steps.push(...batch.steps);
    this.#since.clients.push(...batch.clients);
    for (const listener of this.#listeners) listener(batch);
  }

  /** Reports that steps are missing. */
  #lost() {
    if (this.failure) return this.failure;
    const message = "steps of the document are missing: the room's history is shorter than the document's";
    this.failure = Object.assign(new Error(message), { code: "refused", reason: "historyGone" });
    for (const listener of this.#failureListeners) listener(this.failure);
    return this.failure;
  }
}

/**
 * Opens the authority of a room. The room should contain nothing else.
 *
 * @param {Parley} parley
 * @param {string} name
 */
export const openAuthority = (parley, name) => new Authority(parley, name).open();
