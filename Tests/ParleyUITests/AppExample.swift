// swift-format-ignore-file
// The view of Documentation/SwiftApp.md. Compiled where there is SwiftUI; here, Scripts/apple-check.sh
// type-checks it.
#if canImport(SwiftUI)
import ParleyClient
import ParleyUI
import SwiftUI

struct NotePage: View {
  let note: Note

  var body: some View {
    NotePeopleView(note)
    NoteEditor(note)
    NoteStatusView(note)
  }
}
#endif
