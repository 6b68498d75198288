import CryptoOpenSSL

/// The rule for the length of a new password, on the page and at a terminal.
package enum PasswordRule {
  /// The fewest characters, as NIST SP 800-63B requires.
  private static let charactersMin = 8

  /// Returns what is expected of a password that cannot be set; `nil` if it can.
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
