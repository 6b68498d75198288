// Commands that the search offers beside the notes. Each part of the page provides its own.

/**
 * `keys`: the shortcut as it is printed, for example “Alt N”.
 *
 * @typedef {{label: string, icon?: string, keys?: string, run: () => void}} Command
 */

/** @type {(() => Command[])[]} */
const sources = [];

/** @param {() => Command[]} source Called each time. */
export const offer = (source) => void sources.push(source);

export const commandsNow = () => sources.flatMap((source) => source());
