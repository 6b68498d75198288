import ParleyGatewayPorts

/// The open store of each loop, and the secrets contained in the store.
struct OpenStores {
  /// Secret keys of this server, created at its first start.
  struct Secrets: Sendable {
    let resumeTokens, hints, ownTokens, signIns, resets: [UInt8]

    init(of store: any ServerStore) throws {
      resumeTokens = try store.secret(named: "resume tokens", byteCount: 32)
      hints = try store.secret(named: "hints", byteCount: 32)
      ownTokens = try store.secret(named: "own tokens", byteCount: 32)
      signIns = try store.secret(named: "sign-ins", byteCount: 32)
      resets = try store.secret(named: StoreCommands.resetSecret, byteCount: 32)
    }
  }

  /// Milliseconds without activity after which an empty room is removed: a week.
  private static let emptyRoomMilliseconds: Timestamp = 7 * 86_400_000

  let provisioning: any StoreProvisioning
  /// The stores, by the number of the loop.
  let all: [Handover<any ServerStore>]
  let secrets: Secrets

  var first: Handover<any ServerStore> { all[0] }

  init(_ configuration: Configuration, log: any LogSink) throws {
    provisioning = configuration.store
    let first = Handover(try provisioning.open())
    if let remark = first.prepare({ $0.openingRemark }) {
      log.write(.warning, remark.message, [("reason", remark.reason), ("hint", remark.hint)])
    }
    // Before the first connection, since clients could not resume in a removed room. On failure,
    // for example on a full disk, the next start removes the rooms.
    let idleSince = SystemClock().now - Self.emptyRoomMilliseconds
    first.prepare { _ = try? $0.removeEmptyRooms(idleSince: idleSince) }
    secrets = try first.prepare { try Secrets(of: $0) }
    var all = [first]
    for _ in 1..<configuration.loopCount { all.append(Handover(try provisioning.open())) }
    self.all = all
  }

  /// Opens the store again, for a thread that only reads.
  func reading() throws -> Handover<any DocumentStore> {
    Handover(try provisioning.openForReading())
  }
}
