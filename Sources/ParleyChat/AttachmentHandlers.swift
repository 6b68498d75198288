public import ParleyClient

/// The reason why a message with an attachment was not sent.
public enum AttachmentError: Error, Sendable, Hashable {
  /// The file was not stored.
  case upload(RequestError)
  /// The file is stored, but the message was not published.
  case publish(PublishError)
  /// The place is not on earth: latitudes are from -90 to 90, longitudes from -180 to 180.
  case noPlace
}

extension AttachmentError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .upload(let error): "the file was not stored: \(error)"
    case .publish(let error): "the file is stored, but its message was not sent: \(error)"
    case .noPlace: "expected a latitude from -90 to 90, and a longitude from -180 to 180"
    }
  }
}

/// The files of messages.
@MainActor public protocol UploadHandler: Sendable {
  /// Stores a file for a thread; it is on the server's disk when this returns.
  func upload(
    _ bytes: [UInt8], named name: String, for thread: ChatThread
  ) async throws(RequestError) -> ChatFile

  /// Returns the content of a file.
  func download(_ file: ChatFile) async throws(RequestError) -> [UInt8]
}

/// Messages with pictures.
@MainActor public protocol ImageMessageHandler: Sendable {
  /// Uploads a picture, and sends it.
  ///
  /// - Parameter size: The width and height in pixels, by which views reserve space.
  @discardableResult
  func send(
    image bytes: [UInt8], named name: String, size: (width: Int, height: Int)?, caption: String?,
    to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID
}

/// Messages with recordings.
@MainActor public protocol AudioMessageHandler: Sendable {
  /// Uploads a recording, and sends it.
  ///
  /// - Parameter duration: The milliseconds.
  @discardableResult
  func send(
    audio bytes: [UInt8], named name: String, duration: Int?, caption: String?,
    to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID
}

/// Messages with films.
@MainActor public protocol VideoMessageHandler: Sendable {
  /// Uploads a film, and sends it.
  ///
  /// - Parameter duration: The milliseconds.
  @discardableResult
  func send(
    video bytes: [UInt8], named name: String, size: (width: Int, height: Int)?, duration: Int?,
    caption: String?, to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID
}

/// Messages with other files.
@MainActor public protocol FileMessageHandler: Sendable {
  /// Uploads a file, and sends it.
  @discardableResult
  func send(
    file bytes: [UInt8], named name: String, caption: String?, to thread: ChatThread,
    _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID
}

/// Messages with places.
@MainActor public protocol LocationMessageHandler: Sendable {
  /// Sends a place.
  @discardableResult
  func send(
    location: ChatLocation, to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID
}

extension ImageMessageHandler {
  /// Uploads a picture, and sends it, with the default options.
  @discardableResult
  public func send(
    image bytes: [UInt8], named name: String, size: (width: Int, height: Int)? = nil,
    caption: String? = nil, to thread: ChatThread
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(
      image: bytes, named: name, size: size, caption: caption, to: thread, SendOptions())
  }
}

extension AudioMessageHandler {
  /// Uploads a recording, and sends it, with the default options.
  @discardableResult
  public func send(
    audio bytes: [UInt8], named name: String, duration: Int? = nil, caption: String? = nil,
    to thread: ChatThread
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(
      audio: bytes, named: name, duration: duration, caption: caption, to: thread, SendOptions())
  }
}

extension VideoMessageHandler {
  /// Uploads a film, and sends it, with the default options.
  @discardableResult
  public func send(
    video bytes: [UInt8], named name: String, size: (width: Int, height: Int)? = nil,
    duration: Int? = nil, caption: String? = nil, to thread: ChatThread
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(
      video: bytes, named: name, size: size, duration: duration, caption: caption, to: thread,
      SendOptions())
  }
}

extension FileMessageHandler {
  /// Uploads a file, and sends it, with the default options.
  @discardableResult
  public func send(
    file bytes: [UInt8], named name: String, caption: String? = nil, to thread: ChatThread
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(file: bytes, named: name, caption: caption, to: thread, SendOptions())
  }
}

extension LocationMessageHandler {
  /// Sends a place, with the default options.
  @discardableResult
  public func send(
    location: ChatLocation, to thread: ChatThread
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(location: location, to: thread, SendOptions())
  }
}

/// Messages with attachments: the file goes through the upload handler, the message through the core
/// handler, whichever the app has set.
struct AttachmentMessages: ImageMessageHandler, AudioMessageHandler, VideoMessageHandler,
  FileMessageHandler
{
  let core: any CoreHandler
  let upload: any UploadHandler

  func send(
    image bytes: [UInt8], named name: String, size: (width: Int, height: Int)?, caption: String?,
    to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(bytes, name, thread, options) {
      ChatAttachment(.image, $0, caption: caption, width: size?.width, height: size?.height)
    }
  }

  func send(
    audio bytes: [UInt8], named name: String, duration: Int?, caption: String?,
    to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(bytes, name, thread, options) {
      ChatAttachment(.audio, $0, caption: caption, duration: duration)
    }
  }

  func send(
    video bytes: [UInt8], named name: String, size: (width: Int, height: Int)?, duration: Int?,
    caption: String?, to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(bytes, name, thread, options) {
      ChatAttachment(
        .video, $0, caption: caption, width: size?.width, height: size?.height, duration: duration)
    }
  }

  func send(
    file bytes: [UInt8], named name: String, caption: String?, to thread: ChatThread,
    _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID {
    try await send(bytes, name, thread, options) { ChatAttachment(.file, $0, caption: caption) }
  }

  private func send(
    _ bytes: [UInt8], _ name: String, _ thread: ChatThread, _ options: SendOptions,
    _ make: (ChatFile) -> ChatAttachment
  ) async throws(AttachmentError) -> ChatMessage.ID {
    let file: ChatFile
    do throws(RequestError) {
      file = try await upload.upload(bytes, named: name, for: thread)
    } catch {
      throw .upload(error)
    }
    do throws(PublishError) {
      return try await core.send(AttachmentContent(make(file)), to: thread, options)
    } catch {
      throw .publish(error)
    }
  }
}

/// Messages with places.
struct LocationMessages: LocationMessageHandler {
  let core: any CoreHandler

  func send(
    location: ChatLocation, to thread: ChatThread, _ options: SendOptions
  ) async throws(AttachmentError) -> ChatMessage.ID {
    guard location.isOnEarth else { throw .noPlace }
    let content = LocationContent(
      text: location.text, latitude: location.latitude, longitude: location.longitude)
    do throws(PublishError) {
      return try await core.send(content, to: thread, options)
    } catch {
      throw .publish(error)
    }
  }
}
