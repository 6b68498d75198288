// Formats times and amounts of the history.

import { dateFormat, locale, t } from "../ground/language.js";

const timeOfDay = dateFormat({ timeStyle: "short" });
const dayAndTime = dateFormat({ dateStyle: "medium", timeStyle: "short" });

/** @param {Date} date */
const isToday = (date) => date.toDateString() === new Date().toDateString();

/** @param {number | undefined} time Milliseconds. */
export function moment(time) {
  if (time === undefined) return "";
  const date = new Date(time);
  return isToday(date) ? t("when.today", { time: timeOfDay.format(date) }) : dayAndTime.format(date);
}

/**
 * @param {number} from Milliseconds.
 * @param {number} to
 */
export function span(from, to) {
  const [first, last] = [new Date(from), new Date(to)];
  if (timeOfDay.format(first) === timeOfDay.format(last) && first.toDateString() === last.toDateString()) return moment(to);
  if (isToday(first) && isToday(last)) return t("when.today", { time: timeOfDay.formatRange(first, last) });
  return dayAndTime.formatRange(first, last);
}

const withSign = new Intl.NumberFormat(locale, { signDisplay: "always" });

/** @param {{inserted: number, deleted: number}} amounts In scalars. */
export function amounts({ inserted, deleted }) {
  const parts = [];
  if (inserted > 0) parts.push(withSign.format(inserted));
  if (deleted > 0) parts.push(withSign.format(-deleted).replace("-", "−"));
  return parts.join(" ");
}
