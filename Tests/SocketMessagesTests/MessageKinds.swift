import SocketMessages

/// The cases of a message type, to ask whether each of them has something.
///
/// A new case of a message does not compile here until it has a kind, and then misses its example.
enum ClientKind: String, CaseIterable {
  case hello, refresh, grant, join, change, select, leave, profile, subscribe, unsubscribe, ping
  case publish, roomHistory, typing, receipt, receipts, lastOnline, block, blocks, flag, flags
  case follow

  init?(_ message: ClientMessage) {
    switch message {
    case .hello: self = .hello
    case .refresh: self = .refresh
    case .grant: self = .grant
    case .join: self = .join
    case .change: self = .change
    case .select: self = .select
    case .leave: self = .leave
    case .profile: self = .profile
    case .subscribe: self = .subscribe
    case .unsubscribe: self = .unsubscribe
    case .publish: self = .publish
    case .roomHistory: self = .roomHistory
    case .typing: self = .typing
    case .receipt: self = .receipt
    case .receipts: self = .receipts
    case .lastOnline: self = .lastOnline
    case .block: self = .block
    case .blocks: self = .blocks
    case .flag: self = .flag
    case .flags: self = .flags
    case .follow: self = .follow
    case .ping: self = .ping
    case .unknown: return nil
    }
  }
}

enum ServerKind: String, CaseIterable {
  case welcome, refreshed, granted, tokenExpiring, accessChanged, joined, changes, acknowledged,
    refused, resync, selections, presence, left
  case subscribed, unsubscribed, resourceUpdate, documentChanged, error, goodbye, pong
  case published, publication, roomHistory, roomPresence, typing, receipt, receipts, lastOnline
  case blocks, flag, flags, following

  init?(_ message: ServerMessage) {
    switch message {
    case .welcome: self = .welcome
    case .refreshed: self = .refreshed
    case .granted: self = .granted
    case .tokenExpiring: self = .tokenExpiring
    case .accessChanged: self = .accessChanged
    case .joined: self = .joined
    case .changes: self = .changes
    case .acknowledged: self = .acknowledged
    case .refused: self = .refused
    case .resync: self = .resync
    case .selections: self = .selections
    case .presence: self = .presence
    case .left: self = .left
    case .subscribed: self = .subscribed
    case .unsubscribed: self = .unsubscribed
    case .published: self = .published
    case .publication: self = .publication
    case .roomHistory: self = .roomHistory
    case .roomPresence: self = .roomPresence
    case .typing: self = .typing
    case .receipt: self = .receipt
    case .receipts: self = .receipts
    case .lastOnline: self = .lastOnline
    case .blocks: self = .blocks
    case .flag: self = .flag
    case .flags: self = .flags
    case .following: self = .following
    case .resourceUpdate: self = .resourceUpdate
    case .documentChanged: self = .documentChanged
    case .error: self = .error
    case .goodbye: self = .goodbye
    case .pong: self = .pong
    case .unknown: return nil
    }
  }
}

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
    case .client: Set(ClientKind.allCases.map(\.rawValue))
    case .server: Set(ServerKind.allCases.map(\.rawValue))
    case .whalerClient: Set(WhalerClientKind.allCases.map(\.rawValue))
    case .whalerServer: Set(WhalerServerKind.allCases.map(\.rawValue))
    }
  }
}
