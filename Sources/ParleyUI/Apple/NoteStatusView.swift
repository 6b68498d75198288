// This repository's own builds, which run on Linux, do not compile it. `make apple-check` compares
// it with declarations written from Apple's documentation.
#if canImport(SwiftUI)
  public import ParleyClient
  public import ParleyOffline
  public import SwiftUI

  /// A line with a note's state, and buttons for decisions.
  public struct NoteStatusView: View {
    private let note: Note

    /// Creates a view.
    public init(_ note: Note) { self.note = note }

    /// The line with the state.
    public var body: some View {
      let summary = NoteSummary(note)
      HStack {
        Image(systemName: summary.symbol).accessibilityHidden(true)
        Text(summary.words)
        ForEach(summary.remedies, id: \.self) { remedy in
          Button(remedy.title) { remedy.apply(to: note) }
        }
      }
      .foregroundStyle(summary.isProblem ? Color.red : Color.secondary)
      .accessibilityElement(children: .combine)
    }
  }

  /// The other people in a note, as badges in their colours.
  public struct NotePeopleView: View {
    private let note: Note
    private let most: Int

    /// Creates a view.
    ///
    /// - Parameter most: Maximum badges.
    public init(_ note: Note, most: Int = 5) {
      self.note = note
      self.most = most
    }

    /// The row of badges.
    public var body: some View {
      let summary = PeopleSummary(note.people, count: note.peopleCount, most: most)
      HStack {
        ForEach(summary.badges) { badge in
          Text(badge.initials)
            .padding(4)
            .background(Color(badge.color), in: Circle())
            .foregroundStyle(badge.color.takesDarkText ? Color.black : Color.white)
            .opacity(badge.isWriting ? 1 : 0.7)
            .accessibilityLabel(Text(badge.name))
        }
        if summary.further > 0 { Text("+\(summary.further)") }
      }
    }
  }

  extension Color {
    init(_ color: CaretColor) {
      self.init(.sRGB, red: color.red, green: color.green, blue: color.blue, opacity: 1)
    }
  }

  /// A list of a `Repository`'s resources, with the number of waiting changes, pull to refresh
  /// and swipe to delete.
  ///
  ///     RepositoryList(contacts) { contact in Text(contact.name) }
  public struct RepositoryList<Model: OfflineModel, Row: View>: View {
    @State private var model: RepositoryModel<Model>
    private let row: (Model) -> Row

    /// Creates a list. Only the repository given when the view first appears is used.
    public init(_ repository: Repository<Model>, @ViewBuilder row: @escaping (Model) -> Row) {
      _model = State(initialValue: RepositoryModel(repository))
      self.row = row
    }

    /// Creates a list of the app's own model.
    public init(_ model: RepositoryModel<Model>, @ViewBuilder row: @escaping (Model) -> Row) {
      _model = State(initialValue: model)
      self.row = row
    }

    /// The list.
    public var body: some View {
      List {
        if case .failed(let error) = model.state { Text(error.description) }
        if let problem = model.problem { Text(problem.description) }
        if !model.problems.isEmpty { Text("To be decided: \(model.problems.count)") }
        ForEach(model.items) { item in row(item) }
          .onDelete { places in
            let places = Array(places)
            Task { await model.delete(places) }
          }
        if model.waiting > 0 { Text("Waiting for the server: \(model.waiting)") }
      }
      .refreshable { [model] in await model.refresh() }
      .task { [model] in await model.run() }
    }
  }
#endif
