import CParleyCurl

/// A client of one mail server by SMTP, which sends one message at a time; only waiting blocks.
///
/// An instance must be used by one thread; only ``CurlClient/Waker/wake()`` can be called from any.
public final class CurlMailer {
  /// A message to be delivered, and the server that takes it.
  public struct Delivery: Sendable {
    /// The encryption of a connection.
    public enum Encryption: Sendable, Equatable {
      /// TLS from the first byte (`smtps://`).
      case implicit
      /// STARTTLS; without it nothing is sent.
      case required
      /// No encryption: for a server on this machine, or where the operator says so.
      case none
    }

    /// The host name or IP address of the server.
    public var host: String
    /// The port of the server.
    public var port: Int
    /// The encryption of the connection.
    public var encryption: Encryption
    /// The name and the password at the server; `nil` for no authentication.
    public var login: (user: String, password: String)?
    /// The path of a PEM file with certificates that are trusted instead of the system's.
    public var trustedCertificates: String?
    /// The maximum duration of the whole delivery, in milliseconds.
    public var timeoutMilliseconds: Int
    /// The sender's address, to which servers report failures.
    public var sender: String
    /// The recipient's address.
    public var recipient: String
    /// The message, in lines that end in CRLF.
    public var message: [UInt8]

    /// Creates a delivery without authentication, with the system's certificates.
    ///
    /// - Parameters:
    ///   - sender: A valid address, which cannot contain blanks and line breaks.
    ///   - recipient: The same.
    public init(
      host: String, port: Int, encryption: Encryption, timeoutMilliseconds: Int, sender: String,
      recipient: String, message: [UInt8]
    ) {
      self.host = host
      self.port = port
      self.encryption = encryption
      self.timeoutMilliseconds = timeoutMilliseconds
      self.sender = sender
      self.recipient = recipient
      self.message = message
    }
  }

  /// The outcome of a delivery.
  public enum Outcome: Sendable, Equatable {
    /// The server has taken the message.
    case accepted
    /// The server does not take this message now, with a code from 400 to 499, as in greylisting.
    case postponed(code: Int)
    /// The server does not take this message at all, with a code from 500 to 599.
    case refused(code: Int)
    /// No message can be sent to this server now. It may have taken the message nevertheless.
    case failed(Failure)
  }

  /// The reason why a server cannot be used. Descriptions contain no addresses, names or passwords.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The host is unknown or not reachable, or the connection was lost.
    case connection
    /// The server did not answer in time.
    case timeout
    /// The server offers no STARTTLS, or TLS fails.
    case encryption
    /// The server's certificate is not valid for the host.
    case certificate
    /// The server does not accept the name and password, or wants some; with its code, if any.
    case login(code: Int)
    /// The server does not accept the sender.
    case sender(code: Int)
    /// The server is not ready.
    case unavailable(code: Int)
    /// The server's answer is not SMTP, or too long.
    case answer

    /// The reason in words.
    public var description: String {
      switch self {
      case .connection: "the connection to the mail server failed"
      case .timeout: "the mail server did not answer in time"
      case .encryption: "the connection to the mail server cannot be encrypted"
      case .certificate: "the mail server's certificate is not valid"
      case .login(0): "the mail server does not accept this way of signing in"
      case .login(let code): "the mail server does not accept name and password (\(code))"
      case .sender(let code): "the mail server does not accept the sender (\(code))"
      case .unavailable(let code): "the mail server is not ready (\(code))"
      case .answer: "the mail server's answer is not valid"
      }
    }
  }

  private let waker: CurlClient.Waker
  private var transfer: MailTransfer?

  /// Creates a client without a delivery.
  ///
  /// - Parameter waker: Ends this client's waits from other threads. It must have no other client.
  public init(waker: CurlClient.Waker) { self.waker = waker }

  deinit {
    if let transfer { curl_multi_remove_handle(waker.handle, transfer.handle) }
  }

  /// Starts a delivery; the former one must have ended.
  public func start(_ delivery: Delivery) {
    precondition(transfer == nil, "a mailer sends one message at a time")
    let transfer = MailTransfer(delivery)
    self.transfer = transfer
    let code = curl_multi_add_handle(waker.handle, transfer.handle)
    precondition(code == CURLM_OK, "libcurl does not take a message: \(code.rawValue)")
  }

  /// Waits until the delivery has ended, the client is woken, or the time is over: an hour with `nil`.
  ///
  /// - Returns: The outcome if the delivery has ended.
  public func wait(atMostMilliseconds limit: Int64?) -> Outcome? {
    var running: Int32 = 0
    curl_multi_perform(waker.handle, &running)
    if let outcome = takeOutcome() { return outcome }
    let milliseconds = Int32(clamping: max(limit ?? 3_600_000, 0))
    curl_multi_poll(waker.handle, nil, 0, milliseconds, nil)
    curl_multi_perform(waker.handle, &running)
    return takeOutcome()
  }

  private func takeOutcome() -> Outcome? {
    var left: Int32 = 0
    while let message = curl_multi_info_read(waker.handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let transfer,
        message.pointee.easy_handle == transfer.handle
      else { continue }
      let outcome = transfer.outcome(message.pointee.data.result)
      self.transfer = nil
      curl_multi_remove_handle(waker.handle, transfer.handle)
      // Remove the handle from the client before the transfer frees it.
      withExtendedLifetime(transfer) {}
      return outcome
    }
    return nil
  }
}

