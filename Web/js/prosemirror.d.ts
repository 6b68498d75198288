// The part of ProseMirror that the page uses, as far as type checks need it.

export interface MarkType {
  readonly name: string;
  create(attributes?: object): Mark;
  isInSet(marks: readonly Mark[]): Mark | undefined;
  removeFromSet(marks: readonly Mark[]): readonly Mark[];
}

export interface Mark {
  readonly type: MarkType;
  readonly attrs: any;
  eq(other: Mark): boolean;
  isInSet(marks: readonly Mark[]): boolean;
  addToSet(marks: readonly Mark[]): readonly Mark[];
  removeFromSet(marks: readonly Mark[]): readonly Mark[];
}
export const Mark: { readonly none: readonly Mark[]; setFrom(marks: Mark[]): readonly Mark[]; sameSet(one: readonly Mark[], other: readonly Mark[]): boolean };

export interface NodeType {
  readonly name: string;
  create(attributes?: object | null, content?: any, marks?: readonly Mark[]): Node;
}

export interface Fragment {
  readonly size: number;
  readonly childCount: number;
  readonly content: readonly Node[];
  child(index: number): Node;
  forEach(visit: (node: Node, offset: number, index: number) => void): void;
}
export const Fragment: { readonly empty: Fragment; fromArray(nodes: Node[]): Fragment; from(nodes: any): Fragment };

export interface Node {
  readonly type: NodeType;
  readonly attrs: any;
  readonly content: Fragment;
  readonly marks: readonly Mark[];
  readonly text: string | undefined;
  readonly isText: boolean;
  readonly nodeSize: number;
  readonly childCount: number;
  readonly firstChild: Node | null;
  readonly lastChild: Node | null;
  readonly textContent: string;
  child(index: number): Node;
  maybeChild(index: number): Node | null;
  forEach(visit: (node: Node, offset: number, index: number) => void): void;
  nodesBetween(from: number, to: number, visit: (node: Node, pos: number, parent: Node, index: number) => boolean | void): void;
  descendants(visit: (node: Node, pos: number, parent: Node, index: number) => boolean | void): void;
  textBetween(from: number, to: number, blockSeparator?: string, leafText?: string | ((node: Node) => string)): string;
  rangeHasMark(from: number, to: number, type: MarkType | Mark): boolean;
  resolve(pos: number): ResolvedPos;
  slice(from: number, to?: number): Slice;
  nodeAt(pos: number): Node | null;
  eq(other: Node): boolean;
  check(): void;
  mark(marks: readonly Mark[]): Node;
  copy(content: Fragment): Node;
  toJSON(): any;
}
export const Node: { fromJSON(schema: Schema, json: any): Node };

export interface ResolvedPos {
  readonly pos: number;
  readonly depth: number;
  readonly parent: Node;
  readonly parentOffset: number;
  readonly textOffset: number;
  readonly nodeBefore: Node | null;
  readonly nodeAfter: Node | null;
  readonly doc: Node;
  index(depth?: number): number;
  node(depth?: number): Node;
  start(depth?: number): number;
  end(depth?: number): number;
  before(depth?: number): number;
  after(depth?: number): number;
  marks(): readonly Mark[];
  marksAcross($end: ResolvedPos): readonly Mark[] | null;
}

export class Slice {
  constructor(content: Fragment, openStart: number, openEnd: number);
  readonly content: Fragment;
  readonly openStart: number;
  readonly openEnd: number;
  readonly size: number;
  static readonly empty: Slice;
  static maxOpen(fragment: Fragment): Slice;
}

export class Schema {
  constructor(spec: any);
  readonly nodes: Record<string, NodeType>;
  readonly marks: Record<string, MarkType>;
  text(text: string, marks?: readonly Mark[]): Node;
  node(type: string, attributes?: object | null, content?: any, marks?: readonly Mark[]): Node;
}

export class DOMParser {
  constructor(schema: Schema, rules: any[]);
  static fromSchema(schema: Schema): DOMParser;
  parse(dom: globalThis.Node, options?: object): Node;
  parseSlice(dom: globalThis.Node, options?: object): Slice;
}
export class DOMSerializer {
  constructor(nodes: any, marks: any);
  static fromSchema(schema: Schema): DOMSerializer;
  serializeFragment(fragment: Fragment, options?: object, target?: globalThis.Node): globalThis.Node;
}

export interface StepMap {
  forEach(visit: (oldStart: number, oldEnd: number, newStart: number, newEnd: number) => void): void;
}
export interface Mapping {
  readonly maps: readonly StepMap[];
  map(pos: number, side?: number): number;
  mapResult(pos: number, side?: number): { pos: number; deleted: boolean };
  slice(from?: number, to?: number): Mapping;
  invert(): Mapping;
}

