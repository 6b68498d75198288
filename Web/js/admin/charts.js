// Tiles with figures and charts of the server's activity, now and in the last minutes.

import { countOf } from "../client/words.js";
import { bytes, latency, number } from "./figures.js";
import { Sparkline } from "./sparkline.js";

/**
 * The response of `GET /api/stats` (Documentation/HTTP.md).
 *
 * @typedef {{count: number, p50?: number, p90?: number, p99?: number}} Latencies Microseconds.
 * @typedef {{time: number, version: string, uptimeMilliseconds: number, isReady: boolean, isDemo: boolean,
 *   connections: {total: number, native: number, whaler: number, socketIO: number, bayeux: number, pusher: number,
 *     lagging: number, max: number},
 *   documents: {live: number, subscriptions: number}, rooms: {occupied: number}, store: {queued: number}, nodes: unknown[],
 *   process: {memoryBytes: number, openFiles: number, openFilesMax: number},
 *   totals: {changes: number, changesRefused: number},
 *   recent: {messagesReceivedPerSecond: number, framesSentPerSecond: number, changesPerSecond: number,
 *     connectionsOpenedPerSecond: number, processorPercent: number, commit: Latencies,
 *     acknowledgement: Latencies}}} Stats
 */

/** Maximum age of a chart's samples; milliseconds. */
const span = 5 * 60_000;

/**
 * @typedef {object} Tile
 * @property {string} name
 * @property {(stats: Stats) => (number | undefined)[]} values One for each line; the first is the large figure.
 * @property {(value: number) => string} format
 * @property {(stats: Stats) => string[]} details
 * @property {string[]} [lines] The names of the lines, if there are several.
 * @property {number} [topMin]
 */

const dialects = /** @type {const} */ ([
  ["native", "native"], ["whaler", "Whaler"], ["socketIO", "Socket.IO"], ["bayeux", "Bayeux"],
  ["pusher", "Pusher"],
]);

/** @param {Latencies} latencies @param {string} noun */
const latencyDetails = ({ count, p50 }, noun) =>
  count > 0 && p50 !== undefined ? [`half within ${latency(p50)}`, `${countOf(count, noun)} lately`] : ["none lately"];

/** @type {Tile[]} */
const tiles = [
  {
    name: "Connections",
    values: ({ connections }) => [connections.total],
    format: number,
    details: ({ connections }) => [
      ...dialects.filter(([key]) => connections[key] > 0).map(([key, name]) => `${number(connections[key])} ${name}`),
      ...(connections.lagging > 0 ? [`${number(connections.lagging)} lagging`] : []),
      `${number(connections.max)} at most`,
    ],
    topMin: 5,
  },
  {
    name: "Messages",
    values: ({ recent }) => [recent.framesSentPerSecond, recent.messagesReceivedPerSecond],
    format: (value) => `${number(value)}/s`,
    details: ({ recent }) => [`in ${number(recent.messagesReceivedPerSecond)}/s`],
    lines: ["out", "in"],
    topMin: 5,
  },
  {
    name: "Changes",
    values: ({ recent }) => [recent.changesPerSecond],
    format: (value) => `${number(value)}/s`,
    details: ({ totals, documents }) => [
      countOf(documents.live, "live note"),
      `${number(totals.changes)} in all`,
      ...(totals.changesRefused > 0 ? [`${number(totals.changesRefused)} refused`] : []),
    ],
  },
  {
    name: "Commit, 99 of 100 within",
    values: ({ recent }) => [recent.commit.p99, recent.commit.p50],
    format: latency,
    details: ({ recent, store }) => [
      ...latencyDetails(recent.commit, "commit"),
      ...(store.queued > 0 ? [`${number(store.queued)} waiting`] : []),
    ],
    lines: ["99 of 100", "half"],
    topMin: 1_000,
  },
  {
    name: "Acknowledged, 99 of 100 within",
    values: ({ recent }) => [recent.acknowledgement.p99, recent.acknowledgement.p50],
    format: latency,
    details: ({ recent }) => latencyDetails(recent.acknowledgement, "change"),
    lines: ["99 of 100", "half"],
    topMin: 1_000,
  },
  {
    name: "Memory",
    values: ({ process }) => [process.memoryBytes],
    format: bytes,
    details: ({ process, recent }) => [
      `${number(recent.processorPercent)} % of a core`,
      `${number(process.openFiles)} of ${countOf(process.openFilesMax, "open file")}`,
    ],
    topMin: 50_000_000,
  },
];

export class Charts {
  /** @type {Stats[]} */
  #history = [];
  #views;

  /** @param {HTMLElement} host */
  constructor(host) {
    this.#views = tiles.map((tile) => {
      const element = document.createElement("article");
      element.className = "chart";
      const name = document.createElement("h2");
      name.textContent = tile.name;
      const figure = document.createElement("p");
      figure.className = "chart-figure";
      const details = document.createElement("p");
      details.className = "chart-details";
      const lines = tile.lines?.length ?? 1;
      const sparkline = new Sparkline({ lines, span, topMin: tile.topMin });
      element.append(name, figure, sparkline.element, details);
      host.append(element);
      return { tile, figure, details, sparkline };
    });
  }

  /** @param {Stats} stats */
  add(stats) {
    // If the clock was set back, start again: the samples must be ascending.
    const last = this.#history[this.#history.length - 1];
    if (last && stats.time <= last.time) this.#history = [];
    this.#history = [...this.#history.filter(({ time }) => time >= stats.time - span), stats];
    for (const { tile, figure, details, sparkline } of this.#views) {
      const [now] = tile.values(stats);
      const text = now === undefined ? "–" : tile.format(now);
      figure.textContent = text;
      details.textContent = tile.details(stats).join(" · ");
      const samples = this.#history.map((one) => ({ time: one.time, values: tile.values(one) }));
      const highest = Math.max(0, ...samples.map(({ values }) => values[0] ?? 0));
      sparkline.draw(samples, `${tile.name}: now ${text}; lately at most ${tile.format(highest)}`);
    }
  }
}
