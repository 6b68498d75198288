/// The kind of a file, detected from its bytes. Content type and name from the client are ignored.
struct FileKind: Equatable {
  /// The content type for browsers.
  let type: String
  /// Whether browsers show the file as a picture. Over `pixelsMax` pixels it is downloaded.
  ///
  /// Never SVG, which can contain scripts.
  let isDisplayable: Bool

  /// Maximum pixels of a picture that is shown; 50 million take 200 MB in a browser.
  static let pixelsMax = 50_000_000

  /// Detects the kind of a file.
  ///
  /// - Complexity: O(*n*) for the markers of a JPEG, and O(1) for all others.
  init(of bytes: [UInt8]) {
    if bytes.starts(with: "%PDF-".utf8) {
      (type, isDisplayable) = ("application/pdf", false)
    } else if let picture = Self.pictureType(bytes),
      let size = PictureSize(of: bytes, type: picture), size.pixels <= Self.pixelsMax
    {
      (type, isDisplayable) = (picture.rawValue, true)
    } else {
      // A picture of unknown size, or with too many pixels, is downloaded.
      (type, isDisplayable) = ("application/octet-stream", false)
    }
  }

  /// Types of pictures that browsers show.
  enum PictureType: String {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"
    case avif = "image/avif"
  }

  private static func pictureType(_ bytes: [UInt8]) -> PictureType? {
    if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return .png }
    if bytes.starts(with: [0xff, 0xd8, 0xff]) { return .jpeg }
    if bytes.has("GIF87a", at: 0) || bytes.has("GIF89a", at: 0) { return .gif }
    if bytes.has("RIFF", at: 0), bytes.has("WEBP", at: 8) { return .webp }
    if bytes.has("ftypavif", at: 4) || bytes.has("ftypavis", at: 4) { return .avif }
    return nil
  }
}

extension [UInt8] {
  /// Whether the bytes from `index` on begin with `text`.
  func has(_ text: StaticString, at index: Int) -> Bool {
    text.withUTF8Buffer { index + $0.count <= count && self[index...].starts(with: $0) }
  }
}
