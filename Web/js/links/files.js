// Files of notes on the page: how texts refer to them, and how they are loaded.
//
// An img element cannot send a token, so a file is fetched with this user's token, and shown from memory. The server
// sends other files, and pictures too large to be drawn, with another type; they become links.

import { at } from "../ground/base.js";
import { authorised } from "../client/http.js";
import { t } from "../ground/language.js";

// Excludes names that lead out of the note: browsers take a backslash for "/", and "%2e" for ".".
const reference = /^files\/([0-9a-f]{64})\/(?!(?:\.|%2[eE]){1,2}$)([^/\\?#\s]+)$/;

/**
 * Returns the file that an address in a note's text refers to; undefined for any other address.
 *
 * @param {string} url
 */
export const fileIn = (url) => (reference.test(url) ? url.slice("files/".length) : undefined);

/** @param {string} file */
export function nameOfFile(file) {
  const name = file.slice(file.indexOf("/") + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** @param {string} note @param {string} file */
const pathOfFile = (note, file) => `/api/notes/${encodeURIComponent(note)}/files/${file}`;

/**
 * @param {string} note
 * @param {string} file
 * @returns {Promise<Blob | undefined>} Undefined if the note does not have the file.
 */
export async function fetchFile(note, file) {
  // The address contains the hash of the content, so the browser may cache the file.
  const response = await authorised(pathOfFile(note, file), {}, "default");
  return response?.blob();
}

/** @type {Map<string, Promise<string | undefined>>} Addresses of pictures of one note; undefined for other files. */
let addresses = new Map();

/** @param {string} note @param {string} file */
function addressOf(note, file) {
  const known = addresses.get(file);
  if (known) return known;
  const made = fetchFile(note, file).then((blob) => {
    if (!blob) throw new Error("no such file");
    return blob.type.startsWith("image/") ? URL.createObjectURL(blob) : undefined;
  });
  addresses.set(file, made);
  return made;
}

/** Releases the pictures of a note that is no longer shown. */
export function forgetFiles() {
  for (const address of addresses.values()) void address.then((url) => url && URL.revokeObjectURL(url)).catch(() => {});
  addresses = new Map();
}

/**
 * Replaces a picture that is not drawn by a link.
 *
 * @param {HTMLElement} image
 * @param {string} file
 */
function putLink(image, file) {
  const link = document.createElement("a");
  link.className = "file";
  link.dataset.file = file;
  link.textContent = image.getAttribute("alt") || nameOfFile(file);
  image.replaceWith(link);
  return link;
}

/** @param {HTMLImageElement} image @param {string} note @param {string} file */
async function showPicture(image, note, file) {
  try {
    const address = await addressOf(note, file);
    if (address !== undefined) image.src = address;
    else prepareLink(putLink(image, file), note, file);
  } catch {
    addresses.delete(file);
    const missing = document.createElement("span");
    missing.className = "file-missing";
    missing.textContent = t("file.missing", { name: image.alt || nameOfFile(file) });
    image.replaceWith(missing);
  }
}

/** @param {HTMLAnchorElement} link @param {string} note @param {string} file */
function prepareLink(link, note, file) {
  link.href = at(pathOfFile(note, file));
  link.download = nameOfFile(file);
}

/** @type {WeakMap<Element, () => void>} Functions that load an element's file. */
const awaited = new WeakMap();
/** @type {IntersectionObserver | undefined} */
let nearness;

/** @param {IntersectionObserverEntry[]} entries */
function cameNear(entries) {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    nearness?.unobserve(target);
    awaited.get(target)?.();
    awaited.delete(target);
  }
}

/**
 * Loads the files of a page, each when it comes near the visible part.
 *
 * @param {HTMLElement} host
 * @param {string} note
 */
export function showFiles(host, note) {
  nearness ??= new IntersectionObserver(cameNear, { rootMargin: "600px" });
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (host.querySelectorAll("[data-file]"))) {
    const { file } = element.dataset;
    if (file === undefined || element.dataset.isKnown) continue;
    element.dataset.isKnown = "true";
    if (element instanceof HTMLImageElement) {
      awaited.set(element, () => void showPicture(element, note, file));
      nearness.observe(element);
    } else if (element instanceof HTMLAnchorElement) prepareLink(element, note, file);
  }
}

/**
 * Downloads a file of the note.
 *
 * @param {string} note
 * @param {string} file
 */
export async function saveFile(note, file) {
  const blob = await fetchFile(note, file);
  if (!blob) return false;
  const link = document.createElement("a");
  // As a byte stream, so that no file is opened in the page itself.
  link.href = URL.createObjectURL(new Blob([blob], { type: "application/octet-stream" }));
  link.download = nameOfFile(file);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return true;
}

/**
 * Embeds the pictures in a page for download or printing.
 *
 * @param {HTMLElement} host
 * @param {string} note
 */
export async function embedFiles(host, note) {
  for (const image of host.querySelectorAll("img")) {
    const { file } = image.dataset;
    if (file === undefined) continue;
    const blob = await fetchFile(note, file);
    if (!blob?.type.startsWith("image/")) continue;
    image.src = await new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => resolve(String(reader.result)));
      reader.addEventListener("error", () => reject(reader.error));
      reader.readAsDataURL(blob);
    });
  }
}
