import Gateway
package import GatewayPorts
import Glibc

/// The page and its parts, read from a folder.
///
/// A file is read when it is first asked for and kept; a change of its time or size on disk is
/// noticed at the next request. Only regular files below the folder are served: a path that
/// climbs out of it, or that a link leads out of it, is not found.
///
/// A file that has a compressed form beside it (`name.br` or `name.gz`, not older) is sent in that form to
/// clients that accept it, Brotli before gzip.
///
/// Files below `immutable/` carry a hash of their content in their name, so browsers keep them for a year and
/// never ask again. Everything else is revalidated at each use, the pages above all: they name the hashes.
package struct StaticFiles {
  /// The kind of note that is published under the name in a page's address.
  package enum Naming: Sendable {
    /// No note.
    case unknown
    /// A note that search engines are asked to leave out.
    case unlisted
    /// A note that search engines may list.
    case indexed
  }

  private struct Entry {
    let modified: Int
    let size: Int
    let tag: String
    let body: [UInt8]
  }

  /// The whole folder is small; a larger file is not a part of the page.
  private static let fileBytesMax = 16 << 20
  private static let types: [String: String] = [
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8", "wasm": "application/wasm", "svg": "image/svg+xml",
    "png": "image/png", "ico": "image/x-icon", "json": "application/json",
    "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2", "ts": "text/plain; charset=utf-8", "tgz": "application/gzip",
  ]
  /// The page runs its own scripts and the algebra's WebAssembly, and nothing else. No form is sent by the browser
  /// itself: scripts read them, and one that is sent before they run would put its fields into an address.
  ///
  /// - Parameter ancestors: Sites whose pages may show it in a frame.
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

  /// Content codings with the ending of their files, the smallest first.
  private static let codings = [(name: "br", ending: "br"), (name: "gzip", ending: "gz")]

  /// The client for other sites' pages; the number is the version of its interface.
  private static let sdkPrefix = "/sdk/1/"
  /// Pages of every origin may load it: it contains no user's data, and connects where it is let in.
  private static let sdkHeaders: [(name: String, value: String)] = [
    ("access-control-allow-origin", "*"), ("cross-origin-resource-policy", "cross-origin"),
    ("timing-allow-origin", "*"), ("x-content-type-options", "nosniff"),
  ]

  private let root: String
  private let isKeptOffline: Bool
  private let pageHeaders: [(name: String, value: String)]
  /// The headers of the page for operators: no other page may frame it and have its buttons clicked unseen.
  private let operatorHeaders = Self.securityHeaders(ancestors: [])
  private var entries: [String: Entry] = [:]
  private var oneDown: Entry?

  /// Serves the folder at `root`.
  ///
  /// - Parameters:
  ///   - isKeptOffline: Whether browsers are given the service worker, with which they keep the page
  ///     and copies of notes.
  ///   - frameAncestors: Origins whose pages may show the page of notes in a frame, or `*`.
  package init(root: String, isKeptOffline: Bool = true, frameAncestors: [String] = []) {
    self.root = Files.resolved(root) ?? root
    self.isKeptOffline = isKeptOffline
    pageHeaders = Self.securityHeaders(ancestors: frameAncestors)
  }

  /// The response to a request for a page or asset; `nil` when the path is not for this folder.
  ///
  /// `/`, `/n/…`, `/s/…` and `/p/…` are the page, `/admin` is the one for operators; `/worker.js` is the page's service
  /// worker, which serves what lies beside and below it; `/assets/…` are the files of the folder, and
  /// `/sdk/1/…` the client for other sites. The page's addresses are relative, so that a proxy may put a
  /// path before all of them; below `/n/` they begin one folder higher.
  ///
  /// - Parameters:
  ///   - preview: What the page says of itself where its address is pasted. Such a page is sent as it is, not
  ///     compressed.
  ///   - naming: What is published under the address, which has a name.
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
    guard var form = isBelow ? pageBelow(accepted) : form(of: name, accepted) else {
      return Self.notFound
    }
    if let preview {
      form.body = Self.page(form.body, with: preview)
      form.tag = Self.tag(form.tag, String(FNV1a(preview.text.utf8).value, radix: 36))
    }
    var headers = headers(of: name, at: head.path) + form.headers
    if head.path.hasPrefix("/s/") {
      // The address is the key, so it is not sent to other sites.
      headers.removeAll { $0.name == "referrer-policy" }
      headers += [("referrer-policy", "no-referrer"), ("x-robots-tag", "noindex")]
    }
    switch naming {
    // Programs get the status 404, and people the page's words for it.
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

  /// The file for a path; `nil` if the path is not for this folder.
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

  /// A file as it is sent: plain, or compressed.
  private struct Form {
    var body: [UInt8]
    var tag: String
    var headers: [(name: String, value: String)] = []
  }

  /// The smallest form of a file that a client accepts.
  ///
  /// - Parameter accepted: `nil` for the plain form.
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

  /// The page below `/n/`: the built one, or else made from the page as it was written.
  private mutating func pageBelow(_ accepted: AcceptedCodings?) -> Form? {
    form(of: Self.builtPageOneDown, accepted)
      ?? pageOneDown().map { Form(body: $0.body, tag: $0.tag) }
  }

  /// An entity tag with one more part.
  private static func tag(_ tag: String, _ part: String) -> String {
    "\(tag.dropLast())-\(part)\""
  }

  /// A page with a preview at the beginning of its head.
  private static func page(_ body: [UInt8], with preview: PagePreview) -> [UInt8] {
    let text = String(decoding: body, as: UTF8.self)
    guard let end = text.firstRange(of: "<meta charset=\"utf-8\" />")?.upperBound else {
      return body
    }
    return Array((text[..<end] + "\n" + preview.text + text[end...]).utf8)
  }

  /// The built page as it is sent below `/n/`, where its links begin one folder higher.
  private static let builtPageOneDown = "index.below.html"

  /// The page below `/n/`, made from a page that is served as it was written.
  private mutating func pageOneDown() -> Entry? {
    guard let page = entry(named: "index.html") else { return nil }
    if let kept = oneDown, kept.modified == page.modified, kept.size == page.size { return kept }
    let text = String(decoding: page.body, as: UTF8.self)
      .replacing("=\"assets/", with: "=\"../assets/").replacing("=\"./\"", with: "=\"../\"")
    let entry = Entry(
      modified: page.modified, size: page.size, tag: Self.tag(page.tag, "n"), body: Array(text.utf8)
    )
    oneDown = entry
    return entry
  }

  private static let notFound = Response(
    status: 404,
    // An upgrade takes files away, and may bring them back: no cache may keep that they are missing.
    headers: [
      ("content-type", "text/plain; charset=utf-8"), ("cache-control", "no-store"),
      ("x-content-type-options", "nosniff"),
    ],
    body: Array("Nothing is here.\n".utf8))

  private mutating func entry(named name: String) -> Entry? {
    // Names of assets are plain; an escape or a climb is never one of ours.
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
