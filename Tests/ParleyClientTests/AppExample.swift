// swift-format-ignore-file
// The app of Documentation/SwiftApp.md. Compiled where there is SwiftUI, which is not where this
// repository's own tests run.
#if canImport(SwiftUI)
import ParleyClient
import SwiftUI

enum Login { static func token() async throws -> String? { nil } }

struct NoteView: View {
  @Bindable var note: Note

  var body: some View {
    TextEditor(text: $note.text).disabled(!note.isWritable)
    HStack {
      ForEach(note.people) { Text($0.name) }
      Text(note.unsaved == 0 ? "Saved" : "\(note.unsaved) unsaved")
    }
  }
}

struct NotesApp: App {
  @State private var parley = Parley("wss://notes.example.org", as: "Ann") {
    try await Login.token()
  }

  var body: some Scene { WindowGroup { NoteView(note: parley.note("n-1")) } }
}
#endif
