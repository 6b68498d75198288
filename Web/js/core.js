// OTCore, the gateway's own algebra, as WebAssembly (Web/wasm/OTWeb.swift holds the other half).
//
// Numbers cross as arguments, everything else through the module's linear memory: an input buffer
// that this side fills before a call, and an output buffer that it reads after one.

/**
 * An edit of the editor's text: `from` and `to` count UTF-16 units of the text before the edit.
 * Several together are ascending, do not overlap, and all count in the text before any of them.
 *
 * @typedef {{from: number, to: number, insert: string}} TextChange
 */

/**
 * A change to send to the server. `operation` is JSON text, and stays the same bytes for ever.
 *
 * @typedef {{sequence: number, revision: number, operation: string}} OutgoingChange
 */

/**
 * A document as the server sends it.
 *
 * @typedef {{epoch: string, revision: number, text: string, lastSequence: number}} Snapshot
 */

/** Thrown when OTCore refuses: the server and this client have come apart, or a call was wrong. */
export class CoreError extends Error {}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class Core {
  /** @type {any} */
  #exports;

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.#exports = instance.exports;
  }

  /**
   * @param {PromiseLike<Response> | Response | BufferSource} source
   * @returns {Promise<Core>}
   */
  static async load(source) {
    const awaited = await source;
    if (typeof Response !== "undefined" && awaited instanceof Response) {
      if (!awaited.ok) throw new CoreError(`the core was not served: ${awaited.status}`);
      const { instance } = await WebAssembly.instantiateStreaming(awaited);
      return new Core(instance);
    }
    const { instance } = await WebAssembly.instantiate(/** @type {BufferSource} */ (awaited));
    return new Core(instance);
  }

  /** @param {Snapshot} snapshot As `joined` carries it. @returns {Session} */
  openSession(snapshot) {
    return new Session(this, this.call("session_open", ...this.putSnapshot(snapshot)));
  }

  /**
   * @param {string} edits As a session exported them.
   * @param {string} [serverText] That it stood on. Other versions of the page exported it with the edits.
   * @returns {Session}
   */
  restoreSession(edits, serverText = "") {
    const editsBytes = encoder.encode(edits);
    const textBytes = encoder.encode(serverText);
    const bytes = new Uint8Array(editsBytes.length + textBytes.length);
    bytes.set(editsBytes);
    bytes.set(textBytes, editsBytes.length);
    this.putBytes(bytes);
    return new Session(this, this.call("session_import", editsBytes.length, textBytes.length));
  }

  /**
   * Both operations moved past each other, `left`'s inserts first; all are JSON text.
   *
   * @param {string} left
   * @param {string} right
   * @returns {{leftAfterRight: string, rightAfterLeft: string}}
   */
  transform(left, right) {
    const leftBytes = encoder.encode(left);
    const rightBytes = encoder.encode(right);
    const bytes = new Uint8Array(leftBytes.length + rightBytes.length);
    bytes.set(leftBytes);
    bytes.set(rightBytes, leftBytes.length);
    this.putBytes(bytes);
    const leftCount = this.call("operation_transform", leftBytes.length, rightBytes.length);
    const output = this.output();
    return {
      leftAfterRight: decoder.decode(output.subarray(0, leftCount)),
      rightAfterLeft: decoder.decode(output.subarray(leftCount)),
    };
  }

  /**
   * @param {string} operation JSON text.
   * @param {string} text
   * @returns {string}
   */
  apply(operation, text) {
    const operationBytes = encoder.encode(operation);
    const textBytes = encoder.encode(text);
    const bytes = new Uint8Array(operationBytes.length + textBytes.length);
    bytes.set(operationBytes);
    bytes.set(textBytes, operationBytes.length);
    this.putBytes(bytes);
    this.call("operation_apply", operationBytes.length, textBytes.length);
    return this.outputText();
  }

  // For Session.

  /** @param {string} text @returns {number} Its bytes. */
  put(text) {
    const bytes = encoder.encode(text);
    this.putBytes(bytes);
    return bytes.length;
  }

  /**
   * @param {Snapshot} snapshot
   * @returns {[number, number, number, number]} What the call takes beside.
   */
  putSnapshot({ text, epoch, revision, lastSequence }) {
    const textBytes = encoder.encode(text);
    const epochBytes = encoder.encode(epoch);
    const bytes = new Uint8Array(textBytes.length + epochBytes.length);
    bytes.set(textBytes);
    bytes.set(epochBytes, textBytes.length);
    this.putBytes(bytes);
    return [textBytes.length, epochBytes.length, revision, lastSequence];
  }

  /** @param {Uint8Array} bytes */
  putBytes(bytes) {
    const pointer = this.#exports.input_reserve(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, pointer, bytes.length).set(bytes);
  }

  /**
   * @param {string} name
   * @param {number[]} args
   * @returns {number} At least 0.
   */
  call(name, ...args) {
    const result = this.#exports[name](...args);
    if (result < 0) throw new CoreError(`${name}: ${this.outputText() || result}`);
    return result;
  }

  /**
   * The output of the last call; valid until the next one.
   *
   * @returns {Uint8Array}
   */
  output() {
    const { memory, output_address, output_count } = this.#exports;
    return new Uint8Array(memory.buffer, output_address(), output_count());
  }

  outputText() {
    return decoder.decode(this.output());
  }

  /** @returns {Int32Array} */
  outputNumbers() {
    return new Int32Array(this.output().slice().buffer);
  }
}

