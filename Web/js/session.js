// What the parts of the page share: who this person is and what they may do, the line to the server, the
// list of notes, and OTCore.

import { Access, channelBetweenTabs, fragmentOf } from "./access.js";
import { Connection } from "./connection.js";
import { Core } from "./core.js";
import { byId } from "./dialogs.js";
import { EarlyWords } from "./early.js";
import { loadMarkdown } from "./editor.js";
import { claimIdentity } from "./identity.js";
import { authorise } from "./http.js";
import { NewNote } from "./newnote.js";
import { NoteList } from "./notes.js";
import { loadProfile } from "./people.js";

export const profile = loadProfile();
export const access = new Access({ location, storage: sessionStorage, channel: channelBetweenTabs() });
if (fragmentOf(location.hash).token) history.replaceState(null, "", location.pathname);
authorise(() => access.token);

/** Whose unsaved edits these are: a user's, or those of whoever comes by a link, or in a demo. */
export const ownerNow = () => (access.isLink ? "" : (access.claims?.sub ?? ""));

export const [core, identity, editorSheet, markdown] = await Promise.all([
  Core.load(fetch("/assets/generated/otcore.wasm")),
  claimIdentity(ownerNow()),
  fetch("/assets/css/editor.css")
    .then((response) => response.text())
    .then((text) => new CSSStyleSheet().replace(text)),
  loadMarkdown(),
]);

const scheme = location.protocol === "https:" ? "wss" : "ws";
export const connection = new Connection({
  url: `${scheme}://${location.host}/ws`,
  profile: () => profile,
  token: () => access.token,
  identity,
});
export const list = new NoteList(connection);
const owner = ownerNow();
export const early = new EarlyWords({ field: byId("early"), storage: sessionStorage, owner });
export const newNote = new NewNote({ list, connection, storage: sessionStorage, owner });

/** Where words for a note go that is not made yet. No note has an empty id. */
export const unmade = "";
