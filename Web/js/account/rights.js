// The rights of this user, as far as the page knows them. Actions that are not allowed are not offered.

import { notes } from "../state/opennotes.js";
import { access, folders, list } from "../state/session.js";
import { accessProblem } from "./signin.js";

/** Whether this user may create notes. Remains true after the sign-in expires: new notes are stored in this browser. */
export const mayCreate = () =>
  !access.isLink && folders.forNewNote !== undefined && (access.pass !== undefined || accessProblem() === undefined);

/**
 * Whether this user may rename, delete and share a note.
 *
 * @param {string} id
 */
export const mayManage = (id) =>
  !access.isLink && (list.may(id, "manage") ?? notes.get(id)?.access !== "read");
