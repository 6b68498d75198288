public import ParleyGatewayPorts

/// Knows what has been delivered and read. A receipt rises and never goes back.
public protocol ReceiptHandler: AnyObject {
  /// Notes a receipt: `receipt`, `unknownPublication` or `failed`.
  func note(
    _ receipt: Receipt, of place: PublicationPlace, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void)
  /// Lists the receipts of a publication: `receipts`, `unknownPublication` or `failed`.
  func list(
    _ place: PublicationPlace, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void)
}

/// Receipts in the gateway's own store, kept as long as the publication.
public final class StoredReceipts: ReceiptHandler {
  /// Makes a handler.
  public init() {}

  /// See ``ReceiptHandler``.
  public func note(
    _ receipt: Receipt, of place: PublicationPlace, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void
  ) {
    store.perform(.receipt(place, receipt), then: proceed)
  }

  /// See ``ReceiptHandler``.
  public func list(
    _ place: PublicationPlace, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void
  ) {
    store.perform(.receipts(place), then: proceed)
  }
}
