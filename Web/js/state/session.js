// The state that the parts of the page share: the user and their rights, the connection, the list of notes, and the
// client core.

import { Access, channelBetweenTabs, claimsOf, formerPass, fragmentOf } from "./access.js";
import { coreAddress } from "../ground/assets.js";
import { at, home, noteAt } from "../ground/base.js";
import { Connection } from "../client/connection.js";
import { Copies } from "./copies.js";
import { byId } from "../ground/dialogs.js";
import { Core } from "../client/door.js";
import { openDrawer } from "./drawer.js";
import { EarlyWords } from "./early.js";
import { Folders } from "./folders.js";
import { Inbox } from "./inbox.js";
import { adoptedIdentities, adoptLeftBehind, claimIdentity, unsentIdentity } from "../client/identity.js";
import { authorise } from "../client/http.js";
import { askingOnce } from "../client/knownanswers.js";
import { withLimit } from "../ground/limit.js";
import { NewNotes } from "./newnote.js";
import { NoteList } from "./notes.js";
import { loadProfile } from "./people.js";
import { comeBack } from "./provider.js";
import { openShortLink } from "./shortlink.js";
import { Recent } from "./recent.js";
import { lastingStore, tabStore } from "../ground/storage.js";
import { Tags } from "./tags.js";

export const { profile, isNew: isNewPerson } = loadProfile();
/** The outcome of a sign-in if this tab has just returned from the identity provider. */
export const comeback = comeBack();
const link = await openShortLink(location, formerPass(tabStore()));
export const access = new Access({ location, storage: tabStore(), channel: channelBetweenTabs(), link });
if (fragmentOf(location.hash).token) history.replaceState(null, "", location.pathname);
authorise(() => access.token);

/** The owner of unsaved edits: a user, or "" for visitors with a link and in a demo. */
export const ownerNow = () => (access.isLink ? "" : ownerOf(access.token));

/** @param {string | undefined} token A user's own token, not a link's. */
export const ownerOf = (token) => (token === undefined ? "" : (claimsOf(token)?.sub ?? ""));

/** The owner of the copies: a user, or "" in a demo. Undefined for visitors with a link, and tokens without a name. */
const ownerOfCopies = () => (access.pass && !access.isLink ? access.claims?.sub : access.isLink ? undefined : "");

/** Maximum time for the browser to read the copies; milliseconds. */
const copiesWithin = 1_000;

/** Opens the copies; none are made if the page itself cannot be cached, because they could not be read without it. */
async function openCopies() {
  if (!globalThis.navigator?.serviceWorker || !navigator.locks) return new Copies(undefined, ownerOfCopies);
  const copies = new Copies(`parley.copies${home}`, ownerOfCopies, lastingStore());
  await withLimit(copies.opened, copiesWithin, undefined);
  const shown = noteAt(location.pathname);
  if (shown !== undefined) await withLimit(copies.read(shown), copiesWithin, undefined);
  return copies;
}

async function claim() {
  const identity = await claimIdentity(ownerNow());
  await adoptLeftBehind(ownerNow());
  return identity;
}

export const [core, identity, drawer, copies] = await Promise.all([
  Core.load(fetch(coreAddress)),
  claim(),
  openDrawer(ownerNow),
  openCopies(),
]);

const scheme = location.protocol === "https:" ? "wss" : "ws";
export const connection = new Connection({
  core,
  url: `${scheme}://${location.host}${at("/ws")}`,
  profile: () => profile,
  token: () => access.token,
  identity,
});
for (const adopted of adoptedIdentities()) connection.addIdentity(adopted);
connection.addIdentity(unsentIdentity, "");
export const list = new NoteList(connection, {
  storage: lastingStore(),
  owner: ownerNow,
  drawer,
  copy: copies.list,
  // A visitor with a link sees one note, and may not subscribe to the list's room.
  isLive: () => !access.isLink,
});
/** Requests data, for which the browser may have a cached answer. */
export const ask = askingOnce(copies);
export const folders = new Folders(list, ask);
export const tags = new Tags(list, connection, ask);
// In a demo all visitors are one person, who has no notices.
export const inbox = new Inbox(connection, () => (connection.welcome?.demo === true ? "" : ownerNow()));
export const recent = new Recent({ storage: lastingStore(), owner: ownerNow });
export const early = new EarlyWords({ field: byId("early"), drawer });
export const newNotes = new NewNotes({ list, connection, drawer });
