// Formats numbers for people.

/**
 * Formats a number, with one decimal place below 100.
 *
 * @param {number} value
 */
export const number = (value) =>
  value.toLocaleString(undefined, { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });

/** @param {number} count */
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${number(value)} ${units[unit]}`;
}

/** @param {number} microseconds */
export const latency = (microseconds) =>
  microseconds < 1_000
    ? `${number(microseconds)} µs`
    : microseconds < 1_000_000
      ? `${number(microseconds / 1_000)} ms`
      : `${number(microseconds / 1_000_000)} s`;

/**
 * Formats a duration by its two largest units: “3 d 4 h”.
 *
 * @param {number} milliseconds
 */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  /** @type {[number, string][]} */
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`).join(" ");
}
