// Binds a note with formatting to an app's own Quill or ProseMirror. Neither is imported: the app passes its own. Apps
// that show text alone do not load this module.
//
//     import { connect } from "https://notes.example.org/sdk/1/parley.js";
//     import { quill } from "https://notes.example.org/sdk/1/rich.js";
//
//     const parley = await connect("https://notes.example.org", { name: "Ada" });
//     quill(parley.note("minutes", { formats: true }), new Quill("#editor", { theme: "snow" }));

export { proseMirror } from "./prosemirror.js";
export { quill } from "./quill.js";
