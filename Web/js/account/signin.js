// Signing in, renewing tokens, and the message if the server rejects this page.

import { accessCodes } from "../client/connection.js";
import { claimsOf } from "../state/access.js";
import { byId } from "../ground/dialogs.js";
import { hasThings } from "../state/drawer.js";
import { allPending, forgetIdentity, rememberIdentity } from "../client/identity.js";
import { isKey, t } from "../ground/language.js";
import { withLimit } from "../ground/limit.js";
import { logOut, renew, takeTokens, waysToSignIn } from "./login.js";
import { notes } from "../state/opennotes.js";
import { ended, isName, openShortLink, unopened } from "../state/shortlink.js";
import { home } from "../ground/base.js";
import { page } from "../state/page.js";
import { problemText } from "../ground/problems.js";
import { isToBeKept } from "../state/provider.js";
import { SignInForm } from "./signinform.js";
import { access, comeback, connection, copies, list, ownerNow, ownerOf } from "../state/session.js";
import { lastingStore } from "../ground/storage.js";
import { messageOf } from "../client/words.js";

/**
 * When the token expires, in milliseconds; undefined until shortly before.
 *
 * @type {number | undefined}
 */
export let endsAt;

/** Hides the message that the token expires. */
export function forgetEnd() {
  endsAt = undefined;
  page.emit("access", undefined);
}

/** Whether a new token is being requested. */
let isRenewing = false;
/** Whether the token was renewed, and the server has not accepted it yet. */
let isRenewed = false;

/** Whether the server is checking a token. */
let isSigningIn = false;

/** Whether a link that could not be opened before is being opened again. */
let isOpening = false;

/** @type {any} */
let renewTimer;

/** Time for other tabs to reply with a newer token; milliseconds. */
const askWithin = 300;

/** Asks the other tabs for a newer token. A refresh token is valid once, and another tab may have used this one's. */
async function newestToken() {
  const own = access.token;
  access.ask();
  await new Promise((resolve) => setTimeout(resolve, askWithin));
  return access.token !== own;
}

/**
 * Renews the token without asking the user, if that is possible.
 *
 * @param {object} options
 * @param {boolean} [options.isFirst] Whether this tab has no token yet; the browser may have a session in a cookie.
 */
async function renewToken({ isFirst = false } = {}) {
  const { refreshToken, isKept } = access.pass ?? {};
  if ((!refreshToken && !isKept && !isFirst) || isRenewing || isRenewed) return false;
  isRenewing = true;
  try {
    if (refreshToken && (await newestToken())) return true;
    const own = await renew(refreshToken);
    // Near the end of a session, a new token expires no later than the current one.
    if (connection.isOnline && (claimsOf(own.token)?.exp ?? Infinity) <= (access.claims?.exp ?? 0)) return false;
    isRenewed = true;
    return (await signIn(own)) === undefined;
  } catch {
    return false;
  } finally {
    isRenewing = false;
    page.emit("access", undefined);
  }
}

/** Why the sign-in at the identity provider failed or cannot be offered; shown once. */
let providerProblem = "";

/** Requests the tokens of a user who has returned from the identity provider, or stores the problem to show. */
export async function arrive() {
  if (!comeback) return;
  if (comeback.problem !== undefined) {
    const key = `provider.${comeback.problem}`;
    providerProblem = isKey(key) ? t(key) : t("provider.misbehaves");
    return;
  }
  try {
    providerProblem = (await signIn(await takeTokens(isToBeKept()))) ?? "";
  } catch (error) {
    providerProblem = messageOf(error);
  }
}

const badToken = t("access.badToken");

/**
 * Returns the reason why the server rejects this page, and what the user can do.
 *
 * @returns {{state: string, title: string, text: string, button: {label: string, run: () => void}}
 *   | undefined}
 */
