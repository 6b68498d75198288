// Comments beside the note: the panel with its threads, and the links between them and the text. Loaded when a note is
// open.

import { announce, byId } from "../ground/dialogs.js";
import { commentButton } from "./commentbutton.js";
import { Comments } from "./comments.js";
import { commentSender } from "./commentsender.js";
import { NewComment } from "./newcomment.js";
import { request } from "../client/http.js";
import { randomId } from "../client/identity.js";
import { inNumbers, t } from "../ground/language.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { ThreadList } from "./threadlist.js";
import { ThreadView } from "./threadview.js";
import { UnsentComments } from "./unsentcomments.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {import("./comments.js").Thread} Thread
 * @typedef {import("../editing/commentmarks.js").Mark} Mark
 * @typedef {object} Editor An editor of either kind.
 * @property {any} view
 * @property {{marksOf: (view: any) => readonly Mark[], set: (view: any, marks: readonly Mark[]) => void,
 *   choose: (view: any, id: string | undefined) => void, moment: (view: any) => any}} comments
 * @property {(listener: import("../editing/editor.js").CommentListener | undefined) => void} onComments
 * @property {() => void} focus
 *
 * @typedef {object} Options
 * @property {import("../state/shownnote.js").ShownNote} note
 * @property {Editor} editor
 * @property {import("../client/connection.js").Connection} connection
 * @property {(path: string) => Promise<any>} ask Requests data, for which the browser may have a cached answer.
 * @property {() => {name: string, color: string}} profile
 * @property {() => void} changed Called when comments have changed.
 * @property {boolean} isGuest Whether this user came by a link: the server cannot distinguish the guests of a link.
 * @property {import("./unsentcomments.js").DrawerOfComments} drawer
 */

/** @param {Options} options */
const commentsOf = ({ note, editor: { comments: marks, view }, connection, ask }) =>
  new Comments({
    note,
    connection,
    request: (path, ...rest) => (rest.length === 0 ? ask(path) : request(path, ...rest)),
    newKey: randomId,
    marks: {
      moment: () => marks.moment(view),
      set: (all) => marks.set(view, all),
      marks: () => marks.marksOf(view),
    },
  });

export class CommentsView {
  /** The note whose comments are shown. */
  note;
  editor;

  #options;
  #panel = byId("comments-panel");
  #button = byId("comments");
  #resolvedBox = /** @type {HTMLInputElement} */ (byId("comments-resolved"));
  #comments;
  #unsent;
  #newComment;
  #commentButton;
  #threads = new ThreadList((id) => this.#makeThread(id));
  /** @type {string | undefined} The highlighted thread. */
  #chosen;
  /** Whether a comment was begun without a selection: a hint asks for one, until the panel is closed. */
  #wantsSelection = false;
  /** Whether a comment was begun before the comments were loaded. */
  #isAwaited = false;
  /** @type {string | undefined} The comment whose thread is shown once it is loaded. */
  #revealed;
  #subscriptions;

