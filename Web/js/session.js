// What the parts of the page share: who this person is and what they may do, the line to the server, the
// list of notes, and the client core.

import { Access, channelBetweenTabs, fragmentOf } from "./access.js";
import { coreAddress } from "./assets.js";
import { at } from "./base.js";
import { Connection } from "./connection.js";
import { byId } from "./dialogs.js";
import { Core } from "./door.js";
import { openDrawer } from "./drawer.js";
import { EarlyWords } from "./early.js";
import { claimIdentity } from "./identity.js";
import { authorise } from "./http.js";
import { NewNotes } from "./newnote.js";
import { NoteList } from "./notes.js";
import { loadProfile } from "./people.js";

export const { profile, isNew: isNewPerson } = loadProfile();
export const access = new Access({ location, storage: sessionStorage, channel: channelBetweenTabs() });
if (fragmentOf(location.hash).token) history.replaceState(null, "", location.pathname);
authorise(() => access.token);

/** Whose unsaved edits these are: a user's, or those of whoever comes by a link, or in a demo. */
export const ownerNow = () => (access.isLink ? "" : (access.claims?.sub ?? ""));

export const [core, identity, drawer] = await Promise.all([
  Core.load(fetch(coreAddress)),
  claimIdentity(ownerNow()),
  openDrawer(ownerNow()),
]);

const scheme = location.protocol === "https:" ? "wss" : "ws";
export const connection = new Connection({
  core,
  url: `${scheme}://${location.host}${at("/ws")}`,
  profile: () => profile,
  token: () => access.token,
  identity,
});
export const list = new NoteList(connection, {
  storage: localStorage,
  owner: ownerNow,
  drawer,
  // Who came by a link sees one note, and hears of that.
  isLive: () => !access.isLink,
});
export const early = new EarlyWords({ field: byId("early"), drawer });
export const newNotes = new NewNotes({ list, connection, drawer });
