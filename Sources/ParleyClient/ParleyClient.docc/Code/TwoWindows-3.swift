import ParleyClient
import ParleyUI
import SwiftUI

@main struct TwoWindowsApp: App {
  // Two people, as on two devices.
  @State private var ann = Parley("ws://127.0.0.1:8080", as: "Ann", color: "#d32f2f")
  @State private var ben = Parley("ws://127.0.0.1:8080", as: "Ben", color: "#303f9f")

  var body: some Scene {
    WindowGroup("Ann") { NoteWindow(note: ann.note("n-1")) }
    WindowGroup("Ben", id: "ben") { NoteWindow(note: ben.note("n-1")) }
  }
}

struct NoteWindow: View {
  let note: Note
  @Environment(\.openWindow) private var openWindow

  var body: some View {
    VStack {
      Button("Second window") { openWindow(id: "ben") }
      NoteEditor(note)
    }
  }
}
