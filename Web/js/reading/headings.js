// Headings of a page, and their names in addresses (slugs).

/** The prefix of a heading's element id. */
const mark = "heading-";

/**
 * Returns the name of a heading in an address. Other services form it the same way, so links to it still work.
 *
 * @param {string} text
 */
export const slugOf = (text) =>
  text.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replace(/ /g, "-") || "section";

/**
 * Returns unique slugs for headings, of which several may have the same text.
 *
 * @param {string[]} texts
 */
export function slugsOf(texts) {
  /** @type {Map<string, number>} The last suffix used for each name. */
  const counts = new Map();
  return texts.map((text) => {
    const wanted = slugOf(text);
    let slug = wanted;
    // “A”, “A” and “A 1” need three slugs.
    for (let count = counts.get(wanted) ?? 0; counts.has(slug); slug = `${wanted}-${count}`) {
      count += 1;
      counts.set(wanted, count);
    }
    counts.set(slug, counts.get(slug) ?? 0);
    return slug;
  });
}

/** @param {HTMLElement} block */
const headingIn = (block) => {
  const first = /** @type {HTMLElement | null} */ (block.firstElementChild);
  return first && /^H[2-6]$/.test(first.tagName) ? first : undefined;
};

/**
 * Returns the text of a heading. A formula is represented by its source.
 *
 * @param {HTMLElement} element
 * @returns {string}
 */
export const wordsOf = (element) =>
  [...element.childNodes]
    .map((node) => {
      const child = /** @type {HTMLElement} */ (node);
      return child.dataset?.formula ?? (child.dataset ? wordsOf(child) : (node.textContent ?? String(node)));
    })
    .join("");

/**
 * Gives the headings of a page their ids.
 *
 * @param {HTMLElement[]} blocks
 * @returns {{heading: HTMLElement, slug: string, level: number}[]}
 */
export function nameHeadings(blocks) {
  const headings = blocks.flatMap((block) => headingIn(block) ?? []);
  const slugs = slugsOf(headings.map(wordsOf));
  return headings.map((heading, index) => {
    const slug = slugs[index] ?? "";
    heading.id = mark + slug;
    return { heading, slug, level: Number(/level-(\d)/.exec(heading.className)?.[1] ?? 1) };
  });
}

/** @param {string} slug @returns {string} The link to a heading of the same page. */
export const anchorOf = (slug) => `#${mark}${encodeURIComponent(slug)}`;

/**
 * @param {HTMLElement} host A page.
 * @param {string} slug
 * @returns {HTMLElement | null}
 */
export const headingOn = (host, slug) => host.querySelector(`#${CSS.escape(mark + slug)}`);
