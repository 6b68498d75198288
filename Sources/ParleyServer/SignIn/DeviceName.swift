package import ParleyGatewayPorts

/// The names of browser and system, from the header `User-Agent`.
///
/// The name is shown to the session's owner, and has no effect on rights. It contains no text of
/// the header except an unknown program's name, limited to letters, digits, `-`, `_` and `.`.
package enum DeviceName {
  /// Tokens of browsers with their names. The first match counts: most browsers name others too.
  private static let browsers = [
    ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("OPT/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"),
    ("YaBrowser/", "Yandex Browser"),
    ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"),
    ("Chromium/", "Chromium"), ("Safari/", "Safari"),
  ]
  /// Tokens of systems with their names. The first match counts.
  private static let systems = [
    ("Windows", "Windows"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"),
  ]
  /// Maximum bytes of the header that are searched.
  private static let bytesMax = 1_000
  private static let nameBytesMax = 40

  /// Returns the device of a request; the name of an unknown browser or system may be empty.
  package static func device(of head: RequestHead) -> Session.Device {
    let text = String(
      decoding: (head.headers["user-agent"] ?? "").utf8.prefix(bytesMax), as: UTF8.self)
    func first(_ marks: [(mark: String, name: String)]) -> String? {
      marks.first { text.contains($0.mark) }?.name
    }
    return Session.Device(
      browser: first(browsers) ?? programName(in: text), system: first(systems) ?? "")
  }

  /// Returns the name of the header's first product, such as `curl` in `curl/8.5`.
  private static func programName(in text: String) -> String {
    let name = text.utf8.prefix { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    return String(decoding: name.prefix(nameBytesMax), as: UTF8.self)
  }
}
