// Tells keys that are shortcuts of the page from keys that type a character.
//
// Alt and a letter, as far as that types nothing. On a Mac it does: Option and L is "@" on a German
// keyboard, Option and N begins "ñ" or is "ń"; there Control has to be held as well. With AltGr, which
// Windows reports as Control and Alt, a key types what is printed on its right side.

/** @typedef {"create" | "list" | "text" | "history" | "comment"} Shortcut */

/**
 * By the letter that the key has without Alt, and by its place, for keyboards without Latin letters.
 *
 * @type {Record<string, Shortcut>}
 */
const shortcuts = { n: "create", l: "list", e: "text", h: "history", m: "comment" };

/** @param {{platform?: string, userAgentData?: {platform?: string}}} browser A `navigator`. */
export const isApple = ({ platform, userAgentData }) =>
  /^(mac|ip)/i.test(userAgentData?.platform || platform || "");

/**
 * @param {Pick<KeyboardEvent, "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "isComposing"
 *   | "getModifierState">} event A `keydown`.
 * @param {boolean} isMac
 * @returns {Shortcut | undefined}
 */
export function shortcutOf(event, isMac) {
  const { key, code, altKey, ctrlKey, metaKey, shiftKey, isComposing } = event;
  if (!altKey || metaKey || shiftKey || isComposing || ctrlKey !== isMac) return undefined;
  const byPlace = shortcuts[/^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? ""];
  // With Control, what Option makes of a key is not typed.
  if (isMac) return byPlace;
  if (event.getModifierState("AltGraph")) return undefined;
  if (/^[a-z]$/i.test(key)) return shortcuts[key.toLowerCase()];
  // "т" is where "n" is, on a keyboard that has no "n". Another Latin letter, a sign, a dead key or the
  // like is what a layout gives for the key with Alt.
  return /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key) ? byPlace : undefined;
}

/**
 * Whether a key belongs to a word that is being composed. For the key that ends it, Safari reports no composition.
 *
 * @param {Pick<KeyboardEvent, "isComposing" | "keyCode">} event A `keydown`.
 */
export const isOfComposition = ({ isComposing, keyCode }) => isComposing || keyCode === 229;

/**
 * Whether a key asks for the search: Control and K, on a Mac Command and K.
 *
 * @param {Pick<KeyboardEvent, "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "isComposing">} event
 *   A `keydown`.
 * @param {boolean} isMac
 */
export function isSearchKey({ key, code, altKey, ctrlKey, metaKey, shiftKey, isComposing }, isMac) {
  if (altKey || shiftKey || isComposing || ctrlKey === isMac || metaKey !== isMac) return false;
  return key.toLowerCase() === "k" || (code === "KeyK" && !/^\p{Script=Latin}$/u.test(key));
}

/**
 * Whether a key asks for help: F1, or a question mark where nothing is typed.
 *
 * @param {Pick<KeyboardEvent, "key" | "altKey" | "ctrlKey" | "metaKey" | "isComposing">} event A `keydown`.
 * @param {boolean} isTyping Whether keys go into a text.
 */
export const isHelpKey = ({ key, altKey, ctrlKey, metaKey, isComposing }, isTyping) =>
  !altKey && !ctrlKey && !metaKey && !isComposing && (key === "F1" || (key === "?" && !isTyping));

/**
 * An editor's bindings without those of Alt and a key that gives a character on some layout.
 *
 * @template {{key?: string, mac?: string, win?: string, linux?: string}} Binding
 * @param {Binding[]} bindings
 * @returns {Binding[]}
 */
export function withoutCharacters(bindings) {
  return bindings.flatMap((binding) => {
    const kept = { ...binding };
    for (const platform of /** @type {const} */ (["key", "win", "linux", "mac"])) {
      const keys = kept[platform] ?? "";
      // With Control or Command, a Mac's Option types no character.
      const isTyping = /\bAlt-(.+-)?.$/.test(keys) && !(platform === "mac" && /\b(Ctrl|Cmd|Mod|Meta)-/.test(keys));
      if (isTyping) delete kept[platform];
    }
    return kept.key || kept.mac || kept.win || kept.linux ? [kept] : [];
  });
}
