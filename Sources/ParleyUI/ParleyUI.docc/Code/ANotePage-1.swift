import ParleyClient
import ParleyUI
import SwiftUI

struct NotePage: View {
  let note: Note

  var body: some View {
    NoteEditor(note)
  }
}
