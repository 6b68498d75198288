// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written from Apple's documentation.
#if canImport(SwiftUI) && (canImport(UIKit) || canImport(AppKit)) && !os(watchOS) && !os(tvOS)
  public import ParleyClient
  public import SwiftUI

  #if !canImport(UIKit)
    public import AppKit
  #endif

  /// An editor of a shared note: text, carets with names and colours, undo of the user's own edits.
  ///
  ///     NoteEditor(parley.note("n-1"))
  ///
  /// To show another note, change the identity: `NoteEditor(note).id(note.id)`.
  @MainActor public struct NoteEditor {
    private let note: Note
    private let onProblem: ((NoteError) -> Void)?

    /// Creates an editor.
    ///
    /// - Parameter onProblem: Called when an edit failed and was reverted.
    public init(_ note: Note, onProblem: ((NoteError) -> Void)? = nil) {
      self.note = note
      self.onProblem = onProblem
    }

    private func update(_ view: NoteTextView) {
      // Read these here, so that SwiftUI calls this again when they change.
      _ = (note.state, note.isWritable)
      view.onProblem = onProblem
      view.update()
    }
  }

  #if canImport(UIKit)
    extension NoteEditor: UIViewRepresentable {
      /// Creates the text view.
      public func makeUIView(context: Context) -> NoteTextView { NoteTextView(note) }

      /// Updates whether the view is editable.
      public func updateUIView(_ view: NoteTextView, context: Context) { update(view) }

      /// Detaches the view from the note.
      public static func dismantleUIView(_ view: NoteTextView, coordinator: ()) {
        view.binding.detach()
      }
    }
  #else
    extension NoteEditor: NSViewRepresentable {
      /// Creates the text view in a scroll view.
      public func makeNSView(context: Context) -> NSScrollView {
        let scroll = NSScrollView()
        scroll.hasVerticalScroller = true
        scroll.documentView = NoteTextView(note)
        return scroll
      }

      /// Updates whether the view is editable.
      public func updateNSView(_ scroll: NSScrollView, context: Context) {
        if let view = scroll.documentView as? NoteTextView { update(view) }
      }

      /// Detaches the view from the note.
      public static func dismantleNSView(_ scroll: NSScrollView, coordinator: ()) {
        (scroll.documentView as? NoteTextView)?.binding.detach()
      }
    }
  #endif
#endif
