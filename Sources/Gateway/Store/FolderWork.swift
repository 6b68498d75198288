import GatewayPorts

/// Work with folders that a request asks for, until the store has answered.
enum FolderWork {
  /// Listing folders for somebody.
  case list(Identity, limit: Int)
  /// Moving a folder.
  case moveAll
}
