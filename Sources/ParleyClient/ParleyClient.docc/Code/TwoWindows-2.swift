import ParleyClient
import ParleyUI
import SwiftUI

@main struct TwoWindowsApp: App {
  @State private var ann = Parley("ws://127.0.0.1:8080", as: "Ann", color: "#d32f2f")

  var body: some Scene {
    WindowGroup("Ann") { NoteWindow(note: ann.note("n-1")) }
  }
}

struct NoteWindow: View {
  let note: Note

  var body: some View {
    NoteEditor(note)
  }
}
