// Entities and escapes of Markdown.

const parser = new DOMParser();

/** @param {string} entity "&amp;". Returned as it is if HTML has no such entity. */
export function decoded(entity) {
  if (!/^&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w*);$/i.test(entity)) return entity;
  // Nothing runs in a document that is only parsed, and only its text is taken.
  const text = parser.parseFromString(entity, "text/html").documentElement.textContent ?? entity;
  // HTML reads the beginning of an unknown name, as "&not" in "&notit;", and leaves the rest.
  return text.endsWith(";") && entity !== "&semi;" && entity !== "&#59;" && !/^&#x0*3b;$/i.test(entity) ? entity : text;
}

/** @param {string} text Of an address, a title or a language: without its escapes and entities. */
export const unescaped = (text) =>
  text.replace(/\\([!-/:-@[-`{-~])|&#?\w{1,40};/g, (found, sign) => sign ?? decoded(found));
