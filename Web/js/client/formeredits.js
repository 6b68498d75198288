// Converts edits that former versions of the page have kept to the form that the client core reads now.
//
// Both forms are a line that names the form, then numbers in decimal, each line ended by a newline, then the pieces
// whose lengths are among them. The oldest forms have the texts among the pieces.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Numbers of each former form. */
const forms = new Map([["parley.session.1", 11], ["parley.session.2", 13], ["parley.session.3", 13]]);

/**
 * @typedef {object} FormerEdits
 * @property {string} session
 * @property {string} [base] The server's text, if it is stored by itself.
 * @property {{id: string}} identity
 * @property {string} documentId
 * @property {string} title
 * @property {{clientId: string, sequence: number, time?: number}} [change] That made the newest revision.
 */

/**
 * @template {FormerEdits} Record
 * @param {Record} record
 * @param {Pick<import("./door.js").Core, "apply">} core
 * @returns {Record} With `session` and `base` as the core reads them; as it is, if it is in none of the former forms.
 */
export function inCurrentForm(record, core) {
  const [form = ""] = record.session.split("\n", 1);
  const numberCount = forms.get(form);
  if (numberCount === undefined) return record;
  const bytes = encoder.encode(record.session);
  const lines = record.session.split("\n", numberCount + 1);
  const numbers = lines.slice(1).map(Number);
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) return record;
  const [revision = 0, nextSequence = 0, bufferedEdits = 0, sequence = 0, base = 0] = numbers;
  const laterEdits = numbers[11] ?? 0;
  let position = encoder.encode(lines.join("\n")).length + 1;
  const [epoch = "", local = "", server = "", sent = "", rebased = "", buffer = "", later = ""] = [
    ...numbers.slice(5, 11), numbers[12] ?? 0,
  ].map((length) => {
    position += length;
    return decoder.decode(bytes.subarray(position - length, position));
  });
  if (position !== bytes.length) return record;
  const hasTexts = form !== "parley.session.3";
  const text = hasTexts ? server : (record.base ?? "");
  // The text on the screen, if it was kept, has to be the server's text after the edits.
  const edited = () => [rebased, buffer, later].filter(Boolean).reduce((before, edit) => core.apply(edit, before), text);
  if (hasTexts && edited() !== local) return record;
  const { change, documentId, title, identity } = record;
  const pieces = [documentId, identity.id, title, epoch, change?.clientId ?? "", sent, rebased, buffer, later];
  const fields = [
    revision, nextSequence, sequence, base, bufferedEdits, laterEdits,
    change ? 1 : 0, change?.sequence ?? 0, change?.time === undefined ? 0 : 1, change?.time ?? 0,
    ...pieces.map((piece) => encoder.encode(piece).length),
  ];
  return {
    ...record,
    session: `parley.note.1\n${fields.map((field) => `${field}\n`).join("")}${pieces.join("")}`,
    base: text,
  };
}
