// The part of CodeMirror 6 that the page uses, as far as type checks need it.

export type TextInput = string;

export interface Text {
  readonly length: number;
  lineAt(position: number): { readonly from: number; readonly to: number; readonly text: string };
  sliceString(from: number, to?: number): string;
  toString(): string;
}
export const Text: { of(lines: string[]): Text };

export type Extension = any;

export interface AnnotationType<T> {
  of(value: T): any;
}
export const Annotation: { define<T = any>(): AnnotationType<T> };

export const StateEffect: {
  define<T = any>(): { of(value: T): any; is(effect: any): boolean };
  readonly appendConfig: { of(extension: Extension): any };
};

export interface ChangeSet {
  readonly empty: boolean;
  apply(text: Text): Text;
  map(other: ChangeSet, before?: boolean): ChangeSet;
  compose(next: ChangeSet): ChangeSet;
  mapPos(position: number, side?: number): number;
  touchesRange(from: number, to?: number): boolean | "cover";
  iterChanges(
    visit: (from: number, to: number, fromAfter: number, toAfter: number, inserted: Text) => void,
    individual?: boolean,
  ): void;
}
export const ChangeSet: {
  of(changes: object, length: number, lineSeparator?: string): ChangeSet;
};

export interface Transaction {
  readonly docChanged: boolean;
  readonly scrollIntoView: boolean;
  readonly changes: ChangeSet;
  readonly startState: EditorState;
  readonly newDoc: Text;
  readonly effects: readonly { is(type: any): boolean; value: any }[];
  annotation<T>(type: AnnotationType<T>): T | undefined;
  isUserEvent(event: string): boolean;
}
export const Transaction: {
  userEvent: AnnotationType<string>;
  addToHistory: AnnotationType<boolean>;
  remote: AnnotationType<boolean>;
};

export interface EditorSelection {
  readonly main: {
    readonly anchor: number;
    readonly head: number;
    readonly from: number;
    readonly to: number;
    readonly empty: boolean;
  };
}
export const EditorSelection: {
  cursor(position: number): any;
  range(anchor: number, head: number): any;
};

export interface EditorState {
  readonly doc: Text;
  readonly selection: EditorSelection;
  readonly readOnly: boolean;
  field(field: any, isRequired?: boolean): any;
  changes(changes: object): ChangeSet;
}
export const EditorState: {
  create(config: { doc?: string; extensions?: Extension }): EditorState;
  transactionFilter: { of(filter: (transaction: Transaction) => any): Extension };
  lineSeparator: { of(separator: string): Extension };
  tabSize: { of(size: number): Extension };
  phrases: { of(phrases: Record<string, string>): Extension };
  readOnly: { of(isReadOnly: boolean): Extension };
};

export interface ViewUpdate {
  readonly docChanged: boolean;
  readonly selectionSet: boolean;
  readonly focusChanged: boolean;
  readonly viewportChanged: boolean;
  readonly geometryChanged: boolean;
  readonly transactions: readonly Transaction[];
  readonly changes: ChangeSet;
  readonly view: EditorView;
  readonly state: EditorState;
}

export const Decoration: {
  readonly none: any;
  mark(spec: { class?: string; tagName?: string | undefined; attributes?: Record<string, string> }): any;
  line(spec: { attributes?: Record<string, string> }): any;
  widget(spec: { widget: WidgetType; side?: number }): any;
  replace(spec: { widget?: WidgetType }): any;
  set(ranges: any[], isUnsorted?: boolean): any;
};
export class WidgetType {
  eq(other: WidgetType): boolean;
  toDOM(view: EditorView): HTMLElement;
  updateDOM(element: HTMLElement, view: EditorView): boolean;
  ignoreEvent(event: Event): boolean;
}
export const ViewPlugin: {
  fromClass(plugin: new (view: EditorView) => object, spec?: object): Extension;
  define<T extends object>(make: (view: EditorView) => T, spec?: object): Extension & { readonly value: T };
};
export const RangeSetBuilder: {
  new (): { add(from: number, to: number, value: any): void; finish(): any };
};
export const StateField: {
  define<T>(config: {
    create(state: EditorState): T;
    update(value: T, transaction: Transaction): T;
    provide?(field: any): Extension;
  }): Extension;
};

