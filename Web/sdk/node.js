// The SDK in Node. The package parley-client names this file for Node, and parley.js for everything else.
//
//     import { connect } from "parley-client";
//     import { WebSocket } from "ws"; // Node 22 and later have a WebSocket of their own.
//
//     const parley = await connect("https://notes.example.org", { name: "bot", token, WebSocket });
//
// Nothing is stored: unsaved edits end with the process. Await `note.saved` before it ends.

// @ts-expect-error: Types of Node are not installed here.
import { readFile } from "node:fs/promises";
import { ParleyError, connect as connectByCore } from "./parley.js";

export * from "./parley.js";

/** @type {Promise<string> | undefined} The core's WebAssembly as an address: Node fetches no files. */
let core;

/**
 * Connects to a gateway, as in a page.
 *
 * @param {string | URL} url The gateway's address.
 * @param {import("./client.js").Options & { WebSocket?: any }} [options] With `WebSocket`, the class for connections, if
 * Node has none: that of the package ws.
 * @throws {ParleyError} unsupported, unreachable, invalid
 */
export async function connect(url, options = {}) {
  const { WebSocket: handed, ...rest } = options;
  // The core's connections use the global one.
  if (handed !== undefined) globalThis.WebSocket ??= handed;
  if (globalThis.WebSocket === undefined) {
    throw new ParleyError("unsupported", "expected a WebSocket, this version of Node has none; hand in that of the package "
      + "ws: connect(url, { WebSocket })");
  }
  core ??= readFile(new URL("client.wasm", import.meta.url), "base64").then(
    (/** @type {string} */ text) => `data:application/wasm;base64,${text}`,
  );
  return connectByCore(url, { ...rest, core: rest.core ?? (await core) });
}
