import SocketMessages

// The native dialect's kinds are a part of its messages.

/// The cases of a message type, to ask whether each of them has something.
///
/// A new case of a message does not compile here until it has a kind, and then misses its example.
enum WhalerClientKind: String, CaseIterable {
  case resourceConnection, docChange

  init?(_ message: WhalerClientMessage) {
    switch message {
    case .resourceConnection: self = .resourceConnection
    case .docChange: self = .docChange
    case .unknown: return nil
    }
  }
}

enum WhalerServerKind: String, CaseIterable {
  case resourceConnectionConf, docChangeReturnOps, resourceUpdate

  init?(_ message: WhalerServerMessage) {
    switch message {
    case .resourceConnectionConf: self = .resourceConnectionConf
    case .docChangeReturnOps: self = .docChangeReturnOps
    case .resourceUpdate: self = .resourceUpdate
    case .unknown: return nil
    }
  }
}

extension Dialect {
  /// The types of all its messages.
  var types: Set<String> {
    switch direction {
    case .client: Set(ClientMessage.Kind.allCases.map(\.rawValue))
    case .server: Set(ServerMessage.Kind.allCases.map(\.rawValue))
    case .whalerClient: Set(WhalerClientKind.allCases.map(\.rawValue))
    case .whalerServer: Set(WhalerServerKind.allCases.map(\.rawValue))
    }
  }
}
