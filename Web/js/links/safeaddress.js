// Addresses that a text may link to.

/** The schemes that links may have. */
const schemes = new Set(["http:", "https:", "mailto:", "tel:"]);

/**
 * Returns the address that a link leads to; undefined if it must not be followed, for example a script.
 *
 * @param {string} url Without the escapes of Markdown.
 */
export function safeAddress(url) {
  // Browsers take a backslash for "/", so it is encoded.
  const plain = url.trim().replaceAll("\\", "%5C");
  try {
    const address = new URL(/^www\./i.test(plain) ? `https://${plain}` : plain, location.href);
    return schemes.has(address.protocol) ? address.href : undefined;
  } catch {
    return undefined;
  }
}