/** The text of one document as this client has it, and what keeps it in step with the server. */
export class Session {
  /**
   * The change that is on its way; resent as it is after a loss.
   *
   * @type {OutgoingChange | undefined}
   */
  inFlight;
  /** Whether a text has come in its way: it cannot be sent again, but goes out anew after a join. */
  isOvertaken = false;
  revision = 0;
  /** Edits made here that the server has not confirmed. */
  unconfirmedCount = 0;
  epoch = "";

  #core;
  #handle;

  /** @param {Core} core @param {number} handle */
  constructor(core, handle) {
    this.#core = core;
    this.#handle = handle;
    this.#readEpoch();
    this.#refresh();
  }

  /** Frees the session's memory; nothing may be called afterwards. */
  close() {
    this.#core.call("session_close", this.#handle);
  }

  /**
   * An edit made here.
   *
   * @param {TextChange[]} changes
   * @returns {OutgoingChange | undefined} What to send now.
   */
  edit(changes) {
    const slabs = changes.map(({ insert }) => encoder.encode(insert));
    const slabCount = slabs.reduce((sum, slab) => sum + slab.length, 0);
    const bytes = new Uint8Array(changes.length * 12 + slabCount);
    const numbers = new Int32Array(bytes.buffer, 0, changes.length * 3);
    let position = changes.length * 12;
    changes.forEach(({ from, to }, index) => {
      const slab = /** @type {Uint8Array} */ (slabs[index]);
      numbers.set([from, to, slab.length], index * 3);
      bytes.set(slab, position);
      position += slab.length;
    });
    this.#core.putBytes(bytes);
    return this.#outgoing(this.#core.call("session_edit", this.#handle, changes.length));
  }

  /**
   * Somebody else's operation, as the server stored it.
   *
   * @param {string} operation JSON text.
   * @param {number} revision That it made.
   * @param {number} [author] The key of the peer who made it; its caret follows its text.
   * @returns {TextChange[]} For the editor.
   */
  receive(operation, revision, author = 0) {
    const count = this.#core.put(operation);
    this.#core.call("session_receive", this.#handle, count, revision, author);
    const changes = this.#readChanges();
    this.#refresh();
    return changes;
  }

  /**
   * @param {number} sequence
   * @param {number} revision
   * @returns {OutgoingChange | undefined} What to send next.
   */
  acknowledge(sequence, revision) {
    return this.#outgoing(this.#core.call("session_acknowledge", this.#handle, sequence, revision));
  }

  /** The line is lost: edits are kept from now on. */
  disconnect() {
    this.#core.call("session_disconnect", this.#handle);
    this.#refresh();
  }

  /**
   * An own change that is not in flight came by: this session was restored from a state older than
   * it, so whatever waits here is in it.
   *
   * @param {string} operation JSON text.
   * @param {number} sequence
   * @param {number} revision
   * @returns {TextChange[]} For the editor.
   */
  supersede(operation, sequence, revision) {
    const count = this.#core.put(operation);
    this.#core.call("session_supersede", this.#handle, count, sequence, revision);
    const changes = this.#readChanges();
    this.#refresh();
    return changes;
  }

  /**
   * The server refused the change in flight for good. Its edits wait until `release`.
   *
   * @param {number} sequence
   */
  refuse(sequence) {
    this.#core.call("session_refuse", this.#handle, sequence);
    this.inFlight = undefined;
    this.#refresh();
  }

  /** @returns {OutgoingChange | undefined} What was refused, with all edits since. */
  release() {
    return this.#outgoing(this.#core.call("session_release", this.#handle));
  }

  /**
   * The line is back, and what was missed has been given to `receive` and `acknowledge`.
   *
   * @param {number} [lastSequence] Given when the server knows this client under a new id: the last
   *   sequence number it has from that.
   * @returns {OutgoingChange | undefined} What to send now: the change in flight as it was first
   *   sent, or the next one.
   */
  reconnect(lastSequence = -1) {
    return this.#outgoing(this.#core.call("session_reconnect", this.#handle, lastSequence));
  }