/// A delivery in progress.
private final class MailTransfer {
  /// Maximum bytes of all answers of a server.
  private static let answerBytesMax = 64 << 10
  /// The maximum time for one answer, in seconds.
  private static let answerSecondsMax = 30

  let handle: UnsafeMutableRawPointer
  private var recipients: UnsafeMutablePointer<curl_slist>?
  private let answerBytesLeft: UnsafeMutablePointer<Int>
  private let message: UnsafeMutablePointer<UInt8>
  private let state: UnsafeMutablePointer<CCurlMail>

  init(_ delivery: CurlMailer.Delivery) {
    guard let handle = curl_easy_init() else { fatalError("no memory for a message") }
    self.handle = handle
    answerBytesLeft = .allocate(capacity: 1)
    answerBytesLeft.initialize(to: Self.answerBytesMax)
    message = .allocate(capacity: max(delivery.message.count, 1))
    message.initialize(from: delivery.message, count: delivery.message.count)
    state = .allocate(capacity: 1)
    state.initialize(
      to: CCurlMail(bytes: message, left: delivery.message.count, phase: CCurlMail_connecting))
    let isImplicit = delivery.encryption == .implicit
    let host = delivery.host.contains(":") ? "[\(delivery.host)]" : delivery.host
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_URL, "\(isImplicit ? "smtps" : "smtp")://\(host):\(delivery.port)")
    set(CURLOPT_PROTOCOLS_STR, "smtp,smtps")
    // Never through a proxy that the environment configures for other purposes.
    set(CURLOPT_PROXY, "")
    set(CURLOPT_TIMEOUT_MS, delivery.timeoutMilliseconds)
    set(
      CURLOPT_SERVER_RESPONSE_TIMEOUT,
      min(Self.answerSecondsMax, max(delivery.timeoutMilliseconds / 1_000, 1)))
    // A server may close a connection at any time, so each message has its own.
    set(CURLOPT_FORBID_REUSE, 1)
    set(CURLOPT_UPLOAD, 1)
    set(CURLOPT_MAIL_FROM, "<\(delivery.sender)>")
    recipients = curl_slist_append(nil, "<\(delivery.recipient)>")
    check(CCurl_setPointer(handle, CURLOPT_MAIL_RCPT, recipients))
    if delivery.encryption == .required { set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
    if let file = delivery.trustedCertificates { set(CURLOPT_CAINFO, file) }
    if let login = delivery.login {
      set(CURLOPT_USERNAME, login.user)
      set(CURLOPT_PASSWORD, login.password)
    }
    check(CCurl_sendMail(handle, state, answerBytesLeft))
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(recipients)
    answerBytesLeft.deallocate()
    message.deallocate()
    state.deallocate()
  }

  private func set(_ option: CURLoption, _ value: Int) {
    check(CCurl_setLong(handle, option, value))
  }

  private func set(_ option: CURLoption, _ value: String) {
    check(value.withCString { CCurl_setPointer(handle, option, $0) })
  }

  private func check(_ code: CURLcode) {
    precondition(code == CURLE_OK, "libcurl does not take an option: \(code.rawValue)")
  }

  /// Returns the outcome of a delivery that has ended with this code.
  func outcome(_ result: CURLcode) -> CurlMailer.Outcome {
    var code = 0
    CCurl_getLong(handle, CURLINFO_RESPONSE_CODE, &code)
    switch result {
    case CURLE_OK: return .accepted
    case CURLE_OPERATION_TIMEDOUT: return .failed(.timeout)
    case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR: return .failed(.encryption)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: return .failed(.certificate)
    case CURLE_LOGIN_DENIED: return .failed(.login(code: (400...599).contains(code) ? code : 0))
    // The answers were longer than allowed.
    case CURLE_WRITE_ERROR: return .failed(.answer)
    default: return outcome(code, isStrange: result == CURLE_WEIRD_SERVER_REPLY)
    }
  }

  private func outcome(_ code: Int, isStrange: Bool) -> CurlMailer.Outcome {
    guard (400...599).contains(code) else { return .failed(isStrange ? .answer : .connection) }
    let phase = state.pointee.phase
    switch code {
    // The server ends its service, for all messages.
    case 421: return .failed(.unavailable(code: code))
    // The server wants a login.
    case 530, 534, 535, 538: return .failed(.login(code: code))
    default: break
    }
    switch phase {
    case CCurlMail_recipient, CCurlMail_message:
      return code < 500 ? .postponed(code: code) : .refused(code: code)
    case CCurlMail_sender: return .failed(.sender(code: code))
    case CCurlMail_encrypting: return .failed(.encryption)
    case CCurlMail_authenticating: return .failed(.login(code: code))
    default: return .failed(.unavailable(code: code))
    }
  }
}
