/// A file of a thread, stored among the files of a note: the thread's album.
public struct ChatFile: Sendable, Hashable, Codable {
  /// The note whose rights the file has.
  public let note: String
  /// The SHA-256 of the content, in 64 hexadecimal digits.
  public let hash: String
  /// The name.
  public let name: String
  /// The number of bytes.
  public let bytes: Int

  /// Creates a file, for example in an app's own upload handler.
  public init(note: String, hash: String, name: String, bytes: Int) {
    self.note = note
    self.hash = hash
    self.name = name
    self.bytes = bytes
  }
}

/// The attachment of a message: a file, and how it is shown.
public struct ChatAttachment: Sendable, Hashable {
  /// The kind of an attachment; it is the message's `type`.
  public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
    /// A picture.
    case image
    /// A recording.
    case audio
    /// A film.
    case video
    /// Any other file.
    case file
  }

  /// The kind.
  public var kind: Kind
  /// The uploaded file.
  public var file: ChatFile
  /// The text that is shown with it, and in notifications.
  public var caption: String?
  /// The width in pixels, for pictures and films.
  public var width: Int?
  /// The height in pixels, for pictures and films.
  public var height: Int?
  /// The milliseconds, for recordings and films.
  public var duration: Int?

  /// Creates an attachment.
  public init(
    _ kind: Kind, _ file: ChatFile, caption: String? = nil, width: Int? = nil, height: Int? = nil,
    duration: Int? = nil
  ) {
    self.kind = kind
    self.file = file
    self.caption = caption
    self.width = width
    self.height = height
    self.duration = duration
  }
}

/// A place on the map.
public struct ChatLocation: Sendable, Hashable, Codable {
  /// The latitude in degrees, from -90 to 90.
  public var latitude: Double
  /// The longitude in degrees, from -180 to 180.
  public var longitude: Double
  /// The name of the place.
  public var text: String?

  /// Creates a place.
  public init(latitude: Double, longitude: Double, text: String? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.text = text
  }

  var isOnEarth: Bool {
    (-90...90).contains(latitude) && (-180...180).contains(longitude)
  }
}

extension ChatMessage {
  /// The attachment; `nil` if the message has none, or one of a kind that this version does not
  /// know.
  public var attachment: ChatAttachment? {
    guard let kind = type.flatMap({ ChatAttachment.Kind(rawValue: $0) }),
      let content = try? decode(AttachmentContent.self)
    else { return nil }
    return ChatAttachment(
      kind, content.file, caption: content.text, width: content.width, height: content.height,
      duration: content.duration)
  }

  /// The place; `nil` for a message of another type.
  public var location: ChatLocation? {
    guard type == LocationContent.type, let place = try? decode(ChatLocation.self),
      place.isOnEarth
    else { return nil }
    return place
  }
}

/// The content of a message with an attachment.
struct AttachmentContent: Codable {
  let type: ChatAttachment.Kind
  let text: String?
  let file: ChatFile
  let width: Int?
  let height: Int?
  let duration: Int?

  init(_ attachment: ChatAttachment) {
    type = attachment.kind
    text = attachment.caption
    file = attachment.file
    width = attachment.width
    height = attachment.height
    duration = attachment.duration
  }
}

/// The content of a message with a place.
struct LocationContent: Encodable {
  static let type = "location"
  let type = Self.type
  let text: String?
  let latitude: Double
  let longitude: Double

  private enum CodingKeys: CodingKey { case type, text, latitude, longitude }
}
