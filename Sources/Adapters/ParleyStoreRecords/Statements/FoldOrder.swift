package import ParleyGatewayPorts

/// A text to be folded from its log by the reading connection, while the other connection commits.
package enum FoldOrder: Sendable {
  /// A document whose newest snapshot is far behind its head.
  case snapshot(DocumentID)
  /// A document whose log is overlong by a retention rule.
  case retention(DocumentID, Retention)

  /// The document's id.
  package var id: DocumentID {
    switch self {
    case .snapshot(let id), .retention(let id, _): id
    }
  }
}
