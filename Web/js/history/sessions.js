// A note's history by sessions: the changes of all people without a pause of five minutes, the newest session first.

/**
 * What one person did in a session.
 *
 * @typedef {{author: string, lastRevision: number, changes: number, inserted: number, deleted: number}} SessionAuthor
 */

/**
 * A session; the author of its newest change comes first. `cut`: its earlier changes were not read yet. Times are
 * milliseconds.
 *
 * @typedef {{firstRevision: number, lastRevision: number, firstTime: number, lastTime: number,
 *   authors: SessionAuthor[], cut?: boolean}} Session
 */

/**
 * An answer of the server: `before` asks for what comes before, if there is more.
 *
 * @typedef {{head: number, oldest: number, sessions: Session[], before?: number}} Answer
 */

/** @param {Session} session */
export const amountsOf = ({ authors }) => ({
  inserted: authors.reduce((sum, { inserted }) => sum + inserted, 0),
  deleted: authors.reduce((sum, { deleted }) => sum + deleted, 0),
});

/**
 * A session of which two answers have one part each.
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

/** The sessions that are known: from the newest one back to some earlier one. */
export class Sessions {
  /** @type {Session[]} The newest first. */
  all = [];
  /** The newest revision. */
  head = 0;
  /** The oldest revision whose text is known. */
  oldest = 0;
  /** @type {number | undefined} What to ask for earlier ones with, if there are any. */
  before;

  /**
   * Takes the newest sessions; earlier ones that are known stay.
   *
   * @param {Answer} answer
   */
  takeNewest({ head, oldest, sessions, before }) {
    this.head = Math.max(this.head, head);
    this.oldest = oldest;
    const last = sessions[sessions.length - 1];
    // Where a session is cut, what is known of its other part may be counted twice.
    const earlier = last && !last.cut ? this.all.filter((session) => session.lastRevision < last.firstRevision) : [];
    this.all = [...sessions, ...earlier];
    if (earlier.length === 0) this.before = before;
  }

  /**
   * Takes what comes before the earliest session.
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

  /** @param {number} revision @returns {Session | undefined} The session that made it. */
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
