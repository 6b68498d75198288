import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyMail

/// Sends links for new passwords by mail.
struct ResetMail: Sendable {
  let server: MailServer
  /// The address of the page, from the settings: a request's `Host` could name another site.
  let page: String
  let resets: PasswordResets

  /// Returns a function that queues messages, for ``LoginService``.
  func sender(by store: StoreThread) -> (UserLine?, String) -> Void {
    { line, accepted in
      if let draft = draft(for: line, accepted, now: SystemClock().now) { store.tell([draft]) }
    }
  }

  /// Returns the message with a link for an account.
  ///
  /// - Parameters:
  ///   - line: The account; with `nil`, a message is built and not returned.
  ///   - accepted: The languages that the browser accepts.
  func draft(for line: UserLine?, _ accepted: String, now: Timestamp) -> OutboxDraft? {
    let language = MailLanguage(accepted: accepted)
    guard let address = line.map({ try? MailAddress($0.mail ?? "") }) ?? server.from else {
      return nil
    }
    let token = resets.token(
      user: line?.user.id ?? "nobody", password: line?.resetState ?? "", now: now)
    let text = MailText.reset(link: "\(page)#reset=\(token)")
    let message = text.message(
      from: server.from, to: address, in: language, id: RandomNames().next(), milliseconds: now)
    let mail = try? QueuedMail(message, expiresAt: now + PasswordResets.lifetimeMilliseconds)
    let draft = mail?.draft(at: now)
    return line == nil ? nil : draft
  }
}

extension Configuration {
  /// The messages with links for new passwords; `nil` if they cannot be sent.
  func resetMail(_ resets: PasswordResets) -> ResetMail? {
    guard let server = mailServer, let page = resetPage else { return nil }
    return ResetMail(server: server, page: page, resets: resets)
  }

  /// The page of links for new passwords; `nil` if they cannot be sent.
  var resetPage: String? {
    guard mailServer != nil, usersFile != nil, let publicURL else { return nil }
    return publicURL.hasSuffix("/") ? publicURL : publicURL + "/"
  }
}
