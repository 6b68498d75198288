package import ParleyGatewayPorts

/// The settings of the identity provider for sign-in (OpenID Connect).
public struct ProviderConfiguration: Sendable, Equatable {
  /// The issuer URL, as in the provider's tokens; its metadata is below it. `nil` for no provider.
  public var issuer: String?
  /// The client id of this server at the provider.
  public var clientID: String?
  /// The path of a file with the client secret; `nil` for a client without a secret.
  public var clientSecretFile: String?
  /// The provider's name on the page; `nil` for the issuer's host.
  public var name: String?
  /// The scopes to request.
  public var scopes = ["openid", "profile", "email"]
  /// The claim with the user's id.
  public var userClaim = "sub"
  /// The prefix of the user's id, which distinguishes it from ids of other sources.
  public var userPrefix = ""
  /// The claim with the user's groups.
  public var groupsClaim = "groups"
  /// Rights of every user who signs in with the provider.
  public var rights: [String] = []
  /// Groups with their members' rights, each written `GROUP RIGHT…`.
  public var groups: [String] = []
  /// Allowed domains of verified email addresses; if empty, addresses are not checked.
  public var emailDomains: [String] = []
  /// The maximum length of a session, after which the user has to sign in again.
  public var sessionTime = Duration.seconds(86_400)
  /// The time limit for all requests of one sign-in to the provider.
  public var timeout = Duration.seconds(10)

  /// Creates settings without a provider.
  public init() {}
}

extension ProviderConfiguration {
  /// A group of the provider, with the rights of its members.
  package struct Group: Sendable, Equatable {
    /// The group's name at the provider.
    package let name: String
    /// The rights of each member.
    package let rights: [GrantTemplate]
    /// Groups of the file of users whose rights the members have too.
    package let groups: [String]

    /// Parses `GROUP RIGHT…`; a space in the name is written `%20`.
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

  /// The reason why a text is not a valid right or group.
  package struct RightProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The expected form, as it follows "expected" in an error message.
    package let description: String

    init(_ description: String) { self.description = description }
  }

  /// Parses a right in the format of the file of users; `{user}` in it means the user's id.
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

  /// Whether a text can be the domain of an email address.
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