  /** @param {Options} options */
  constructor(options) {
    const { note, editor, drawer } = options;
    this.note = note;
    this.editor = editor;
    this.#options = options;
    const comments = commentsOf(options);
    this.#comments = comments;
    this.#unsent = new UnsentComments(drawer, note.documentId);
    this.#newComment = new NewComment({ editor, comments, sending: () => this.#senderTo(), redraw: () => this.#draw() });
    this.#commentButton = commentButton({
      view: editor.view,
      isWanted: () => comments.mayComment && !this.#newComment.isBegun,
      begin: () => this.begin(),
    });
    this.#resolvedBox.checked = false;
    this.#followText();
    this.#subscriptions = this.#subscribe();
    this.#listenToPanel();
    this.#button.hidden = false;
    this.#draw();
  }

  get mayComment() {
    return this.#comments.mayComment;
  }

  get answer() {
    return this.#comments.answer;
  }

  /** Begins a comment on the selection, once it is known whether this user may comment. */
  begin() {
    this.#isAwaited = !this.#comments.isLoaded;
    if (!this.mayComment) return;
    const { from, to } = this.editor.view.state.selection.main;
    this.#open(true);
    this.#wantsSelection = from === to;
    if (!this.#wantsSelection) {
      this.#newComment.begin({ from, to });
      return;
    }
    announce(t("comments.selectFirst"));
    this.#draw();
  }

  /**
   * Shows the thread of a comment, once the comments are loaded.
   *
   * @param {string} id
   */
  reveal(id) {
    this.#revealed = id;
    this.#open(true);
    this.#showRevealed();
  }

  #showRevealed() {
    const comment = this.#comments.all.find((one) => one.id === this.#revealed);
    if (!comment) return;
    this.#revealed = undefined;
    const thread = comment.thread ?? comment.id;
    if (this.#comments.all.some((one) => one.id === thread && one.resolved)) this.#resolvedBox.checked = true;
    this.#draw();
    this.#threads.focus(thread);
  }

  close() {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.editor.onComments(undefined);
    this.#comments.close();
    this.#commentButton.close();
    this.#open(false);
    this.#newComment.close();
    this.#threads.close();
    this.#button.onclick = this.#resolvedBox.onchange = this.#panel.onkeydown = null;
  }

  // Events.

  #followText() {
    this.editor.onComments({
      moved: () => this.#drawPlaces(),
      doubtful: () => this.#comments.placeAgain(),
      selected: this.#commentButton.draw,
      clicked: (id) => {
        this.#open(true);
        this.#threads.focus(id);
      },
    });
  }

  #subscribe() {
    const comments = this.#comments;
    return [
      comments.on("changed", () => {
        this.#draw();
        this.#options.changed();
        if (this.#isAwaited && comments.isLoaded) this.begin();
        if (this.#revealed !== undefined) this.#showRevealed();
      }),
      comments.on("failed", (error) => {
        if (comments.isLoaded || !this.#isOpen) return;
        byId("comments-none").textContent = t("comments.listFailed", { reason: messageOf(error) });
      }),
      this.#options.connection.on("welcome", () => {
        this.#newComment.retry();
        this.#threads.retry();
      }),
    ];
  }

  #listenToPanel() {
    this.#button.onclick = () => {
      this.#open(!this.#isOpen);
      if (this.#isOpen) byId("comments-close").focus();
    };
    byId("comments-close").onclick = () => {
      this.#open(false);
      this.#button.focus();
    };
    this.#panel.onkeydown = (event) => {
      if (event.key !== "Escape" || isOfComposition(event)) return;
      this.#open(false);
      this.editor.view.focus();
    };
    this.#resolvedBox.onchange = () => this.#draw();
  }

  // The panel.

  get #isOpen() {
    return !this.#panel.hidden;
  }

  /** @param {boolean} isWanted */
  #open(isWanted) {
    this.#panel.hidden = !isWanted;
    byId("app").dataset.comments = isWanted ? "open" : "";
    this.#button.setAttribute("aria-expanded", String(isWanted));
    if (isWanted) {
      void this.#comments.refresh();
    } else {
      this.#wantsSelection = false;
      this.#revealed = undefined;
      this.#choose(undefined);
    }
    this.#commentButton.draw();
  }

  #draw() {
    const { threads } = this.#comments;
    const resolvedCount = threads.filter(({ first }) => first.resolved).length;
    const shown = threads.filter(({ first }) => !first.resolved || this.#resolvedBox.checked);
    this.#drawButton(threads.length - resolvedCount);
    byId("comments-resolved-label").hidden = resolvedCount === 0;
    byId("comments-resolved-count").textContent = t("comments.showResolved", { count: resolvedCount });
    byId("comments-guest").hidden = !this.#options.isGuest || !this.mayComment;
    this.#drawHint(threads.length, shown.length);
    this.#threads.draw(shown);
    this.#drawPlaces();
    this.#commentButton.draw();
  }

  /** @param {number} count The number of unresolved threads. */
  #drawButton(count) {
    byId("comments-count").hidden = count === 0;
    byId("comments-count").textContent = inNumbers(count);
    const label = count === 0 ? t("comments.title") : t("comments.open", { count });
    this.#button.setAttribute("aria-label", label);
    this.#button.title = label;
  }

  /** @param {number} count The number of all threads. @param {number} shownCount */
  #drawHint(count, shownCount) {
    const hint = byId("comments-none");
    const { isBegun } = this.#newComment;
    const asksToSelect = this.#wantsSelection && !isBegun;
    hint.hidden = !asksToSelect && (shownCount > 0 || isBegun || !this.#comments.isLoaded);
    const isBeginning = this.mayComment && count === 0;
    hint.textContent = asksToSelect
      ? t("comments.selectFirst")
      : isBeginning
        ? t("comments.howTo")
        : t("comments.none");
  }

  /** @param {string} id */
  #makeThread(id) {
    return new ThreadView({
      id,
      comments: this.#comments,
      profile: this.#options.profile,
      answering: () => this.#senderTo(id),
      choose: () => this.#choose(id),
      jump: () => this.#jump(id),
      redraw: () => this.#draw(),
      ended: () => this.#button.focus(),
    });
  }

  /** @param {string} [thread] The thread of an answer; undefined for a new thread. */
  #senderTo(thread) {
    return commentSender({ comments: this.#comments, unsent: this.#unsent, profile: this.#options.profile, thread });
  }

  // The text.

  get #marks() {
    return this.editor.comments.marksOf(this.editor.view);
  }

  /** Shows which threads have a range in the text. */
  #drawPlaces() {
    this.#threads.drawPlaces(new Set(this.#marks.map(({ id }) => id)));
  }

  /** @param {string | undefined} id */
  #choose(id) {
    if (this.#chosen === id) return;
    this.#chosen = id;
    this.editor.comments.choose(this.editor.view, id);
    this.#threads.drawChosen(id);
  }

  /**
   * Shows a comment's range in the text.
   *
   * @param {string} id
   */
  #jump(id) {
    const mark = this.#marks.find((one) => one.id === id);
    if (!mark) {
      announce(t("comments.gone"));
      return;
    }
    const { view } = this.editor;
    view.dispatch({
      selection: { anchor: mark.from, head: mark.to },
      scrollIntoView: true,
    });
    view.focus();
  }
}
