// Not compiled by this repository's own builds, which run on Linux.
#if (canImport(UIKit) || canImport(AppKit)) && !os(tvOS) && !os(watchOS)
  #if canImport(UIKit)
    import UIKit
  #else
    import AppKit
  #endif

  /// The undo manager of one view, which the system's menus and gestures call. Text views register
  /// nothing with it, because their undo steps would not be transformed over others' edits.
  final class NoteUndoManager: UndoManager, @unchecked Sendable {
    private let binding: NoteBinding

    init(_ binding: NoteBinding) {
      self.binding = binding
      super.init()
      disableUndoRegistration()
    }

    override var canUndo: Bool { MainActor.assumeIsolated { binding.canUndo } }
    override var canRedo: Bool { MainActor.assumeIsolated { binding.canRedo } }
    override func undo() { MainActor.assumeIsolated { _ = binding.undo() } }
    override func redo() { MainActor.assumeIsolated { _ = binding.redo() } }
  }
#endif
