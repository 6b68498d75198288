// Parley for web pages: shared notes in any page, with any editor.
//
//     import { connect, bind } from "https://notes.example.org/sdk/1/parley.js";
//
//     const parley = await connect("https://notes.example.org", { name: "Ada" });
//     bind(parley.note("welcome"), document.querySelector("textarea"));
//
// Importing it also defines the element <parley-note src="https://notes.example.org/n/welcome">.

export { Parley, connect } from "./client.js";
export { codeMirror, monaco } from "./editors.js";
export { ParleyNoteElement } from "./element.js";
export { ParleyError } from "./errors.js";
export { SharedNote } from "./note.js";
export { bind } from "./plaintext.js";
export { SharedRoom } from "./room.js";
