// Commands that the search offers beside the notes. Each part of the page provides its own.

/**
 * `keys` as they are printed: “Alt N”.
 *
 * @typedef {{label: string, icon?: string, keys?: string, run: () => void}} Command
 */

/** @type {(() => Command[])[]} */
const sources = [];

/** @param {() => Command[]} source Asked each time. */
export const offer = (source) => void sources.push(source);

export const commandsNow = () => sources.flatMap((source) => source());
