#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Refusal: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension NoteTrouble: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension NoteError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension RoomError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension PublishError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension ValueError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension RequestError: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension NoAnswer: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension ConnectionEnd: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}

extension FileStorage.Failure: LocalizedError {
  /// The reason, and what to do.
  public var errorDescription: String? { description }
}
