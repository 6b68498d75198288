public import GatewayPorts

/// The outcome of a receipt, or of a question for receipts.
public enum ReceiptOutcome: Sendable, Equatable {
  /// The receipt as it now stands; who wrote the publication; whether it rose.
  case noted(Receipt, author: PersonID?, isChanged: Bool)
  /// All receipts of a publication, and who wrote it.
  case list([Receipt], author: PersonID?)
  /// There is no such publication, or it is no longer kept.
  case unknownPublication
  /// It cannot be done now.
  case failed(StoreError)
}

/// Knows what has been delivered and read. A receipt rises and never goes back.
public protocol ReceiptHandler: AnyObject {
  /// Notes a receipt.
  func note(
    _ receipt: Receipt, of place: PublicationPlace, store: any PeopleStore,
    then goOn: @escaping (ReceiptOutcome) -> Void)
  /// Lists the receipts of a publication.
  func list(
    _ place: PublicationPlace, store: any PeopleStore,
    then goOn: @escaping (ReceiptOutcome) -> Void)
}

/// Receipts in the gateway's own store, kept as long as the publication.
public final class StoredReceipts: ReceiptHandler {
  /// Makes a handler.
  public init() {}

  /// See ``ReceiptHandler``.
  public func note(
    _ receipt: Receipt, of place: PublicationPlace, store: any PeopleStore,
    then goOn: @escaping (ReceiptOutcome) -> Void
  ) {
    store.perform(.receipt(place, receipt)) { goOn(Self.outcome($0)) }
  }

  /// See ``ReceiptHandler``.
  public func list(
    _ place: PublicationPlace, store: any PeopleStore,
    then goOn: @escaping (ReceiptOutcome) -> Void
  ) {
    store.perform(.receipts(place)) { goOn(Self.outcome($0)) }
  }

  private static func outcome(_ reply: PeopleReply) -> ReceiptOutcome {
    let outcome = reply.outcome { reply -> ReceiptOutcome? in
      switch reply {
      case .receipt(let receipt, let author, let isChanged):
        .noted(receipt, author: author, isChanged: isChanged)
      case .receipts(let receipts, let author): .list(receipts, author: author)
      case .unknownPublication: .unknownPublication
      default: nil
      }
    }
    switch outcome {
    case .success(let outcome): return outcome
    case .failure(let error): return .failed(error)
    }
  }
}
