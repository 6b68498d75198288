// Maps syntax tags to class names (`token-heading1`, `token-strong`, …); the style sheets set the colours.

export const highlighter = {
  /** @param {readonly {name?: string}[]} tags */
  style(tags) {
    let classes = "";
    for (const tag of tags) {
      if (tag.name) classes += ` token-${tag.name.replace(/[^A-Za-z0-9]+/g, "-")}`;
    }
    return classes.trimStart() || null;
  },
};
