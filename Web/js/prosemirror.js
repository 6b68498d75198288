// The only module that names the vendored editor of formatted notes (Scripts/vendor-prosemirror.sh).
// prosemirror.d.ts declares the types that the page uses.
export { Fragment, Schema, Slice } from "../vendor/prosemirror/model.js";
export { Transform } from "../vendor/prosemirror/transform.js";
export { AllSelection, EditorState, Plugin, PluginKey, TextSelection } from "../vendor/prosemirror/state.js";
export { Decoration, DecorationSet, EditorView } from "../vendor/prosemirror/view.js";
export { keymap } from "../vendor/prosemirror/keymap.js";
export { dropCursor } from "../vendor/prosemirror/dropcursor.js";
