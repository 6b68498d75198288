// The only module that names the vendored editor of formatted notes (Scripts/vendor-prosemirror.sh).
// prosemirror.d.ts declares the types that the page uses.
export { DOMParser, DOMSerializer, Fragment, Mark, Node, Schema, Slice } from "../vendor/prosemirror/model.js";
export { AddMarkStep, AttrStep, RemoveMarkStep, ReplaceStep, Transform } from "../vendor/prosemirror/transform.js";
export {
  AllSelection, EditorState, NodeSelection, Plugin, PluginKey, Selection, TextSelection, Transaction,
} from "../vendor/prosemirror/state.js";
export { Decoration, DecorationSet, EditorView } from "../vendor/prosemirror/view.js";
export { keymap } from "../vendor/prosemirror/keymap.js";
export { dropCursor } from "../vendor/prosemirror/dropcursor.js";