  /**
   * The server cannot tell what was missed, and sent its whole text: edits at hand move there.
   *
   * @param {Snapshot} snapshot
   * @param {{isSameConnection?: boolean}} [options] Whether it came unasked, on the connection that
   *   was there: then a change in flight will still be answered.
   * @returns {{changes: TextChange[], outgoing: OutgoingChange | undefined}}
   */
  rebase(snapshot, options) {
    const isSame = options?.isSameConnection ? 1 : 0;
    const numbers = this.#core.putSnapshot(snapshot);
    const isOutgoing = this.#core.call("session_rebase", this.#handle, ...numbers, isSame);
    const changes = this.#readChanges();
    this.#readEpoch();
    return { changes, outgoing: this.#outgoing(isOutgoing) };
  }

  /** @returns {string} */
  text() {
    this.#core.call("session_text", this.#handle);
    return this.#core.outputText();
  }

  /**
   * The edits that are not confirmed, and what sends them, for `restoreSession`. It takes the text beside
   * them, `serverText`, which changes with `revision` and `epoch` alone.
   *
   * @returns {string}
   */
  exportEdits() {
    this.#core.call("session_export", this.#handle);
    return this.#core.outputText();
  }

  /** The server's text at `revision`. */
  serverText() {
    this.#core.call("session_server_text", this.#handle);
    return this.#core.outputText();
  }

  /**
   * UTF-16 units to Unicode scalars.
   *
   * @param {number} anchor
   * @param {number} head
   */
  scalarSelection(anchor, head) {
    this.#core.call("session_scalar_selection", this.#handle, anchor, head);
    const [scalarAnchor = 0, scalarHead = 0] = this.#core.outputNumbers();
    return { anchor: scalarAnchor, head: scalarHead };
  }

  /**
   * Where a peer's selections stand in the server's text at this session's revision.
   *
   * @param {number} key Positive.
   * @param {[number, number][]} selections Pairs of anchor and head, in Unicode scalars.
   */
  placePeer(key, selections) {
    const numbers = selections.flatMap(([anchor, head]) => [anchor, head]).map((n) => Math.max(0, n | 0));
    this.#core.putBytes(new Uint8Array(new Int32Array(numbers).buffer));
    this.#core.call("session_place_peer", this.#handle, key, numbers.length >> 1);
  }

  /** @param {number} key */
  removePeer(key) {
    this.#core.call("session_remove_peer", this.#handle, key);
  }

  removeAllPeers() {
    this.#core.call("session_remove_peer", this.#handle, 0);
  }

  /**
   * In UTF-16 units of the local text.
   *
   * @returns {{key: number, anchor: number, head: number}[]}
   */
  peers() {
    this.#core.call("session_peers", this.#handle);
    const numbers = this.#core.outputNumbers();
    const peers = [];
    for (let index = 0; index + 2 < numbers.length; index += 3) {
      const [key = 0, anchor = 0, head = 0] = numbers.subarray(index, index + 3);
      peers.push({ key, anchor, head });
    }
    return peers;
  }

  /** @param {number} isOutgoing */
  #outgoing(isOutgoing) {
    // A new change may have the number and the revision of the one that it takes the place of.
    if (isOutgoing) this.inFlight = undefined;
    this.#refresh();
    return isOutgoing ? this.inFlight : undefined;
  }

  #readEpoch() {
    this.#core.call("session_epoch", this.#handle);
    this.epoch = this.#core.outputText();
  }

  #refresh() {
    const core = this.#core;
    core.call("session_state", this.#handle);
    const [revision = 0, unconfirmed = 0, sequence = 0, base = 0, isOvertaken = 0] = core.outputNumbers();
    this.revision = revision;
    this.unconfirmedCount = unconfirmed;
    this.isOvertaken = isOvertaken === 1;
    if (sequence === 0) {
      this.inFlight = undefined;
    } else if (this.inFlight?.sequence !== sequence || this.inFlight.revision !== base) {
      core.call("session_in_flight", this.#handle);
      this.inFlight = { sequence, revision: base, operation: core.outputText() };
    }
  }

  /** @returns {TextChange[]} */
  #readChanges() {
    const output = this.#core.output().slice();
    const [count = 0] = new Int32Array(output.buffer, 0, 1);
    const numbers = new Int32Array(output.buffer, 4, count * 3);
    const changes = [];
    let position = 4 + count * 12;
    for (let index = 0; index < count; index += 1) {
      const [from = 0, to = 0, length = 0] = numbers.subarray(index * 3, index * 3 + 3);
      const insert = decoder.decode(output.subarray(position, position + length));
      position += length;
      changes.push({ from, to, insert });
    }
    return changes;
  }
}
