// Addresses that a text may link to.

/** Where a link may lead. */
const schemes = new Set(["http:", "https:", "mailto:", "tel:"]);

/**
 * The address that a link leads to; undefined for one that is not followed, such as a script.
 *
 * @param {string} url Without the escapes of Markdown.
 */
export function safeAddress(url) {
  // A backslash, which a browser takes for "/", is a character like others.
  const plain = url.trim().replaceAll("\\", "%5C");
  try {
    const address = new URL(/^www\./i.test(plain) ? `https://${plain}` : plain, location.href);
    return schemes.has(address.protocol) ? address.href : undefined;
  } catch {
    return undefined;
  }
}