export function accessProblem() {
  const { state, code } = connection.status;
  if (access.token === unopened) {
    return {
      state: isOpening ? t("status.connecting") : t("status.offline"),
      title: isOpening ? t("status.connecting") : t("access.linkUnopenedTitle"),
      text: isOpening ? "" : t("access.linkUnopenedText"),
      button: { label: t("tryAgain"), run: () => void openLinkAgain() },
    };
  }
  if (isRenewing || isSigningIn || state !== "stopped" || !Object.values(accessCodes).some((one) => one === code)) return undefined;
  const button = { label: t("signIn"), run: () => void askForToken() };
  if (access.isLink) {
    const isOfName = isName(access.pass?.key);
    return {
      state: t(isOfName ? "access.nothingTitle" : "access.linkEnded"),
      title: t(isOfName ? "access.nothingTitle" : "access.linkEndedTitle"),
      text: t(isOfName ? "access.nothingText" : "access.linkEndedText"),
      button: { label: t(isOfName ? "gone.back" : "access.withoutLink"), run: () => void leaveAccess() },
    };
  }
  if (!access.pass) {
    return {
      state: t("access.notSignedIn"),
      title: t("access.notSignedInTitle"),
      text: t("access.notSignedInText"),
      button,
    };
  }
  if (code === accessCodes.ended || access.hasEnded()) {
    return {
      state: t("access.signedOut"),
      title: t("access.endedTitle"),
      text: t("access.endedText"),
      button,
    };
  }
  // A user can begin a new session alone; other tokens come from the operator. The server also rejects a page that was
  // connecting when its session ended.
  const { refreshToken, isKept } = access.pass;
  if (refreshToken !== undefined || isKept) {
    return { state: t("access.signedOut"), title: t("access.sessionTitle"), text: t("access.sessionText"), button };
  }
  if (code === accessCodes.revoked) {
    return { state: t("access.signedOut"), title: t("access.revokedTitle"), text: t("access.revokedText"), button };
  }
  return { state: t("access.notSignedIn"), title: t("access.badTokenTitle"), text: badToken, button };
}

/** Opens the link again that could not be opened. On success, the page continues with it. */
async function openLinkAgain() {
  if (isOpening) return;
  isOpening = true;
  page.emit("access", undefined);
  const link = await openShortLink(location, undefined);
  isOpening = false;
  if (link && link.token !== unopened) {
    access.follow(link);
    // An open demo may have accepted this page without the link.
    const problem = await refresh(link.token);
    if (problem === "unreachable") connect();
    else if (problem !== undefined) return location.reload();
    // The address is now the note's.
    page.emit("went", undefined);
  }
  page.emit("access", undefined);
}

/** Connects now, with the current token. */
function connect() {
  if (connection.status.state === "waiting") connection.retryNow();
  else connection.start();
}

/** Maximum time to wait for the sign-out and for the removal of copies; milliseconds. */
const forgetWithin = 3_000;

/**
 * Drops the token, or the link, and reloads the page without it.
 *
 * @param {object} options
 * @param {boolean} [options.isHere] Whether the other tabs have signed out already.
 */
export async function leaveAccess({ isHere = false } = {}) {
  const { refreshToken, isKept, isLink } = access.pass ?? {};
  if (!isHere && !isLink && (refreshToken || isKept)) {
    // This browser drops the session even if the server cannot be reached.
    await withLimit(logOut(refreshToken).catch(() => undefined), forgetWithin, undefined);
  }
  // Notify the other tabs before the copies are removed, so that they make no new ones.
  access.leave({ isHere });
  if (!access.isLink) await withLimit(copies.forget(), forgetWithin, undefined);
  // Again, for tabs that were still loading.
  access.leave({ isHere });
  forgetIdentity();
  // The address may contain the link, or be the link.
  history.replaceState(null, "", isName(access.pass?.key) ? home : location.pathname);
  location.reload();
}

/**
 * Replaces the token of the open connection.
 *
 * @param {string} token
 * @returns {Promise<string | undefined>} The error code; "unreachable" if there is no connection, or it was closed
 * before the server answered.
 */
async function refresh(token) {
  isSigningIn = true;
  try {
    return await connection.refresh(token);
  } finally {
    isSigningIn = false;
  }
}

