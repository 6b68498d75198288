package import GatewayPorts

/// Browser and system in words, from the header `User-Agent`.
///
/// The name is shown to the owner of the session, and decides nothing. It contains no text of the header but a program's
/// own name: letters, digits and a few signs, cut to a bound.
package enum DeviceName {
  /// Marks of browsers with their names. The first that is found counts: most browsers name others as well.
  private static let browsers = [
    ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("OPT/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"),
    ("YaBrowser/", "Yandex Browser"),
    ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"),
    ("Chromium/", "Chromium"), ("Safari/", "Safari"),
  ]
  /// Marks of systems with their names, in the same way.
  private static let systems = [
    ("Windows", "Windows"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"),
  ]
  /// Bytes of the header that are searched.
  private static let bytesMax = 1_000
  private static let nameBytesMax = 40

  /// The device of a request; with empty words for an unknown browser or system.
  package static func device(of head: RequestHead) -> Session.Device {
    let text = String(
      decoding: (head.headers["user-agent"] ?? "").utf8.prefix(bytesMax), as: UTF8.self)
    func first(_ marks: [(mark: String, name: String)]) -> String? {
      marks.first { text.contains($0.mark) }?.name
    }
    return Session.Device(
      browser: first(browsers) ?? programName(in: text), system: first(systems) ?? "")
  }

  /// The first product of the header, such as `curl` of `curl/8.5`.
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
