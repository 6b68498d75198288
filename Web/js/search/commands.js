// What can be done now, as the search offers it beside the notes. Each part of the page says what of it is offered.

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