export class Transform {
  constructor(doc: Node);
  readonly doc: Node;
  readonly before: Node;
  readonly docs: readonly Node[];
  readonly steps: readonly any[];
  readonly mapping: Mapping;
  readonly docChanged: boolean;
  step(step: any): this;
  replace(from: number, to?: number, slice?: Slice): this;
  replaceWith(from: number, to: number, content: any): this;
  insert(pos: number, content: any): this;
  delete(from: number, to: number): this;
  addMark(from: number, to: number, mark: Mark): this;
  removeMark(from: number, to: number, mark?: Mark | MarkType): this;
  setNodeAttribute(pos: number, name: string, value: any): this;
  split(pos: number, depth?: number, types?: any[]): this;
  join(pos: number, depth?: number): this;
}
export class AddMarkStep { constructor(from: number, to: number, mark: Mark); readonly from: number; readonly to: number; readonly mark: Mark }
export class RemoveMarkStep { constructor(from: number, to: number, mark: Mark); readonly from: number; readonly to: number; readonly mark: Mark }
export class AttrStep { constructor(pos: number, name: string, value: any); readonly pos: number }
export class ReplaceStep { constructor(from: number, to: number, slice: Slice); readonly from: number; readonly to: number; readonly slice: Slice }

export class Selection {
  readonly anchor: number;
  readonly head: number;
  readonly from: number;
  readonly to: number;
  readonly empty: boolean;
  readonly $from: ResolvedPos;
  readonly $to: ResolvedPos;
  readonly $head: ResolvedPos;
  readonly $anchor: ResolvedPos;
  eq(other: Selection): boolean;
  static near($pos: ResolvedPos, side?: number): Selection;
  static atStart(doc: Node): Selection;
  static atEnd(doc: Node): Selection;
}
export class TextSelection extends Selection {
  static create(doc: Node, anchor: number, head?: number): TextSelection;
  static between($anchor: ResolvedPos, $head: ResolvedPos, side?: number): Selection;
  readonly $cursor: ResolvedPos | null;
}
export class NodeSelection extends Selection {
  readonly node: Node;
  static create(doc: Node, pos: number): NodeSelection;
}
export class AllSelection extends Selection {
  constructor(doc: Node);
}

export class Transaction extends Transform {
  readonly selection: Selection;
  readonly selectionSet: boolean;
  readonly storedMarks: readonly Mark[] | null;
  readonly storedMarksSet: boolean;
  readonly scrolledIntoView: boolean;
  setSelection(selection: Selection): this;
  setStoredMarks(marks: readonly Mark[] | null): this;
  addStoredMark(mark: Mark): this;
  removeStoredMark(mark: Mark | MarkType): this;
  insertText(text: string, from?: number, to?: number): this;
  replaceSelection(slice: Slice): this;
  replaceSelectionWith(node: Node, inherit?: boolean): this;
  deleteSelection(): this;
  setMeta(key: any, value: any): this;
  getMeta(key: any): any;
  scrollIntoView(): this;
}

export class EditorState {
  static create(options: any): EditorState;
  readonly doc: Node;
  readonly selection: Selection;
  readonly storedMarks: readonly Mark[] | null;
  readonly schema: Schema;
  readonly tr: Transaction;
  readonly plugins: readonly any[];
  apply(transaction: Transaction): EditorState;
  applyTransaction(transaction: Transaction): { state: EditorState; transactions: readonly Transaction[] };
  reconfigure(options: any): EditorState;
}

export class PluginKey<State = any> {
  constructor(name?: string);
  get(state: EditorState): any;
  getState(state: EditorState): State;
}
export class Plugin<State = any> {
  constructor(spec: any);
  getState(state: EditorState): State;
}

export class Decoration {
  static inline(from: number, to: number, attributes: object, spec?: object): Decoration;
  static node(from: number, to: number, attributes: object, spec?: object): Decoration;
  static widget(pos: number, make: any, spec?: object): Decoration;
  readonly from: number;
  readonly to: number;
  readonly spec: any;
}
export class DecorationSet {
  static readonly empty: DecorationSet;
  static create(doc: Node, decorations: Decoration[]): DecorationSet;
  map(mapping: Mapping, doc: Node, options?: object): DecorationSet;
  find(from?: number, to?: number, predicate?: (spec: any) => boolean): Decoration[];
}

export class EditorView {
  constructor(place: any, props: any);
  state: EditorState;
  readonly dom: HTMLElement;
  readonly composing: boolean;
  readonly editable: boolean;
  readonly root: Document | ShadowRoot;
  dispatch(transaction: Transaction): void;
  updateState(state: EditorState): void;
  setProps(props: object): void;
  focus(): void;
  hasFocus(): boolean;
  destroy(): void;
  readonly isDestroyed: boolean;
  coordsAtPos(pos: number, side?: number): { left: number; right: number; top: number; bottom: number };
  posAtCoords(coords: { left: number; top: number }): { pos: number; inside: number } | null;
  domAtPos(pos: number, side?: number): { node: globalThis.Node; offset: number };
  nodeDOM(pos: number): globalThis.Node | null;
  posAtDOM(node: globalThis.Node, offset: number, bias?: number): number;
  pasteText(text: string, event?: ClipboardEvent): boolean;
  endOfTextblock(direction: string, state?: EditorState): boolean;
  someProp(name: string, use?: (value: any) => any): any;
}

export const keymap: (bindings: Record<string, any>) => Plugin;
export const dropCursor: (options?: object) => Plugin;
