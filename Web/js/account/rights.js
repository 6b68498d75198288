// The rights of this person, as far as the page knows: actions that are not allowed are not offered.

import { notes } from "../state/opennotes.js";
import { access, folders, list } from "../state/session.js";
import { accessTrouble } from "./signin.js";

/** Whether notes may be made. A user whose sign-in has expired may still make some: they are kept until the next. */
export const mayCreate = () =>
  !access.isLink && folders.forNewNote !== undefined && (access.pass !== undefined || accessTrouble() === undefined);

/**
 * Whether the note may be renamed, deleted and shared.
 *
 * @param {string} id
 */
export const mayManage = (id) =>
  !access.isLink && (list.may(id, "manage") ?? notes.get(id)?.access !== "read");
