import ParleyHTTPClientCurl
package import ParleyMail

/// A message that waits for the mail server, or is sent at once.
extension MailServer {
  /// Returns the delivery of a message's bytes to a recipient.
  func delivery(of message: [UInt8], to recipient: String) -> CurlMailer.Delivery {
    var delivery = CurlMailer.Delivery(
      host: address.host, port: address.port,
      encryption: address.isImplicitlyEncrypted
        ? .implicit : requiresSTARTTLS ? .required : .none,
      timeoutMilliseconds: timeoutMilliseconds, sender: from.address, recipient: recipient,
      message: message)
    if let user = address.user, let password = address.password {
      delivery.login = (user, password)
    }
    delivery.trustedCertificates = certificatesFile
    return delivery
  }

  /// Sends a message at once, for a command. Blocks until the server has answered.
  ///
  /// - Returns: The reason in words why the message was not sent; `nil` if it was.
  package func send(_ message: MailMessage) throws(MailError) -> String? {
    let mailer = CurlMailer(waker: CurlClient.Waker())
    mailer.start(delivery(of: try message.bytes(), to: message.to.address))
    while true {
      guard let outcome = mailer.wait(atMostMilliseconds: nil) else { continue }
      switch outcome {
      case .accepted: return nil
      case .postponed(let code): return "the mail server does not take the message now (\(code))"
      case .refused(let code): return "the mail server refuses the message (\(code))"
      case .failed(let failure): return failure.description
      }
    }
  }
}