/**
 * @param {import("../state/access.js").OwnToken} own
 * @returns {Promise<string | undefined>} The reason if the server rejected the token.
 */
export async function signIn(own) {
  const problem = await refresh(own.token);
  // It is no problem if the connection was closed, for example by a new password: the next one uses this token.
  if (problem !== undefined && problem !== "unreachable") {
    return problem === "unauthorised" ? badToken : problemText(problem, 0);
  }
  if (problem === undefined) {
    access.take(own);
    isRenewed = false;
    for (const note of notes.values()) note.reopen();
    void list.refresh();
  } else {
    const isNew = !access.pass;
    if (!isNew && ownerOf(own.token) !== ownerNow()) {
      // The page contains the former user's data, which is stored for that user: reload without it.
      access.leave({ next: own });
      forgetIdentity();
      location.reload();
      return undefined;
    }
    access.take(own);
    if (isNew && (allPending(ownerNow()).length > 0 || hasThings(lastingStore(), ownerNow()))) {
      // A closed tab left edits of this user: reload to send them.
      location.reload();
      return undefined;
    }
    connect();
  }
  endsAt = undefined;
  page.emit("access", undefined);
  return undefined;
}

/** Asks the user for a password, if the server has user accounts, or for a token. */
export async function askForToken() {
  if (/** @type {HTMLDialogElement} */ (byId("sign-in")).open) return;
  const trouble = accessProblem();
  byId("sign-in-title").textContent = trouble?.title ?? t("signIn.again");
  byId("sign-in-text").textContent = trouble?.text ?? "";
  /** @type {import("./signinform.js").Ways} */
  let ways = { password: false, forgot: false };
  try {
    ways = await waysToSignIn();
  } catch (error) {
    // The user can still enter a token; the problem says that there may be other ways.
    providerProblem ||= messageOf(error);
  }
  // Another dialog may have opened since, or the user may be signed in.
  if (document.querySelector("dialog[open]") || (trouble && !accessProblem())) return;
  new SignInForm(ways, signIn).open(providerProblem);
  providerProblem = "";
}

/** Whether the tab shows a published note, whose address provides a new token while the note is published. */
const isPublished = () => isName(access.pass?.key) && access.token !== ended;

/** Tries to sign in after the server rejected this page; first without asking the user. */
async function letIn() {
  if (isPublished()) return openLinkAgain();
  if (access.isLink || await renewToken({ isFirst: !access.pass && !access.isOut })) return;
  if (!access.pass) access.ask();
  // Open no dialog over a text, or over another dialog.
  if (accessProblem() && !page.current?.hasText && !document.querySelector("dialog[open]")) await askForToken();
}

/** Handles events of the connection and of the other tabs about this user's rights. */
export function setUpSignIn() {
  connection.on("welcome", () => {
    if (connection.identity) rememberIdentity(connection.identity);
    endsAt = undefined;
    isRenewed = false;
    /** @type {HTMLDialogElement} */ (byId("sign-in")).close("confirm");
    page.emit("access", undefined);
  });
  connection.on("expiring", (time) => {
    if (isPublished()) return void openLinkAgain();
    const tell = () => {
      endsAt = time;
      page.emit("access", undefined);
    };
    if (!access.pass?.refreshToken && !access.pass?.isKept) {
      tell();
      return;
    }
    // After half of the remaining time. The delay is bounded, because this clock may be wrong.
    const delay = Math.min(Math.max((time - Date.now()) / 2, 1_000), 30_000);
    clearTimeout(renewTimer);
    renewTimer = setTimeout(async () => {
      if (connection.isOnline && !(await renewToken()) && connection.isOnline) tell();
    }, delay);
  });
  connection.on("lost", () => (endsAt = undefined));
  connection.on("status", ({ state }) => {
    if (state === "stopped" && accessProblem()) void letIn();
  });
  connection.on("access", () => void list.refresh());
  access.on("offered", (own) => {
    if (access.pass || accessProblem()) void signIn(own);
  });
  access.on("signedOut", () => void leaveAccess({ isHere: true }));
  byId("sign-out").addEventListener("click", () => void leaveAccess());
}
