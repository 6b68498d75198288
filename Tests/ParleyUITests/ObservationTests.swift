import Foundation
import Observation
import ParleyClient
import ParleyUI
import Synchronization
import Testing

/// Views are redrawn only for properties that notify their observers.
@MainActor @Suite("Observable properties", .timeLimit(.minutes(30)))
struct ObservationTests {
  @MainActor final class Scene {
    let server = ScriptedServer("abc")
    let parley: Parley
    lazy var note = parley.note("n")
    init() { parley = Parley(transport: server, as: "Ann", time: ManualTime(), seed: 1) }
  }

  struct Property: Sendable {
    let name: String
    let read: @MainActor (Scene) -> String
    let change: @MainActor (Scene) async throws -> Void
  }

  /// The properties that compute their values, which the macro does not observe by itself, and the
  /// states of an app.
  private nonisolated static let properties = [
    Property(name: "unsaved") {
      "\($0.parley.unsaved)"
    } change: { scene in
      scene.server.set { $0.holdsAnswers = true }
      try await scene.note.opened()
      try scene.note.append("!")
    },
    Property(name: "serverTime") {
      "\(String(describing: $0.parley.serverTime))"
    } change: {
      try await $0.note.opened()
    },
    Property(name: "connection") {
      "\($0.parley.connection)"
    } change: {
      try await $0.note.opened()
    },
    Property(name: "capabilities") {
      "\(String(describing: $0.parley.capabilities))"
    } change: {
      try await $0.note.opened()
    },
    Property(name: "name") {
      $0.parley.name
    } change: {
      $0.parley.rename("Eva")
    },
    Property(name: "text") {
      $0.note.text
    } change: {
      try await $0.note.opened()
    },
    Property(name: "delta") {
      "\($0.note.delta)"
    } change: {
      try await $0.note.opened()
    },
    Property(name: "utf16Count") {
      "\($0.note.utf16Count)"
    } change: {
      try await $0.note.opened()
    },
    Property(name: "state") {
      "\($0.note.state)"
    } change: {
      try await $0.note.opened()
    },
    Property(name: "title") {
      $0.note.title
    } change: {
      try await $0.note.opened()
    },
  ]

  @Test("a property notifies its observers when its value changes", arguments: properties.indices)
  func notifies(index: Int) async throws {
    let scene = Scene()
    let property = Self.properties[index]
    let isNotified = Mutex(false)
    let former = withObservationTracking {
      property.read(scene)
    } onChange: {
      isNotified.withLock { $0 = true }
    }
    try await property.change(scene)
    #expect(property.read(scene) != former, "\(property.name)")
    #expect(isNotified.withLock { $0 }, "\(property.name) does not notify")
  }

  @Test("every public property that computes its value is among these; none is ignored")
  func all() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    let walked = Set(Self.properties.map(\.name))
    for file in ["Parley", "Note", "Room", "Person"].map({ "ParleyClient/\($0)" }) + [
      "ParleyUI/RepositoryModel"
    ] {
      let text = try String(
        contentsOf: sources.appendingPathComponent("\(file).swift"), encoding: .utf8)
      #expect(!text.contains(/@ObservationIgnored public/), "\(file)")
      // A sequence of updates is no state.
      for name in text.matches(of: /\n  public var (\w+): (?!Updates<)[^=\n]*\{/)
        .map({ String($0.1) })
      {
        #expect(walked.contains(name), "\(file).\(name)")
      }
    }
  }
}
