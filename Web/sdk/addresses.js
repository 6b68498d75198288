// Addresses in a note with formatting. An editor draws what it is given, and in an address a browser runs scripts.

const ofLinks = new Set(["http", "https", "mailto", "tel"]);
const ofFiles = new Set(["http", "https"]);
const picture = /^data:image\/(?:png|gif|jpeg|webp|avif)[;,]/i;

/** @param {unknown} address @returns {string | undefined} Its scheme, as browsers read it; undefined for a relative one. */
function schemeOf(address) {
  // Browsers leave out control characters and blanks.
  const plain = String(address).replace(/[\0-\x20]/g, "");
  return /^([a-z][a-z0-9+.-]*):/i.exec(plain)?.[1]?.toLowerCase();
}

/** @param {unknown} address @returns {boolean} Whether a link may lead there. */
export function isLink(address) {
  const scheme = schemeOf(address);
  return scheme === undefined || ofLinks.has(scheme);
}

/** @param {unknown} address @returns {boolean} Whether a picture, a video or a frame may be loaded from there. */
export function isSource(address) {
  const scheme = schemeOf(address);
  return scheme === undefined || ofFiles.has(scheme) || picture.test(String(address));
}
