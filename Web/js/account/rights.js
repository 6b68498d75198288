// What this person may do, as far as the page knows: what is not allowed is not offered.

import { notes } from "../notes/opennotes.js";
import { access, folders, list } from "../session.js";
import { accessTrouble } from "./signin.js";

/** Whether notes may be made. Who has signed in, and has to again, may go on: it is kept until then. */
export const mayCreate = () =>
  !access.isLink && folders.forNewNote !== undefined && (access.pass !== undefined || accessTrouble() === undefined);

/**
 * Whether the note may be renamed, deleted and shared.
 *
 * @param {string} id
 */
export const mayManage = (id) =>
  !access.isLink && (list.may(id, "manage") ?? notes.get(id)?.access !== "read");
