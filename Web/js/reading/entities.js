// Entities and escapes of Markdown.

const parser = new DOMParser();

/**
 * Decodes an entity, if HTML defines it; returns others unchanged.
 *
 * @param {string} entity For example "&amp;".
 */
export function decoded(entity) {
  if (!/^&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w*);$/i.test(entity)) return entity;
  // Parsing runs no script, and only the text of the document is used.
  const text = parser.parseFromString(entity, "text/html").documentElement.textContent ?? entity;
  // In an unknown name HTML decodes a known prefix, as "&not" in "&notit;", and leaves the rest.
  return text.endsWith(";") && entity !== "&semi;" && entity !== "&#59;" && !/^&#x0*3b;$/i.test(entity) ? entity : text;
}

/** @param {string} text An address, a title or a language, whose escapes and entities are decoded. */
export const unescaped = (text) =>
  text.replace(/\\([!-/:-@[-`{-~])|&#?\w{1,40};/g, (found, sign) => sign ?? decoded(found));
