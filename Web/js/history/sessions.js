// A note's history by sessions: changes of all people without a pause of five minutes; newest session first.

/**
 * One person's part of a session.
 *
 * @typedef {{author: string, lastRevision: number, changes: number, inserted: number, deleted: number}} SessionAuthor
 */

/**
 * A session; the author of its newest change comes first. `cut`: its earlier changes are not loaded. Times are in
 * milliseconds.
 *
 * @typedef {{firstRevision: number, lastRevision: number, firstTime: number, lastTime: number,
 *   authors: SessionAuthor[], cut?: boolean}} Session
 */

/**
 * The server's answer. `before` is the parameter to request earlier sessions; undefined if there are none.
 *
 * @typedef {{head: number, oldest: number, sessions: Session[], before?: number}} Answer
 */

/** @param {Session} session */
export const amountsOf = ({ authors }) => ({
  inserted: authors.reduce((sum, { inserted }) => sum + inserted, 0),
  deleted: authors.reduce((sum, { deleted }) => sum + deleted, 0),
});

/**
 * Joins the two parts of a session from two answers.
 *
 * @param {Session} later
 * @param {Session} earlier
 * @returns {Session}
 */
export function joined(later, earlier) {
  const authors = later.authors.map((author) => ({ ...author }));
  for (const part of earlier.authors) {
    const known = authors.find(({ author }) => author === part.author);
    if (!known) authors.push({ ...part });
    else {
      known.changes += part.changes;
      known.inserted += part.inserted;
      known.deleted += part.deleted;
    }
  }
  const { lastRevision, lastTime } = later;
  return { ...earlier, lastRevision, lastTime, authors };
}

/** The loaded sessions: from the newest one back, without gaps. */
export class Sessions {
  /** @type {Session[]} The newest first. */
  all = [];
  /** The newest revision. */
  head = 0;
  /** The oldest revision whose text is available. */
  oldest = 0;
  /** @type {number | undefined} The parameter to request earlier sessions; undefined if there are none. */
  before;

  /**
   * Stores the newest sessions; earlier ones remain.
   *
   * @param {Answer} answer
   */
  takeNewest({ head, oldest, sessions, before }) {
    this.head = Math.max(this.head, head);
    this.oldest = oldest;
    const last = sessions[sessions.length - 1];
    // Drop the earlier sessions if the last one is cut: its loaded other part might be counted twice.
    const earlier = last && !last.cut ? this.all.filter((session) => session.lastRevision < last.firstRevision) : [];
    this.all = [...sessions, ...earlier];
    if (earlier.length === 0) this.before = before;
  }

  /**
   * Appends the sessions before the earliest one.
   *
   * @param {Answer} answer
   */
  takeEarlier({ sessions, before }) {
    const last = this.all[this.all.length - 1];
    const [first, ...rest] = sessions;
    this.before = before;
    if (last?.cut && first) this.all = [...this.all.slice(0, -1), joined(last, first), ...rest];
    else this.all = [...this.all, ...sessions];
  }

  /** @param {number} revision @returns {Session | undefined} The loaded session that contains it. */
  at(revision) {
    let low = 0;
    let high = this.all.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.all[middle]?.firstRevision ?? 0) <= revision) high = middle;
      else low = middle + 1;
    }
    const found = this.all[low];
    return found && found.firstRevision <= revision && revision <= found.lastRevision ? found : undefined;
  }
}
