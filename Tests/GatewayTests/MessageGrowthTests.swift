import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyJSON
import OTCore
import SocketMessages
import Testing

/// A message that is handled by a gateway that contains a large amount of something.
struct GatewayWork: Sendable, CustomStringConvertible {
  /// The message, and the large amount.
  let description: String
  /// The smaller of the two measured amounts.
  let size: Int
  let prepare: @Sendable (QuietRig, _ size: Int) -> Void
  /// Leaves the gateway as it was after two steps, apart from a few more changes or publications.
  let step: @Sendable (QuietRig, _ size: Int) -> Void

  init(
    _ description: String, _ size: Int, prepare: @escaping @Sendable (QuietRig, Int) -> Void,
    step: @escaping @Sendable (QuietRig, Int) -> Void
  ) {
    self.description = description
    self.size = size
    self.prepare = prepare
    self.step = step
  }

  var law: GrowthLaw {
    GrowthLaw(description, size: size) { size in
      let rig = QuietRig()
      prepare(rig, size)
      return (rig: rig, size: size)
    } run: { rig, size in
      step(rig, size)
      step(rig, size)
    }
  }
}

extension GatewayWork {
  private static let people = 250
  private static let many = 2_000

  /// Returns the measurements of a kind of message. No default: each new kind needs its own work.
  static func all(_ kind: ClientMessage.Kind) -> [GatewayWork] {
    let document = QuietRig.document
    let room = QuietRig.room
    switch kind {
    case .hello:
      return [
        GatewayWork("hello with a long name, among people", people) {
          $0.enter($1)
        } step: { rig, size in
          let connection = rig.open()
          let name = String(repeating: "é", count: 100 * size)
          rig.ask(connection, .hello(.init(name: name, token: QuietRig.person(0))))
          rig.close(connection)
        }
      ]
    case .refresh:
      return [
        GatewayWork("refresh with subscriptions", 500) {
          $0.follow($1)
        } step: { rig, _ in
          rig.ask(0, .refresh(.init(token: QuietRig.person(0))))
        }
      ]
    case .grant:
      return [
        GatewayWork("grant with subscriptions", 500) {
          $0.follow($1)
        } step: { rig, _ in
          rig.ask(0, .grant(.init(token: QuietRig.pass)))
        }
      ]
    case .join:
      return [
        GatewayWork("join a long text", 20_000) {
          $0.enter(1)
          $0.write(scalars: $1)
        } step: { rig, _ in
          rig.ask(1, .join(.init(documentID: document)))
          rig.ask(1, .leave(.init(documentID: document)))
        },
        GatewayWork("join after revisions", many) { rig, size in
          rig.enter(1)
          rig.write(scalars: 1)
          for _ in 0..<size { rig.change([.insert("a"), .retain(rig.revision)]) }
        } step: { rig, _ in
          let start = ResumePoint(epoch: QuietRig.epoch, revision: 1)
          rig.ask(1, .join(.init(documentID: document, resume: start)))
          rig.ask(1, .leave(.init(documentID: document)))
        },
      ]
    case .create:
      return [
        GatewayWork("create with a long title", 20_000) { _, _ in
        } step: { rig, size in
          rig.ask(0, .create(.init(documentID: "made", title: String(repeating: "é", count: size))))
        }
      ]
    case .documentHistory:
      return [
        GatewayWork("documentHistory of revisions", many) { rig, size in
          rig.enter(1)
          rig.write(scalars: 1)
          for _ in 0..<size { rig.change([.insert("a"), .retain(rig.revision)]) }
        } step: { rig, size in
          let start = ResumePoint(epoch: QuietRig.epoch, revision: 1)
          rig.ask(1, .documentHistory(.init(documentID: document, resume: start, limit: size)))
        }
      ]
    case .leave:
      return [
        // Both sizes exceed the caches.
        GatewayWork("leave people, and join them", 4 * people) {
          $0.gather($1, joins: true)
        } step: { rig, _ in
          rig.ask(0, .leave(.init(documentID: document)))
          rig.ask(0, .join(.init(documentID: document)))
          rig.tick()
        }
      ]
    case .change:
      return [
        GatewayWork("change of many components", many) {
          $0.write(scalars: $1)
        } step: { rig, size in
          let isInserting = rig.alternate()
          var operation = TextOperation()
          for _ in 0..<size {
            if isInserting { operation.insert("a") } else { operation.delete(1) }
            operation.retain(1)
          }
          rig.change(operation)
        },
        GatewayWork("change among people", people) {
          $0.gather($1, joins: true)
        } step: { rig, _ in
          rig.change(rig.alternate() ? [.insert("a")] : [.delete(1)])
        },
        GatewayWork("change that is late by revisions", many) { rig, size in
          rig.enter(1)
          rig.write(scalars: 1)
          rig.ask(1, .join(.init(documentID: document)))
          for _ in 0..<size { rig.change([.insert("a"), .retain(rig.revision)]) }
        } step: { rig, _ in
          rig.changeLate()
        },
      ]
    case .select:
      return [
        GatewayWork("select with many carets", many) {
          $0.enter(1)
          $0.write(scalars: $1)
          $0.ask(1, .join(.init(documentID: document)))
        } step: { rig, size in
          let shift = rig.alternate() ? 1 : 0
          let carets = (0..<size - 1).map { Selection(anchor: $0 + shift, head: $0 + 1) }
          rig.ask(
            0,
            .select(.init(documentID: document, revision: rig.revision, selections: carets)))
          rig.tick()
        },
        GatewayWork("select among people", people) {
          $0.gather($1, joins: true)
          $0.write(scalars: 1)
        } step: { rig, _ in
          let place = rig.alternate() ? 1 : 0
          rig.ask(
            0,
            .select(
              .init(
                documentID: document, revision: rig.revision,
                selections: [Selection(anchor: place, head: place)])))
          rig.tick()
        },
      ]
    case .profile:
      return [
        GatewayWork("profile among people", people) {
          $0.gather($1, joins: true)
        } step: { rig, _ in
          rig.ask(0, .profile(.init(name: "n", color: rig.alternate() ? "#123456" : "#654321")))
          rig.tick()
        },
        GatewayWork("profile in documents", 500) {
          $0.follow($1)
        } step: { rig, _ in
          rig.ask(0, .profile(.init(name: "n", color: rig.alternate() ? "#123456" : "#654321")))
          rig.tick()
        },
      ]
    case .subscribe:
      return [
        GatewayWork("subscribe after publications, to a room of people", people) {
          $0.publications($1)
          $0.gather($1, subscribes: true, presence: true)
        } step: { rig, _ in
          rig.ask(0, .unsubscribe(.init(room: room)))
          rig.ask(
            0,
            .subscribe(
              .init(room: room, position: RoomPosition(epoch: "first", offset: 0), isPresent: true))
          )
          rig.tick()
        }
      ]
    case .unsubscribe:
      return [
        GatewayWork("unsubscribe from one room of many", 500) {
          $0.follow($1)
        } step: { rig, _ in
          rig.ask(0, .unsubscribe(.init(room: "name 0")))
          rig.ask(0, .subscribe(.init(room: "name 0")))
        }
      ]
    case .publish:
      return [
        GatewayWork("publish long data", 20_000) { rig, _ in
          rig.gather(2, subscribes: true)
        } step: { rig, size in
          let data = JSONValue(String(repeating: "é", count: size))
          rig.ask(0, .publish(.init(room: room, data: data)))
        },
        GatewayWork("publish to people", people) {
          $0.gather($1, subscribes: true)
        } step: { rig, _ in
          rig.ask(0, .publish(.init(room: room, data: .null, pushes: true)))
        },
      ]
    case .values:
      return [
        GatewayWork("values of a room", 100) { rig, size in
          rig.gather(1, subscribes: true)
          for start in stride(from: 0, to: size, by: 100) {
            let list = (start..<min(start + 100, size)).map {
              ValueOperation(ValueName("v\($0)"), .set(.null))
            }
            var publish = ClientMessage.Publish(room: room, data: .null)
            publish.values = ValueOperationList(list)
            rig.ask(0, .publish(publish))
          }
        } step: { rig, _ in
          rig.ask(0, .values(.init(room: room)))
        }
      ]
    case .signal:
      return [
        GatewayWork("signal to people", people) {
          $0.gather($1, subscribes: true)
        } step: { rig, _ in
          rig.ask(0, .signal(.init(room: room, name: "p", data: .null)))
        }
      ]
    case .roomPresence:
      return [
        GatewayWork("presence data", 500) { rig, size in
          rig.gather(2, subscribes: true, presence: true)
        } step: { rig, size in
          rig.ask(
            0,
            .roomPresence(
              .init(room: room, data: JSONValue(String(repeating: "x", count: size)))))
        }
      ]
    case .roomHistory:
      return [
        GatewayWork("roomHistory of publications", 500) {
          $0.publications($1)
          $0.gather(1, subscribes: true)
        } step: { rig, size in
          rig.ask(0, .roomHistory(.init(room: room, limit: size)))
          rig.ask(0, .roomHistory(.init(room: room, since: 0, limit: size)))
        }
      ]
    case .typing:
      return [
        GatewayWork("typing before people", people) {
          $0.gather($1, subscribes: true)
        } step: { rig, _ in
          rig.ask(0, .typing(.init(room: room, isTyping: rig.alternate())))
          rig.tick()
        },
        GatewayWork("typing of people, each in another room", people) { rig, size in
          rig.enter(size - 1)
          for index in 0..<size { rig.ask(index, .subscribe(.init(room: "room \(index)"))) }
        } step: { rig, size in
          let isTyping = rig.alternate()
          for index in 0..<size {
            rig.ask(index, .typing(.init(room: "room \(index)", isTyping: isTyping)))
          }
        },
      ]
    case .receipt:
      return [
        GatewayWork("receipt among publications and people", people) {
          $0.publications($1)
          $0.gather($1, subscribes: true)
        } step: { rig, size in
          rig.ask(1, .receipt(.init(room: room, offset: size, state: .read)))
        }
      ]
    case .receipts:
      return [
        GatewayWork("receipts of people", 500) {
          $0.publications(1)
          $0.gather(1, subscribes: true)
          $0.people($1) {
            .receipt(
              PublicationAddress(room: RoomName(QuietRig.room), offset: 1),
              Receipt(personID: PersonID(QuietRig.person($0 + 1)), stage: .read))
          }
        } step: { rig, _ in
          rig.ask(0, .receipts(.init(room: room, offset: 1)))
        }
      ]
    case .lastOnline:
      return [
        GatewayWork("lastOnline of people", 500) {
          $0.gather(1, subscribes: true)
          $0.people($1) {
            .member(RoomName(QuietRig.room), PersonID(QuietRig.person($0)), isMember: true)
          }
          $0.people($1) { .online([PersonID(QuietRig.person($0))], 1) }
        } step: { rig, size in
          rig.ask(0, .lastOnline(.init(room: room, people: (0..<size).map(QuietRig.person))))
        }
      ]
    case .block:
      return [
        GatewayWork("block among blocks", 100) { rig, size in
          for index in 0..<size {
            rig.ask(0, .block(.init(personID: "other \(index)", isBlocked: true)))
          }
        } step: { rig, _ in
          rig.ask(0, .block(.init(personID: "other 0", isBlocked: rig.alternate())))
        }
      ]
    case .blocks:
      return [
        GatewayWork("blocks", 100) { rig, size in
          for index in 0..<size {
            rig.ask(0, .block(.init(personID: "other \(index)", isBlocked: true)))
          }
        } step: { rig, _ in
          rig.ask(0, .blocks)
        }
      ]
    case .flag:
      return [
        GatewayWork("flag among flags and people", people) {
          $0.publications($1)
          $0.gather($1, subscribes: true)
          $0.flags($1)
        } step: { rig, size in
          rig.ask(1, .flag(.init(room: room, offset: size, isFlagged: rig.alternate())))
        }
      ]
    case .flags:
      return [
        GatewayWork("flags", 500) {
          $0.publications($1)
          $0.gather(1, subscribes: true)
          $0.flags($1)
        } step: { rig, _ in
          rig.ask(0, .flags(.init(room: room)))
        }
      ]
    case .follow:
      return [
        GatewayWork("follow among followers", 500) {
          $0.gather(1, subscribes: true)
          $0.people($1) {
            .member(RoomName(QuietRig.room), PersonID(QuietRig.person($0 + 1)), isMember: true)
          }
        } step: { rig, _ in
          rig.ask(0, .follow(.init(room: room, isFollowing: rig.alternate())))
        }
      ]
    case .ping:
      return [
        GatewayWork("ping with subscriptions", 500) {
          $0.follow($1)
        } step: { rig, _ in
          rig.ask(0, .ping)
        }
      ]
    }
  }
}

extension QuietRig {
  /// Stores publication flags, each by another person.
  fileprivate func flags(_ count: Int) {
    people(count) {
      .flag(
        RoomName(Self.room),
        PublicationFlag(
          offset: $0 + 1, personID: PersonID(Self.person($0 + 2)), reason: "why", time: 1))
    }
  }
}

@Suite("Growth of handling messages", .serialized)
struct MessageGrowthTests {
  @Test(
    "eight times as much of anything costs at most sixteen times as much",
    arguments: ClientMessage.Kind.allCases.flatMap(GatewayWork.all))
  func growth(work: GatewayWork) {
    let finding = work.law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test(
    "each message has work in which it is sent, and done", arguments: ClientMessage.Kind.allCases)
  func table(kind: ClientMessage.Kind) {
    for work in GatewayWork.all(kind) {
      let rig = QuietRig(reads: true)
      work.prepare(rig, 8)
      for _ in 0..<4 { work.step(rig, 8) }
      #expect(rig.kinds.contains(kind), "\(work)")
      #expect(rig.refusals == [], "\(work)")
    }
    #expect(!GatewayWork.all(kind).isEmpty)
  }
}
