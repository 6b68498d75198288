// Distinguishes the page's shortcuts from keys that type a character.
//
// A shortcut is Alt and a letter, unless they type a character. On a Mac they do: Option and L type "@" on a German
// keyboard, and Option and N begin "ñ", so Control is needed as well. With AltGr, which Windows reports as Control and
// Alt, a key types its third character.

/** @typedef {"create" | "list" | "text" | "history" | "comment"} Shortcut */

/**
 * By letter; on keyboards without Latin letters, by the position of the key.
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
  // With Control, Option types no character, so the position of the key decides.
  if (isMac) return byPlace;
  if (event.getModifierState("AltGraph")) return undefined;
  if (/^[a-z]$/i.test(key)) return shortcuts[key.toLowerCase()];
  // "т" is at the position of "n" on a keyboard without "n". Another Latin letter, a sign or a dead key is a character
  // that the layout types with Alt.
  return /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key) ? byPlace : undefined;
}

/**
 * Whether a key belongs to a word that is being composed. For the key that ends it, Safari reports only `keyCode`.
 *
 * @param {Pick<KeyboardEvent, "isComposing" | "keyCode">} event A `keydown`.
 */
export const isOfComposition = ({ isComposing, keyCode }) => isComposing || keyCode === 229;

/**
 * Whether a key opens the search: Control and K, on a Mac Command and K.
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
 * Whether a key opens the help: F1, or a question mark outside text fields.
 *
 * @param {Pick<KeyboardEvent, "key" | "altKey" | "ctrlKey" | "metaKey" | "isComposing">} event A `keydown`.
 * @param {boolean} isTyping Whether the keys go into a text field.
 */
export const isHelpKey = ({ key, altKey, ctrlKey, metaKey, isComposing }, isTyping) =>
  !altKey && !ctrlKey && !metaKey && !isComposing && (key === "F1" || (key === "?" && !isTyping));

/**
 * Returns an editor's key bindings without those for Alt and a key that types a character on some layout.
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
