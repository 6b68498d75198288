package import ParleyGatewayPorts

/// Texts to be folded from their logs, by the connection that reads, while the other one commits.
package enum FoldOrder: Sendable {
  /// A document whose newest snapshot lies far behind its head.
  case snapshot(DocumentID)
  /// A document whose log has grown beyond what a rule keeps.
  case retention(DocumentID, Retention)

  /// The document.
  package var id: DocumentID {
    switch self {
    case .snapshot(let id), .retention(let id, _): id
    }
  }
}
