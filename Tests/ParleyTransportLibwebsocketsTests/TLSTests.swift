import ParleyGatewayPorts
import Glibc
import Testing
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

/// Encrypted connections, with a certificate made here and `openssl s_client` at the other end.
@Suite("TLS", .enabled(if: OpenSSLTool.isInstalled), .serialized)
struct TLSTests {
  @Test func `requests and messages pass encrypted`() throws {
    let folder = try OpenSSLTool.makeCertificate()
    defer { folder.remove() }
    let heads = Collected<RequestHead>()
    let server = try TestServer { server, configuration in
      configuration.tls = .init(certificatePath: folder.certificate, keyPath: folder.key)
      server.onDecide = {
        heads.append($0)
        return .accept(subprotocol: "parley.v1")
      }
    }
    defer { server.stop() }
    let client = try OpenSSLTool.Connection(port: server.port)
    defer { client.end() }
    let handshake =
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Key: \(TestClient.key)\r\nSec-WebSocket-Version: 13\r\n"
      + "Sec-WebSocket-Protocol: parley.v1\r\n\r\n"
    try client.write(Array(handshake.utf8))
    let answer = try client.read(until: "\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 101"))
    #expect(heads.all.first?.isSecure == true)
    for count in [5, 1000, 60_000, 300_000] {
      let payload = [UInt8](repeating: 0x61, count: count)
      try client.write(TestClient.frame(1, payload))
      let frame = Frame(payload: payload)
      #expect(Bytes.areEqual(try client.read(frame.byteCount), Array(frame.bytes)))
    }
  }

  @Test func `a large response passes encrypted`() throws {
    let folder = try OpenSSLTool.makeCertificate()
    defer { folder.remove() }
    let body = Bytes.repeating(Bytes.letters, count: 2_000_000)
    let server = try TestServer { server, configuration in
      configuration.tls = .init(certificatePath: folder.certificate, keyPath: folder.key)
      server.onRequest = { server, id, _, _ in
        server.transport.respond(to: id, with: Response(status: 200, body: body))
      }
    }
    defer { server.stop() }
    let client = try OpenSSLTool.Connection(port: server.port)
    defer { client.end() }
    try client.write(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    #expect(try client.read(until: "\r\n\r\n").contains("content-length: 2000000"))
    #expect(Bytes.areEqual(try client.read(body.count), body))
  }

  @Test func `a connection refused before its handshake is counted`() throws {
    let folder = try OpenSSLTool.makeCertificate()
    defer { folder.remove() }
    let server = try TestServer {
      $1.tls = .init(certificatePath: folder.certificate, keyPath: folder.key)
      $1.connectionsPerAddressMax = 1
    }
    defer { server.stop() }
    let held = try TestClient(port: server.port)
    #expect(try TestClient(port: server.port).isAtEnd())
    var expected = RefusedConnections()
    expected.fullForAddress = 1
    #expect(try server.onLoop { $0.transport.refusedConnections } == expected)
    held.shut()
  }

  @Test func `an unencrypted client on an encrypted port does not affect others`() throws {
    let folder = try OpenSSLTool.makeCertificate()
    defer { folder.remove() }
    let server = try TestServer {
      $1.tls = .init(certificatePath: folder.certificate, keyPath: folder.key)
    }
    defer { server.stop() }
    let plain = try TestClient(port: server.port)
    try plain.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    while try !plain.isAtEnd() { _ = try plain.takeForTest(1) }
    let client = try OpenSSLTool.Connection(port: server.port)
    defer { client.end() }
    try client.write(Array("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    #expect(try client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
  }

  @Test func `missing and unusable files are reported`() throws {
    let folder = try OpenSSLTool.makeCertificate()
    defer { folder.remove() }
    let missing = #expect(throws: TransportError.self) {
      _ = try TestServer { $1.tls = .init(certificatePath: "/nowhere.pem", keyPath: folder.key) }
    }
    guard case .certificate("/nowhere.pem", _) = missing else {
      Issue.record("got \(String(describing: missing))")
      return
    }
    let unfit = #expect(throws: TransportError.self) {
      _ = try TestServer {
        $1.tls = .init(certificatePath: folder.key, keyPath: folder.certificate)
      }
    }
    guard case .certificate = unfit else {
      Issue.record("got \(String(describing: unfit))")
      return
    }
  }
}

/// The `openssl` program: certificates to test with, and a client.
enum OpenSSLTool {
  static let path = "/usr/bin/openssl"
  static var isInstalled: Bool { access(path, X_OK) == 0 }

  struct Folder {
    var path: String
    var certificate: String { path + "/certificate.pem" }
    var key: String { path + "/key.pem" }
    func remove() {
      unlink(certificate)
      unlink(key)
      rmdir(path)
    }
  }

  /// A self-signed certificate for localhost, good for a day.
  static func makeCertificate() throws -> Folder {
    var template = Array("/tmp/parley-tls-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw TestClient.Failure("no folder") }
    let folder = Folder(path: String(cString: made))
    let process = try spawn(
      [
        path, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "1", "-subj", "/CN=localhost", "-keyout", folder.key, "-out", folder.certificate,
      ], input: nil, output: nil)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    guard status == 0 else { throw TestClient.Failure("openssl req ended with \(status)") }
    return folder
  }

  /// `openssl s_client`, its input and output.
  final class Connection {
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private var inbox = Inbox()

    init(port: Int) throws {
      var inward: [Int32] = [0, 0]
      var outward: [Int32] = [0, 0]
      guard pipe(&inward) == 0, pipe(&outward) == 0 else {
        throw TestClient.Failure("no pipe")
      }
      for end in inward + outward { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      process = try spawn(
        [
          path, "s_client", "-quiet", "-no_ign_eof", "-nocommands", "-connect", "127.0.0.1:\(port)",
        ],
        input: inward[0], output: outward[1])
      close(inward[0])
      close(outward[1])
      input = inward[1]
      output = outward[0]
    }

    func end() {
      close(input)
      close(output)
      kill(process, SIGKILL)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }

    func write(_ bytes: [UInt8]) throws {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        guard count > 0 else { throw TestClient.Failure("s_client takes nothing") }
        rest = rest.dropFirst(count)
      }
    }

    private func fill() throws {
      var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 120_000) == 1 else { throw TestClient.Failure("s_client says nothing") }
      let count = inbox.fill { Glibc.read(output, $0.baseAddress, $0.count) }
      guard count > 0 else { throw TestClient.Failure("s_client has ended") }
    }

    func read(_ count: Int) throws -> [UInt8] {
      while true {
        if let bytes = inbox.take(count) { return bytes }
        try fill()
      }
    }

    func read(until end: String) throws -> String {
      let mark = Array(end.utf8)
      while true {
        if let bytes = inbox.take(through: mark) { return String(decoding: bytes, as: UTF8.self) }
        try fill()
      }
    }
  }

  private static func spawn(
    _ arguments: [String], input: Int32?, output: Int32?
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let nothing = "/dev/null"
    for (number, descriptor) in [(0, input), (1, output)] as [(Int32, Int32?)] {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      } else {
        posix_spawn_file_actions_addopen(&actions, number, nothing, O_RDWR, 0)
      }
    }
    posix_spawn_file_actions_addopen(&actions, 2, nothing, O_WRONLY, 0)
    var list = arguments.map { strdup($0) }
    list.append(nil)
    defer { for entry in list { free(entry) } }
    var process = pid_t()
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    guard posix_spawn(&process, path, &actions, nil, list, &environment) == 0 else {
      throw TestClient.Failure("cannot start openssl")
    }
    return process
  }
}
