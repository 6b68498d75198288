import ParleyClient
import ParleyUI
import SwiftUI

struct NotePage: View {
  let parley: Parley
  let note: Note

  var body: some View {
    VStack {
      NotePeopleView(note)
      NoteEditor(note) { problem in print(problem) }
      NoteStatusView(note)
    }
    .followScenePhase(of: parley)
  }
}
