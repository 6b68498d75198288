// A small chart of the last minutes: lines over time, as SVG.

const svgSpace = "http://www.w3.org/2000/svg";
/** Minimum time between the left and the right edge; milliseconds. */
const spanMin = 30_000;
/** Pixels for the width of the line. */
const margin = 2;

/** @typedef {{time: number, values: (number | undefined)[]}} Sample Milliseconds; one value for each line. */

/**
 * Returns the paths of one line. The line breaks where there is no value.
 *
 * @param {Sample[]} samples Ascending by time.
 * @param {number} line The index of its values.
 * @param {{from: number, to: number, top: number, width: number, height: number}} frame `from` and `to`: milliseconds;
 * `top`: the value at the upper edge; the size in pixels.
 * @returns {{line: string, area: string}}
 */
export function pathsOf(samples, line, { from, to, top, width, height }) {
  const x = (/** @type {number} */ time) => ((time - from) / (to - from)) * width;
  const y = (/** @type {number} */ value) => height - margin - (value / top) * (height - 2 * margin);
  /** @type {[number, number][][]} */
  const runs = [[]];
  for (const { time, values } of samples) {
    const value = values[line];
    if (time < from) continue;
    if (value === undefined) runs.push([]);
    else runs[runs.length - 1]?.push([x(time), y(value)]);
  }
  let lines = "";
  let areas = "";
  for (const run of runs) {
    const [first] = run;
    const last = run[run.length - 1];
    if (!first || !last) continue;
    const points = run.map(([left, topmost]) => `${left.toFixed(1)} ${topmost.toFixed(1)}`).join("L");
    // A single value is a dot.
    lines += `M${points}${run.length === 1 ? "h0" : ""}`;
    areas += `M${first[0].toFixed(1)} ${height}L${points}L${last[0].toFixed(1)} ${height}Z`;
  }
  return { line: lines, area: areas };
}

/**
 * Returns the smallest number of 1, 2 or 5 times a power of ten that is not below the value.
 *
 * @param {number} value
 */
export function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

export class Sparkline {
  element = document.createElementNS(svgSpace, "svg");

  #span;
  #topMin;
  /** @type {{line: SVGPathElement, area: SVGPathElement}[]} */
  #paths = [];
  /** @type {Sample[]} */
  #samples = [];

  /**
   * @param {object} options
   * @param {number} options.lines The number of lines.
   * @param {number} options.span Maximum time between the left and the right edge; milliseconds.
   * @param {number} [options.topMin] Minimum value at the upper edge.
   */
  constructor({ lines, span, topMin = 1 }) {
    this.#span = span;
    this.#topMin = topMin;
    this.element.classList.add("sparkline");
    this.element.setAttribute("role", "img");
    for (let index = 0; index < lines; index += 1) {
      const area = document.createElementNS(svgSpace, "path");
      const line = document.createElementNS(svgSpace, "path");
      area.setAttribute("class", `spark-area spark-${index}`);
      line.setAttribute("class", `spark-line spark-${index}`);
      this.element.prepend(area, line);
      this.#paths.push({ line, area });
    }
    new ResizeObserver(() => this.#redraw()).observe(this.element);
  }

  /**
   * @param {Sample[]} samples
   * @param {string} label A description for screen readers.
   */
  draw(samples, label) {
    this.#samples = samples;
    this.element.setAttribute("aria-label", label);
    this.#redraw();
  }

  #redraw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const last = this.#samples[this.#samples.length - 1];
    if (width === 0 || !last) return;
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const values = this.#samples.flatMap((sample) => sample.values.map((value) => value ?? 0));
    const top = Math.max(this.#topMin, roundUp(Math.max(0, ...values) * 1.05));
    // The first samples are spread over the whole width.
    const first = this.#samples[0]?.time ?? last.time;
    const span = Math.min(this.#span, Math.max(spanMin, last.time - first));
    const frame = { from: last.time - span, to: last.time, top, width, height };
    this.#paths.forEach(({ line, area }, index) => {
      const paths = pathsOf(this.#samples, index, frame);
      line.setAttribute("d", paths.line);
      area.setAttribute("d", paths.area);
    });
  }
}
