import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import Testing

@Suite("Files of notes")
struct FileTests {
  private let rig: GatewayRig

  init() { self.init(FileSettings()) }

  private init(_ files: FileSettings) {
    rig = GatewayRig { $0.files = files }
    for (name, verbs) in [
      ("manager", Verbs.all), ("reader", .read), ("writer", [.read, .write]),
    ] {
      _ = rig.token(name, [Grant(.documents, NamePattern("*"), verbs)])
    }
    _ = rig.token("few", [Grant(.documents, NamePattern("few-*"), .all)])
    rig.make("n1")
    rig.make("n2")
  }

  /// Returns the head of a PNG with a size, without image data.
  static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]
    bytes += Array("IHDR".utf8)
    for word in [width, height] { withUnsafeBytes(of: word.bigEndian) { bytes += $0 } }
    return bytes + [8, 2, 0, 0, 0]
  }

  private func upload(
    _ bytes: [UInt8], _ name: String = "f.png", to note: String = "n1", as token: String = "writer"
  ) throws -> Response {
    let request = rig.begin(
      "POST", "/api/notes/\(note)/files?name=\(name)",
      headers: ["authorization": "Bearer \(token)", "content-type": "image/png"], bytes: bytes)
    return try #require(rig.response(request))
  }

  private func path(_ bytes: [UInt8], _ name: String = "f.png") throws -> String {
    let response = try upload(bytes, name)
    #expect(response.status == 201)
    let fields = try #require(JSONFields(response.body))
    return try #require(fields["path"]?.string)
  }

  private func get(
    _ path: String, as token: String? = "reader", known: String? = nil
  ) throws -> Response {
    var headers: [String: String] = [:]
    headers["authorization"] = token.map { "Bearer \($0)" }
    headers["if-none-match"] = known
    return try #require(rig.response(rig.begin("GET", path, headers: headers, bytes: [])))
  }

  private func header(_ name: String, of response: Response) -> String? {
    response.headers.first { $0.name == name }?.value
  }

  @Test(
    "readers get a picture unchanged, with headers that prevent scripts in it"
  )
  func roundTrip() throws {
    let bytes = Self.png(3, 2)
    let path = try path(bytes, "Gr%C3%B6%C3%9Fe%20(1).png")
    #expect(path.hasSuffix("/Gr%C3%B6%C3%9Fe%20%281%29.png"))
    let answer = try get("/api/notes/n1/\(path)")
    #expect(answer.status == 200 && answer.body == bytes)
    #expect(header("content-type", of: answer) == "image/png")
    #expect(
      header("content-disposition", of: answer)
        == "inline; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%281%29.png")
    #expect(header("content-security-policy", of: answer) == "default-src 'none'; sandbox")
    #expect(header("x-content-type-options", of: answer) == "nosniff")
    #expect(header("cache-control", of: answer) == "private, max-age=31536000, immutable")
    let tag = try #require(header("etag", of: answer))
    let again = try get("/api/notes/n1/\(path)", known: tag)
    #expect(again.status == 304 && again.body.isEmpty)
    #expect(header("etag", of: again) == tag)
    #expect(try upload(bytes).status == 200)
  }

  @Test("a file needs the right to read its note, and is not readable through another note")
  func rights() throws {
    let path = try path(Self.png(1, 1))
    #expect(try get("/api/notes/n1/\(path)", as: nil).status == 401)
    #expect(try get("/api/notes/n1/\(path)", as: "few").status == 403)
    #expect(try get("/api/notes/n2/\(path)").status == 404)
    #expect(try get("/api/notes/n1/files", as: "few").status == 403)
    #expect(try upload([1], as: "reader").status == 403)
    #expect(try upload([1], to: "none").status == 404)
    #expect(try get("/api/notes/n1/files/zz/f").status == 400)
    #expect(try get("/api/notes/n1/files/\(String(repeating: "0", count: 64))/f").status == 404)
  }

  @Test(
    "all files except pictures of known formats are downloaded, regardless of their names",
    arguments: [
      Array("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8),
      Array("<!doctype html><script>alert(1)</script>".utf8), Array("GIF".utf8), [0],
      png(100_000, 100_000), png(0, 5), Array(png(5, 5).prefix(20)),
      [0xff, 0xd8] + [UInt8](repeating: 0xff, count: 5_000) + [0xff, 0xc0, 0, 17, 8, 0, 2, 0, 3],
      [0xff, 0xd8, 0xff, 0xe0, 0, 0],
    ])
  func downloads(bytes: [UInt8]) throws {
    let answer = try get("/api/notes/n1/\(try path(bytes, "nice.png"))")
    #expect(header("content-type", of: answer) == "application/octet-stream")
    #expect(header("content-disposition", of: answer) == "attachment; filename*=UTF-8''nice.png")
    #expect(answer.body == bytes)
  }

  @Test("files over the limits are refused with a reason and a remedy")
  func limits() throws {
    var files = FileSettings()
    files.bytesMax = 10
    files.limits.noteBytesMax = 15
    let small = FileTests(files)
    for (bytes, status, words) in [
      ([UInt8](), 400, "it was empty"), ([UInt8](repeating: 1, count: 11), 413, "this one has 11"),
      ([UInt8](repeating: 1, count: 10), 201, ""),
      ([UInt8](repeating: 2, count: 6), 413, "this note's have 10, and this one 6 more"),
      ([UInt8](repeating: 2, count: 5), 201, ""),
    ] {
      let answer = try small.upload(bytes)
      #expect(answer.status == status)
      #expect(String(decoding: answer.body, as: UTF8.self).contains(words))
    }
    files.bytesMax = 0
    #expect(try FileTests(files).upload([1]).status == 403)
  }

  @Test(
    "a long body is accepted only with the right to write, and within the limits")
  func longBodies() throws {
    func decision(_ path: String, _ token: String?, _ count: Int = 2 << 20) -> Int? {
      let head = RequestHead(
        method: "POST", path: path,
        headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:])
      switch rig.decision(onBody: count, of: head) {
      case .take: return nil
      case .refuse(let response): return response.status
      case .tooLong: return 0
      }
    }
    // With chunked encoding, a file may be only as long as a message.
    let chunks = RequestHead(
      method: "POST", path: "/api/notes/n1/files", headers: ["authorization": "Bearer writer"])
    guard case .take(4_194_304, _, isUpload: false) = rig.decision(onBody: nil, of: chunks) else {
      Issue.record("expected as much as a message may have")
      return
    }
    #expect(decision("/api/notes/n1/files", "writer") == nil)
    #expect(decision("/api/notes/n1/files", "reader") == 403)
    #expect(decision("/api/notes/n1/files", nil) == 401)
    #expect(decision("/api/notes/n1/files", "writer", 50 << 20) == 413)
    #expect(decision("/api/notes/n1/text", "writer") == 405)
    #expect(decision("/nowhere", "writer") == 404)
  }

  /// Returns the response that rejects a long body before it is read; `nil` if the body is read.
  private func refusal(
    _ token: String, in rig: GatewayRig, at entrance: Entrance = .front
  ) -> Response? {
    var head = RequestHead(
      method: "POST", path: "/api/notes/n1/files", headers: ["authorization": "Bearer \(token)"])
    head.entrance = entrance
    guard case .refuse(let response) = rig.decision(onBody: 2 << 20, of: head) else { return nil }
    return response
  }

  @Test("a long body whose token cannot be verified now is refused as retryable")
  func unverifiedLongBody() {
    rig.revocations.completeAt = rig.clock.uptime
    rig.pass(milliseconds: RevocationAge.rejectAfterMilliseconds + 1)
    let refusal = refusal("writer", in: rig)
    #expect(refusal?.status == 503)
    #expect(refusal?.headers.contains { $0.name == "retry-after" } == true)
    #expect(refusal?.headers.contains { $0.name == "www-authenticate" } == false)
  }

  @Test("a long body with an API key is refused at an address that accepts no keys")
  func longBodyWithKey() {
    let rig = GatewayRig { $0.acceptsKeysOnlyInternally = true }
    #expect(refusal("pk_writer", in: rig)?.status == 401)
    #expect(refusal("pk_writer", in: rig, at: .back) == nil)
  }

  @Test("a limited number of uploads waits, and further ones are refused as busy")
  func busy() throws {
    let rig = GatewayRig()
    rig.isStepwise = true
    _ = rig.token("writer", [Grant(.documents, NamePattern("*"), .all)])
    _ = rig.store.perform([.create(id: "n", epoch: "e", title: "", time: 1)])
    var requests: [UInt64] = []
    for number in 0..<20 {
      requests.append(
        rig.begin(
          "POST", "/api/notes/n/files", headers: ["authorization": "Bearer writer"],
          bytes: [UInt8(number)]))
    }
    let puts = rig.stored.count { if case .files(.put) = $0.request { true } else { false } }
    #expect(puts == 1)
    #expect(requests.compactMap { rig.answer($0)?.status } == [503, 503, 503])
    #expect(rig.response(requests[19])?.headers.contains { $0.name == "retry-after" } == true)
    rig.abandon(requests[1])
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    let kept = requests.compactMap { rig.answer($0)?.status }.count { $0 == 201 }
    #expect(kept == 16)
  }

  @Test("a user who reads many files at once does not delay others for long")
  func readShares() {
    let rig = GatewayRig()
    for user in ["flood", "reader"] {
      _ = rig.token(user, [Grant(.documents, NamePattern("*"), .all)])
    }
    rig.make("n")
    rig.isStepwise = true
    let path = "/api/notes/n/files/\(String(repeating: "a", count: 64))/x"
    func read(as user: String) -> UInt64 {
      rig.begin("GET", path, headers: ["authorization": "Bearer \(user)"])
    }
    let flood = (0..<300).map { _ in read(as: "flood") }
    #expect(flood.count { rig.answer($0)?.status == 503 } == 50)
    let other = read(as: "reader")
    rig.performStoreRequests()
    rig.performStoreRequests()
    #expect(rig.answer(other)?.status == 404)
    // An abandoned read releases its slot.
    rig.abandon(flood[200])
    #expect(rig.answer(read(as: "flood")) == nil)
  }

  @Test("a repeated upload is stored although the first one was cancelled while it waited")
  func cancelled() {
    let rig = GatewayRig(isDemo: true)
    rig.make("n")
    rig.isStepwise = true
    func upload(_ byte: UInt8, _ key: String) -> UInt64 {
      rig.begin(
        "POST", "/api/notes/n/files", headers: ["idempotency-key": key], bytes: [byte])
    }
    let requests = [upload(1, "a"), upload(2, "b"), upload(2, "b")]
    // The second upload waits for the first, and the third, a repetition, for the second.
    rig.performStoreRequests()
    rig.abandon(requests[1])
    #expect(rig.answer(requests[2])?.status == 503)
    let again = upload(2, "b")
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    #expect(rig.answer(requests[0])?.status == 201)
    #expect(rig.answer(again)?.status == 201)
  }

  @Test(
    "characters with a meaning for file systems, terminals or text direction are removed",
    arguments: [
      ("../../etc/passwd", "passwd"), ("C:\\temp\\a.png", "a.png"),
      ("a\u{0}b\u{7}\n.png", "ab.png"),
      ("gnp.\u{202e}exe", "gnp.exe"), ("..", "file"), ("", "file"), (" .hidden ", "hidden"),
      ("a<b>\"c\".png", "a_b__c_.png"), ("\u{200f}\u{feff}", "file"),
    ])
  func names(name: String, clean: String) {
    #expect(FileName.clean(name).utf8.elementsEqual(clean.utf8))
  }

  @Test("a name that is too long keeps its ending")
  func longNames() {
    let name = FileName.clean(String(repeating: "ä", count: 300) + ".jpeg")
    #expect(name.utf8.count <= 120 && name.hasSuffix(".jpeg"))
    #expect(FileName.clean(String(repeating: "x.", count: 300)).utf8.count <= 120)
    let long = String(repeating: "a", count: 119)
    for rest in [" bbbb", "." + String(repeating: "x", count: 50)] {
      #expect(FileName.clean(long + rest) == long)
    }
  }

  @Test(
    "files that no revision refers to are removed after a while")
  func collection() throws {
    let used = try path([1], "used")
    let erased = try path([2], "erased")
    _ = try path([3], "unused")
    #expect(
      rig.request("PUT", "/api/notes/n1/text", token: "writer", "[a](\(used)) ![b](\(erased))")
        .status
        == 200)
    #expect(rig.request("PUT", "/api/notes/n1/text", token: "writer", "[a](\(used))").status == 200)
    func names() throws -> Set<String> {
      let fields = try #require(JSONFields(try get("/api/notes/n1/files").body))
      return Set(fields["files"]?.elements?.compactMap { $0.fields?["name"]?.string } ?? [])
    }
    rig.pass(milliseconds: 250)
    rig.pass(milliseconds: 700_000)
    #expect(try names() == ["used", "erased", "unused"])
    rig.pass(milliseconds: 86_400_000)
    #expect(try names() == ["used", "erased"])
  }
}