export class EditorView {
  constructor(config: { state: EditorState; parent: Node; root: Document | ShadowRoot });
  readonly state: EditorState;
  readonly scrollDOM: HTMLElement;
  readonly contentDOM: HTMLElement;
  /** The top of the document, from which heights of blocks are measured; pixels of the screen. */
  readonly documentTop: number;
  readonly contentHeight: number;
  lineBlockAt(position: number): { from: number; to: number; top: number; height: number };
  lineBlockAtHeight(height: number): { from: number; to: number; top: number; height: number };
  readonly dom: HTMLElement;
  readonly hasFocus: boolean;
  readonly composing: boolean;
  readonly defaultCharacterWidth: number;
  requestMeasure<T>(request?: { key?: unknown; read(): T; write(measured: T): void }): void;
  plugin(plugin: any): any;
  readonly viewport: { readonly from: number; readonly to: number };
  readonly visibleRanges: readonly { readonly from: number; readonly to: number }[];
  dispatch(...specs: object[]): void;
  setState(state: EditorState): void;
  focus(): void;
  destroy(): void;
  static readonly lineWrapping: Extension;
  static readonly decorations: { from(field: any, make?: (value: any) => any): Extension };
  static domEventHandlers(handlers: {
    paste?: (event: ClipboardEvent, view: EditorView) => boolean;
    drop?: (event: DragEvent, view: EditorView) => boolean;
    click?: (event: MouseEvent, view: EditorView) => boolean;
    mousedown?: (event: MouseEvent, view: EditorView) => boolean;
  }): Extension;
  coordsAtPos(position: number, side?: number): { left: number; right: number; top: number; bottom: number } | null;
  posAtCoords(place: { x: number; y: number }): number | null;
  static scrollIntoView(position: number, options?: object): any;
  static readonly perLineTextDirection: { of(isPerLine: boolean): Extension };
  static readonly editable: { of(isEditable: boolean): Extension };
  static readonly contentAttributes: { of(attributes: Record<string, string>): Extension };
  static readonly clipboardInputFilter: { of(filter: (text: string) => string): Extension };
  static readonly updateListener: { of(listener: (update: ViewUpdate) => void): Extension };
}

export class Compartment {
  of(extension: Extension): Extension;
  reconfigure(extension: Extension): any;
}

export const RectangleMarker: {
  forRange(
    view: EditorView,
    className: string,
    range: any,
  ): { left: number; top: number; width: number | null; height: number }[];
};

export const Prec: { low(extension: Extension): Extension; highest(extension: Extension): Extension };
export const defaultKeymap: any[];
export const historyKeymap: any[];
export const keymap: { of(bindings: any[]): Extension };
export const searchKeymap: { key?: string; scope?: string; run?: any }[];
/** Markdown with GitHub's extensions, such as tables and task lists. */
export const markdownLanguage: { parser: any };
export function markdown(options?: object): { language: any; support: any };
export const Language: { new (data: any, parser: any, extensions: Extension[], name: string): any };
export function bracketMatching(): Extension;
export function drawSelection(config?: { cursorBlinkRate?: number }): Extension;
export function dropCursor(): Extension;
export function ensureSyntaxTree(state: EditorState, upto: number, timeout?: number): object | null;
export function highlightSpecialChars(config?: object): Extension;
export function history(): Extension;
export function indentOnInput(): Extension;
export const isolateHistory: AnnotationType<"before" | "after" | "full">;
export function layer(config: {
  above: boolean;
  class: string;
  markers: (view: EditorView) => readonly object[];
  update: (update: ViewUpdate) => boolean;
}): Extension;
export function placeholder(text: string): Extension;
export function syntaxHighlighting(highlighter: object): Extension;
export function highlightTree(
  tree: object,
  highlighter: object,
  put: (from: number, to: number, classes: string) => void,
): void;
export function syntaxTree(state: EditorState): object;
export function redo(view: EditorView): boolean;
export function undo(view: EditorView): boolean;
