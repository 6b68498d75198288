import Foundation
import ParleyClient
import Testing
import ParleyWebSocketClient

/// Certificates made by the openssl of the system: an authority, and those that it has issued.
struct TestAuthority {
  let folder: URL

  init(in folder: URL) throws {
    self.folder = folder
    try Self.openssl(
      folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", "authority.key", "-out", "authority.pem", "-days", "2", "-subj",
      "/CN=Authority of a test")
  }

  /// The authority's certificate.
  var certificate: String { path("authority.pem") }

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Issues a certificate.
  ///
  /// - Parameters:
  ///   - names: As in a certificate's `subjectAltName`.
  ///   - days: How long it is valid; below 0 for one that has expired.
  /// - Returns: The flags of a server that uses it.
  func issue(_ names: String, days: Int = 2) throws -> [String] {
    try Self.openssl(
      folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=A server", "-addext",
      "subjectAltName=\(names)")
    try Self.openssl(
      folder, "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey",
      "authority.key", "-copy_extensions", "copy", "-days", String(days), "-out", "server.pem")
    return ["--tls-certificate", path("server.pem"), "--tls-key", path("server.key")]
  }

  private static func openssl(_ folder: URL, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.currentDirectoryURL = folder
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw GatewayProgram.Failure(description: "openssl \(arguments.joined(separator: " "))")
    }
  }
}

@Suite("A client and the program over TLS", .serialized, .timeLimit(.minutes(30)))
struct TLSTests {
  private func serve(
    _ names: String, days: Int = 2
  ) throws -> (server: GatewayProgram, authority: TestAuthority) {
    let folder = try GatewayProgram.newFolder()
    let authority = try TestAuthority(in: folder)
    let flags = try authority.issue(names, days: days)
    return (try GatewayProgram(in: folder, flags: flags), authority)
  }

  private func failure(
    _ host: String, _ server: GatewayProgram, trusting file: String?
  ) async -> WebSocketFailure? {
    guard let url = WebSocketURL("wss://\(host):\(server.port)/ws") else { return nil }
    let options = WebSocketConnection.Options(subprotocol: "parley.v1", certificatesFile: file)
    do throws(WebSocketFailure) {
      _ = try await WebSocketConnection.open(url, options)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "a certificate of the given authority is accepted for a name and for an address")
  func own() async throws {
    let (server, authority) = try serve("DNS:localhost,IP:127.0.0.1")
    for host in ["localhost", "127.0.0.1"] {
      let service = ParleyService(
        transport: SystemTransport(
          "wss://\(host):\(server.port)", trusting: authority.certificate), as: "Ann",
        timeout: .seconds(600))
      let room = await service.room("r")
      // Longer than one record of TLS, and than what a socket takes at once.
      let text = String(repeating: "x", count: 60_000)
      let updates = await room.updates
      try await room.opened()
      try await room.publish(["text": text])
      for await update in updates {
        guard case .publication(let publication) = update else { continue }
        #expect(try publication.decode([String: String].self)["text"] == text)
        break
      }
      await service.stop()
    }
  }

  @Test("a certificate for another host is rejected, by name and by address")
  func wrongHost() async throws {
    let (server, authority) = try serve("DNS:notes.example.org,IP:192.0.2.1")
    for host in ["localhost", "127.0.0.1"] {
      let failure = await failure(host, server, trusting: authority.certificate)
      #expect(failure == .certificate(.wrongHost))
      #expect(failure?.description.contains("another host") == true)
    }
  }

  @Test("a wildcard for part of a label does not match, and a DNS entry does not match an address")
  func wildcards() async throws {
    let (server, authority) = try serve("DNS:local*,DNS:127.0.0.1")
    for host in ["localhost", "127.0.0.1"] {
      #expect(
        await failure(host, server, trusting: authority.certificate) == .certificate(.wrongHost))
    }
  }

  @Test("an unknown authority is rejected, and the message says what to do")
  func unknownAuthority() async throws {
    let (server, _) = try serve("DNS:localhost")
    let failure = await failure("localhost", server, trusting: nil)
    #expect(failure == .certificate(.unknownAuthority))
    #expect(failure?.description.contains("authority's certificate") == true)
    // Nor by another authority of the same name.
    let folder = try GatewayProgram.newFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let other = try TestAuthority(in: folder)
    guard case .certificate = await self.failure("localhost", server, trusting: other.certificate)
    else {
      Issue.record("another authority was accepted")
      return
    }
  }

  @Test("an expired certificate is rejected")
  func expired() async throws {
    let (server, authority) = try serve("DNS:localhost", days: -1)
    let failure = await failure("localhost", server, trusting: authority.certificate)
    #expect(failure == .certificate(.expired))
    #expect(failure?.description.contains("expired") == true)
  }

  @Test("the error names a missing or malformed file of certificates")
  func noCertificates() async throws {
    let (server, authority) = try serve("DNS:localhost")
    let missing = authority.path("missing.pem")
    #expect(
      await failure("localhost", server, trusting: missing) == .badCertificates(file: missing))
    let key = authority.path("secret")
    #expect(await failure("localhost", server, trusting: key) == .badCertificates(file: key))
  }

  @Test(
    "a server without TLS is distinguished from one with a wrong certificate"
  )
  func otherProtocol() async throws {
    let plain = try GatewayProgram()
    #expect(await failure("127.0.0.1", plain, trusting: nil) == .encryption)
    let (server, _) = try serve("DNS:localhost")
    let url = try #require(WebSocketURL("ws://127.0.0.1:\(server.port)/ws"))
    await #expect(throws: WebSocketFailure.self) { try await WebSocketConnection.open(url) }
  }

  @MainActor @Test("an app gets the reason in words, and the note waits")
  func problem() async throws {
    let (server, authority) = try serve("DNS:notes.example.org")
    let parley = Parley(
      transport: SystemTransport(
        "wss://localhost:\(server.port)", trusting: authority.certificate), as: "Ann")
    await until { parley.problem != nil }
    #expect(parley.problem?.contains("for another host") == true)
    #expect(parley.note("n").state == .opening)
  }
}
