public import ParleyGatewayPorts

/// Records what was delivered and read. A receipt's stage never decreases.
public protocol ReceiptHandler: AnyObject {
  /// Stores a receipt. Replies `receipt`, `unknownPublication` or `failed`.
  func note(
    _ receipt: Receipt, of place: PublicationAddress, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void)
  /// Lists a publication's receipts. Replies `receipts`, `unknownPublication` or `failed`.
  func list(
    _ place: PublicationAddress, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void)
}

/// Receipts in the gateway's own store, retained as long as the publication.
public final class StoredReceipts: ReceiptHandler {
  /// Creates a handler.
  public init() {}

  /// See ``ReceiptHandler``.
  public func note(
    _ receipt: Receipt, of place: PublicationAddress, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void
  ) {
    store.perform(.receipt(place, receipt), then: proceed)
  }

  /// See ``ReceiptHandler``.
  public func list(
    _ place: PublicationAddress, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void
  ) {
    store.perform(.receipts(place), then: proceed)
  }
}
