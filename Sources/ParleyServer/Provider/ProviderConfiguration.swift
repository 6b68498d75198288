package import GatewayPorts

/// The settings of an identity provider at which people sign in (OpenID Connect).
public struct ProviderConfiguration: Sendable, Equatable {
  /// The provider, as its tokens name it; its description is below this address. `nil` for none.
  public var issuer: String?
  /// The name under which the provider knows this server.
  public var clientID: String?
  /// A file with the secret that the provider gave with it; `nil` for a client without one.
  public var clientSecretFile: String?
  /// The provider's name for people; `nil` for the issuer's host.
  public var name: String?
  /// The scopes that are asked for.
  public var scopes = ["openid", "profile", "email"]
  /// The claim with the user's id.
  public var userClaim = "sub"
  /// Text before the user's id, so that it differs from the ids of other sources.
  public var userPrefix = ""
  /// The claim with the user's groups.
  public var groupsClaim = "groups"
  /// Rights of every user who signs in.
  public var rights: [String] = []
  /// Groups with the rights of their members, each `GROUP RIGHT…`.
  public var groups: [String] = []
  /// Allowed domains of email addresses; if empty, addresses are not checked.
  public var emailDomains: [String] = []
  /// The time after which a user has to sign in again.
  public var sessionTime = Duration.seconds(86_400)
  /// The time limit for all requests of one sign-in to the provider.
  public var timeout = Duration.seconds(10)

  /// No provider.
  public init() {}
}

extension ProviderConfiguration {
  /// A group with the rights of its members.
  package struct Group: Sendable, Equatable {
    /// The name that the provider uses.
    package let name: String
    /// The rights.
    package let rights: [GrantTemplate]
    /// Groups of the file of users, whose rights the members have, too.
    package let groups: [String]

    /// Reads `GROUP RIGHT…`; a blank in the name is written `%20`.
    package init(_ text: String) throws(RightProblem) {
      let words = text.split { $0 == " " || $0 == "\t" }
      guard words.count >= 2, let name = LineText.unescaped(words[0]), !name.isEmpty else {
        throw RightProblem("a group and its rights, such as writers document:*=read,write")
      }
      self.name = name
      var rights: [GrantTemplate] = []
      var groups: [String] = []
      for word in words.dropFirst().map(String.init) {
        if let group = GroupLine.groupName(word) {
          groups.append(group)
        } else {
          rights.append(try ProviderConfiguration.right(word))
        }
      }
      self.rights = rights
      self.groups = groups
    }
  }

  /// The reason why a text is not a right, in one sentence.
  package struct RightProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The expectation.
    package let description: String

    init(_ description: String) { self.description = description }
  }

  /// Reads a right in the form of the file of users; `{user}` in it is the user's id.
  package static func right(_ text: String) throws(RightProblem) -> GrantTemplate {
    do throws(GrantTextError) {
      if text.hasPrefix("room:") {
        return try GrantTemplate(.rooms, text: String(text.dropFirst(5)))
      }
      if text.hasPrefix("document:") {
        return try GrantTemplate(.documents, text: String(text.dropFirst(9)))
      }
      if text.hasPrefix("folder:") {
        return try GrantTemplate(.folders, text: String(text.dropFirst(7)))
      }
      throw .form
    } catch {
      throw RightProblem("document:MATCH=MAY, folder:MATCH=MAY or room:MATCH=MAY; \(error)")
    }
  }

  /// Whether a text can be the domain of an address.
  static func isDomain(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix(".")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
          true
        default: byte >= 0x80
        }
      }
  }
}
