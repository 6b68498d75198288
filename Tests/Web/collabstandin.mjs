// A stand-in for the package prosemirror-collab, which is neither in Debian nor in PyPI: the same functions, written from
// its documentation, over ProseMirror's own steps.

/**
 * @typedef {{step: any, inverted: any}} Own A step that is not confirmed.
 * @typedef {{version: number, own: Own[]}} Collab
 */

/** @param {any} Plugin @param {any} PluginKey ProseMirror's classes. */
export function collabOver(Plugin, PluginKey) {
  const key = new PluginKey("collab");
  /** @param {any} state @returns {any} */
  const clientOf = (state) => key.get(state).spec.clientID;

  const collab = ({ version = 0, clientID = Math.floor(Math.random() * 2 ** 31) } = {}) => new Plugin({
    key, clientID,
    state: {
      init: () => ({ version, own: [] }),
      apply: (/** @type {any} */ transaction, /** @type {Collab} */ value) => {
        const next = transaction.getMeta(key);
        if (next) return next;
        const added = transaction.steps.map((/** @type {any} */ step, /** @type {number} */ index) => ({
          step, inverted: step.invert(transaction.docs[index]),
        }));
        return { version: value.version, own: [...value.own, ...added] };
      },
    },
  });

  /** @param {any} state */
  const sendableSteps = (state) => {
    const { version, own } = key.getState(state);
    if (own.length === 0) return null;
    return { version, steps: own.map((/** @type {Own} */ each) => each.step), clientID: clientOf(state) };
  };

  /** @param {any} state @param {any[]} steps @param {any[]} clients @returns {any} */
  const receiveTransaction = (state, steps, clients) => {
    const { version, own } = key.getState(state);
    const firstOther = clients.findIndex((client) => client !== clientOf(state));
    const confirmed = firstOther < 0 ? steps.length : firstOther;
    const rest = own.slice(confirmed);
    const others = steps.slice(confirmed);
    const transaction = state.tr;
    /** @type {Own[]} */
    const rebased = [];
    if (others.length > 0) {
      for (const { inverted } of [...rest].reverse()) transaction.step(inverted);
      for (const step of others) transaction.step(step);
      rest.forEach((/** @type {Own} */ each, /** @type {number} */ index) => {
        // From the document before this step, over its removal and that of those before it, to the present one.
        const mapped = each.step.map(transaction.mapping.slice(rest.length - index));
        const before = transaction.doc;
        if (!mapped || transaction.maybeStep(mapped).failed) return;
        transaction.mapping.setMirror(rest.length - index - 1, transaction.steps.length - 1);
        rebased.push({ step: mapped, inverted: mapped.invert(before) });
      });
    }
    const kept = others.length > 0 ? rebased : rest;
    return transaction.setMeta(key, { version: version + steps.length, own: kept });
  };

  return { collab, sendableSteps, receiveTransaction, getVersion: (/** @type {any} */ state) => key.getState(state).version };
}
