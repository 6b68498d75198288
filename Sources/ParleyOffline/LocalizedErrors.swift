#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension OutboxError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension OfflineStoreError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension FetchError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension MutationRefusal: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension WebRequestNotSent: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}
