// The board of index.html for iOS and macOS: drag a card to a column, and see others move theirs.
//
// Put this file and Board.swift into an app that has this package's ParleyClient.
import ParleyClient
import SwiftUI

@main struct BoardApp: App {
  @State private var parley: Parley
  @State private var board: Board

  init() {
    let parley = Parley("ws://127.0.0.1:8080", as: "Ann")
    _parley = State(initialValue: parley)
    _board = State(initialValue: Board(parley.room("plans"), for: "Ann"))
  }

  var body: some Scene {
    WindowGroup("Board") { BoardView(board: board) }
  }
}

struct BoardView: View {
  let board: Board
  @State private var text = ""
  @State private var problem: String?

  var body: some View {
    VStack {
      HStack {
        TextField("A new card", text: $text).onSubmit { add() }
        Button("Add") { add() }
        Text("\(board.moves) moves")
      }
      HStack {
        ForEach(Board.columns, id: \.self) { column in
          VStack {
            Text(column)
            ForEach(board.cards(in: column), id: \.name) { name, card in
              Text(card.text).draggable(name)
            }
            Spacer()
          }
          .dropDestination(for: String.self) { names, _ in
            for name in names { change { try await board.move(name, to: column) } }
            return true
          }
        }
      }
      if let problem { Text(problem) }
    }
    .padding()
  }

  private func add() {
    let text = text
    self.text = ""
    change { try await board.add(text) }
  }

  /// Makes a change, which shows at once; a refused one is withdrawn.
  private func change(_ body: @escaping @MainActor () async throws -> Void) {
    Task {
      do { try await body() } catch { problem = "\(error)" }
    }
  }
}
