import Gateway
package import ParleyGatewayPorts
import Glibc

/// Serves the page and its assets from a folder.
///
/// A file is read at its first request and cached; a change of its modification time or size is
/// noticed at the next request. Only regular files within the folder are served, also after
/// symbolic links and `..` are resolved.
///
/// A file with a compressed copy (`name.br` or `name.gz`, not older) is sent compressed to clients
/// that accept the coding, Brotli before gzip.
///
/// The names of files below `immutable/` contain a hash of their content, so browsers cache them
/// for a year. All other files are revalidated at each use, since pages contain those names.
package struct StaticFiles {
  /// The visibility of the note that is published under the name in a page's address.
  package enum Naming: Sendable {
    /// No note is published under the name.
    case unknown
    /// Search engines are asked not to list the note.
    case unlisted
    /// Search engines may list the note.
    case indexed
  }

  private struct Entry {
    let modified: Int
    let size: Int
    let tag: String
    let body: [UInt8]
  }

  /// Maximum bytes of a file; a larger one is not part of the page.
  private static let fileBytesMax = 16 << 20
  private static let types: [String: String] = [
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8", "wasm": "application/wasm", "svg": "image/svg+xml",
    "png": "image/png", "ico": "image/x-icon", "json": "application/json",
    "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2", "ts": "text/plain; charset=utf-8", "tgz": "application/gzip",
  ]
  /// Returns the security headers of a page. It runs only its own scripts and WebAssembly, and
  /// submits no form: without its script, a form would put its fields into the address.
  ///
  /// - Parameter ancestors: Origins whose pages may embed it in a frame.
  private static func securityHeaders(
    ancestors: [String]
  ) -> [(name: String, value: String)] {
    let framing =
      ancestors.isEmpty
      ? "'none'" : ancestors.map(ValueText.withoutSlash).joined(separator: " ")
    return [
      (
        "content-security-policy",
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
          + "img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; "
          + "frame-ancestors \(framing); base-uri 'none'; form-action 'none'"
      ),
      ("x-content-type-options", "nosniff"),
      ("referrer-policy", "same-origin"),
    ]
  }

  /// Content codings with the file endings of their copies, the smallest first.
  private static let codings = [(name: "br", ending: "br"), (name: "gzip", ending: "gz")]

  /// The path of the client library for other sites; the number is its API version.
  private static let sdkPrefix = "/sdk/1/"
  /// Pages of every origin may load the library: it contains no user data.
  private static let sdkHeaders: [(name: String, value: String)] = [
    ("access-control-allow-origin", "*"), ("cross-origin-resource-policy", "cross-origin"),
    ("timing-allow-origin", "*"), ("x-content-type-options", "nosniff"),
  ]

  private let root: String
  private let isKeptOffline: Bool
  private let pageHeaders: [(name: String, value: String)]
  /// The headers of the operators' page. It must not be embedded, against clickjacking.
  private let operatorHeaders = Self.securityHeaders(ancestors: [])
  private var entries: [String: Entry] = [:]
  private var nestedPage: Entry?

  /// Creates a server for the folder at `root`.
  ///
  /// - Parameters:
  ///   - isKeptOffline: Whether browsers get the service worker, which stores the page and copies
  ///     of notes.
  ///   - frameAncestors: Origins whose pages may embed the page of notes in a frame, or `*`.
  package init(root: String, isKeptOffline: Bool = true, frameAncestors: [String] = []) {
    self.root = Files.resolved(root) ?? root
    self.isKeptOffline = isKeptOffline
    pageHeaders = Self.securityHeaders(ancestors: frameAncestors)
  }

  /// Returns the response to a request for a page or asset; `nil` for paths outside of the folder.
  ///
  /// `/`, `/n/…`, `/s/…` and `/p/…` are the page, `/admin` is the operators' page, `/worker.js` is
  /// the page's service worker, at the root so that its scope is the whole site; `/assets/…` are
  /// the files of the folder, and `/sdk/1/…` is the client library. The page's links are relative,
  /// so that a proxy may add a path prefix; one level down, as below `/n/`, they begin with `../`.
  ///
  /// - Parameters:
  ///   - preview: The metadata for link previews. A page with a preview is sent uncompressed.
  ///   - naming: The visibility of the note, for an address with a readable name.
  package mutating func response(
    to head: RequestHead, preview: PagePreview? = nil, naming: Naming? = nil
  ) -> Response? {
    let isBelow = naming != nil || head.path.hasPrefix("/n/") || head.path.hasPrefix("/s/")
    guard let name = isBelow ? "index.html" : Self.name(of: head.path) else { return nil }
    if name == "worker.js", !isKeptOffline { return Self.notFound }
    switch head.method {
    case "GET", "HEAD": break
    case "OPTIONS": return .options("GET")
    default: return Response(status: 405, headers: [("allow", "GET, HEAD")])
    }
    let accepted = preview == nil ? AcceptedCodings(head.headers["accept-encoding"]) : nil
    guard var form = isBelow ? nestedForm(accepted) : form(of: name, accepted) else {
      return Self.notFound
    }
    if let preview {
      form.body = Self.page(form.body, with: preview)
      form.tag = Self.tag(form.tag, String(FNV1a(preview.text.utf8).value, radix: 36))
    }
    var headers = headers(of: name, at: head.path) + form.headers
    if head.path.hasPrefix("/s/") {
      // The address contains the link's key, so no referrer is sent.
      headers.removeAll { $0.name == "referrer-policy" }
      headers += [("referrer-policy", "no-referrer"), ("x-robots-tag", "noindex")]
    }
    switch naming {
    // Programs get status 404; the page shows a message to people.
    case .unknown:
      headers += [
        ("x-robots-tag", "noindex"), ("cache-control", "no-store"),
        ("content-type", "text/html; charset=utf-8"),
      ]
      return Response(status: 404, headers: headers, body: form.body)
    case .unlisted: headers.append(("x-robots-tag", "noindex"))
    case .indexed, nil: break
    }
    headers.append(("etag", form.tag))
    let isFixed = name.hasPrefix("immutable/")
    headers.append(
      ("cache-control", isFixed ? "public, max-age=31536000, immutable" : "no-cache"))
    let ending = name.split(separator: ".").last.map(String.init) ?? ""
    headers.append(("content-type", Self.types[ending] ?? "application/octet-stream"))
    return Response(status: 200, headers: headers, body: form.body)
      .unless(known: EntityTags(head.headers["if-none-match"]))
  }

  /// Returns the file for a path; `nil` if the folder does not serve the path.
  private static func name(of path: String) -> String? {
    switch path {
    case "/": return "index.html"
    case "/admin": return "admin.html"
    case "/worker.js": return "worker.js"
    case "/favicon.ico": return "icon.svg"
    default: break
    }
    if path.hasPrefix("/assets/") { return String(path.dropFirst("/assets/".count)) }
    return path.hasPrefix(sdkPrefix) ? String(path.dropFirst()) : nil
  }

  private func headers(of name: String, at path: String) -> [(name: String, value: String)] {
    if path.hasPrefix(Self.sdkPrefix) { return Self.sdkHeaders }
    return name == "admin.html" ? operatorHeaders : pageHeaders
  }

  /// A file in the form in which it is sent: plain, or compressed.
  private struct Form {
    var body: [UInt8]
    var tag: String
    var headers: [(name: String, value: String)] = []
  }

  /// Returns the smallest form of a file that a client accepts; `nil` if there is no such file.
  ///
  /// - Parameter accepted: The accepted codings; `nil` for the plain form.
  private mutating func form(of name: String, _ accepted: AcceptedCodings?) -> Form? {
    guard let plain = entry(named: name) else { return nil }
    var form = Form(body: plain.body, tag: plain.tag)
    for coding in Self.codings {
      guard let entry = entry(named: "\(name).\(coding.ending)"), entry.modified >= plain.modified
      else { continue }
      if form.headers.isEmpty { form.headers.append(("vary", "accept-encoding")) }
      guard accepted?.contains(coding.name) == true else { continue }
      form.body = entry.body
      form.tag = Self.tag(entry.tag, coding.ending)
      form.headers.append(("content-encoding", coding.name))
      break
    }
    return form
  }

  /// Returns the page for addresses one level down: a built one, or one derived from `index.html`.
  private mutating func nestedForm(_ accepted: AcceptedCodings?) -> Form? {
    form(of: Self.builtPageOneDown, accepted)
      ?? derivedNestedPage().map { Form(body: $0.body, tag: $0.tag) }
  }

  /// Returns an entity tag with another part appended.
  private static func tag(_ tag: String, _ part: String) -> String {
    "\(tag.dropLast())-\(part)\""
  }

  /// Returns a page with a preview inserted at the beginning of its head.
  private static func page(_ body: [UInt8], with preview: PagePreview) -> [UInt8] {
    let text = String(decoding: body, as: UTF8.self)
    guard let end = text.firstRange(of: "<meta charset=\"utf-8\" />")?.upperBound else {
      return body
    }
    return Array((text[..<end] + "\n" + preview.text + text[end...]).utf8)
  }

  /// The built page for addresses one level down, whose links begin with `../`.
  private static let builtPageOneDown = "index.below.html"

  /// Returns the page for addresses one level down, derived from `index.html` and cached.
  private mutating func derivedNestedPage() -> Entry? {
    guard let page = entry(named: "index.html") else { return nil }
    if let kept = nestedPage, kept.modified == page.modified, kept.size == page.size { return kept }
    let text = String(decoding: page.body, as: UTF8.self)
      .replacing("=\"assets/", with: "=\"../assets/").replacing("=\"./\"", with: "=\"../\"")
    let entry = Entry(
      modified: page.modified, size: page.size, tag: Self.tag(page.tag, "n"), body: Array(text.utf8)
    )
    nestedPage = entry
    return entry
  }

  private static let notFound = Response(
    status: 404,
    // An upgrade may remove and add files, so caches must not store that a file is missing.
    headers: [
      ("content-type", "text/plain; charset=utf-8"), ("cache-control", "no-store"),
      ("x-content-type-options", "nosniff"),
    ],
    body: Array("Nothing is here.\n".utf8))

  private mutating func entry(named name: String) -> Entry? {
    // Names of assets are plain: reject escapes, hidden files and `..`.
    guard !name.isEmpty, !name.contains("%"), !name.contains("\0"),
      !name.split(separator: "/", omittingEmptySubsequences: false).contains(where: {
        $0.isEmpty || $0.hasPrefix(".")
      })
    else { return nil }
    guard let path = Files.resolved(root + "/" + name), path.hasPrefix(root + "/") else {
      return nil
    }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.fileBytesMax
    else { return nil }
    let modified = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    let size = Int(status.st_size)
    if let kept = entries[name], kept.modified == modified, kept.size == size { return kept }
    guard let body = Files.contents(of: path, bytesMax: Self.fileBytesMax) else { return nil }
    let entry = Entry(
      modified: modified, size: size,
      tag: "\"\(String(modified, radix: 36))-\(String(size, radix: 36))\"", body: body)
    entries[name] = entry
    return entry
  }
}
