import ParleyCryptoOpenSSL

/// The rule for the length of new passwords, used by the server and the command line.
package enum PasswordRule {
  /// Minimum characters, as NIST SP 800-63B requires.
  private static let charactersMin = 8

  /// Returns the rule that a password violates, as text; `nil` if the password is valid.
  package static func problem(of password: String) -> String? {
    guard password.unicodeScalars.count >= charactersMin,
      password.utf8.count <= PasswordHash.passwordBytesMax
    else {
      return "a password of \(charactersMin) characters or more, and at most "
        + "\(PasswordHash.passwordBytesMax) bytes"
    }
    return nil
  }
}
