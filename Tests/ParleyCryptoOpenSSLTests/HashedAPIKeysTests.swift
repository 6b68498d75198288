import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import Testing

@Suite("API keys")
struct HashedAPIKeysTests {
  private let files = TemporaryFiles()

  private func line(_ name: String, _ key: String, _ rights: String...) throws -> String {
    try HashedAPIKeys.line(name: name, key: key, isOperator: false, rights: rights) + "\n"
  }

  @Test("a key has the rights of its line and no others")
  func rights() throws {
    let key = HashedAPIKeys.newKey()
    let path = files.write(
      "# Keys\n\n" + (try line("shop", key, "room:orders-*=publish", "document:n=x=read,write")),
      to: "keys")
    let keys = try HashedAPIKeys(path: path)
    let identity = try #require(keys.identity(for: key, now: 0))
    #expect(identity.user == "key:shop")
    #expect(!identity.isOperator)
    #expect(identity.verbs(on: .room("orders-7")) == [.publish, .signal])
    #expect(identity.verbs(on: .room("other")).isEmpty)
    #expect(identity.verbs(on: .document("n=x", in: nil)) == [.read, .write, .comment])
    for other in ["", "pk_", key + "x", String(key.dropLast()), HashedAPIKeys.newKey()] {
      #expect(keys.identity(for: other, now: 0) == nil)
    }
  }

  @Test("the line in the file does not contain the key")
  func hashed() throws {
    let key = HashedAPIKeys.newKey()
    #expect(!(try line("shop", key, "room:*=publish")).contains(key.dropFirst(3)))
  }

  @Test("a key whose line says so is an operator's, and has no other rights")
  func operators() throws {
    let line = try HashedAPIKeys.line(name: "admin", key: "pk_a", isOperator: true, rights: [])
    let keys = try HashedAPIKeys(path: files.write(line, to: "keys"))
    let identity = try #require(keys.identity(for: "pk_a", now: 0))
    #expect(identity.isOperator)
    #expect(identity.verbs(on: .document("n", in: nil)).isEmpty)
  }

  @Test("a changed file is read again; a malformed file changes nothing")
  func reload() throws {
    let path = files.write(try line("one", "pk_1", "room:*=publish"), to: "keys")
    let keys = try HashedAPIKeys(path: path)
    #expect(keys.identity(for: "pk_1", now: 10_000) != nil)
    files.write(try line("another", "pk_2", "room:*=publish"), to: "keys")
    #expect(keys.identity(for: "pk_1", now: 20_000) == nil)
    #expect(keys.identity(for: "pk_2", now: 20_000) != nil)
    files.write("nonsense", to: "keys")
    #expect(keys.identity(for: "pk_2", now: 30_000) != nil)
  }

  @Test(
    "a malformed line is refused with its place, without its hash",
    arguments: [
      "shop", "shop sha256:12", "shop md5:00", "shop sha256:HASH", "shop sha256:HASH all",
      "shop sha256:HASH room:*=shout", "shop sha256:HASH room:*", "shop sha256:HASH room:*=",
      "shop sha256:HASH room:*=read\nshop sha256:HASH room:*=read",
    ])
  func broken(text: String) {
    let hash = String(repeating: "0a", count: 32)
    let path = files.write(text.replacing("HASH", with: hash), to: "keys")
    let error = #expect(throws: APIKeyFileError.self) { try HashedAPIKeys(path: path) }
    #expect(error?.description.hasPrefix(path + ":") ?? false)
    #expect(!(error?.description.contains(hash) ?? true))
  }
}

@Suite("Rights as text")
struct GrantTextTests {
  @Test("a pattern is written as it was read", arguments: ["*", "a", "note-*", "a*b", "**"])
  func patterns(text: String) {
    #expect(NamePattern(text).text == text)
  }

  @Test("an exact pattern with a star at its end matches only that name, also in a token")
  func exactly() throws {
    let grant = Grant(.documents, NamePattern(exactly: "a*"), .read)
    #expect(grant.pattern.text == nil)
    #expect(grant.pattern.matches("a*"))
    #expect(!grant.pattern.matches("ab"))
    // And stays alone through a token.
    let secret = [UInt8](repeating: 7, count: 32)
    let token = try JWTSigner(secret: secret).token(.init(user: "u", grants: [grant]))
    let identity = try JWTAuthenticator(secret: secret).authenticate(token, now: 0)
    #expect(identity.grants == [grant])
  }

  @Test("the word all means every verb")
  func all() throws {
    #expect(try Grant(.rooms, text: "x=y=all") == Grant(.rooms, NamePattern("x=y"), .all))
  }
}
