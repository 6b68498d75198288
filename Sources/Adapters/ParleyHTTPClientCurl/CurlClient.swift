import CParleyCurl

/// An HTTP client for concurrent requests; only waiting blocks.
///
/// The response's status is returned, and its body only if the request asks for it. Redirects are
/// not followed, so a request reaches only the named host. An instance must be used by one thread;
/// only ``Waker/wake()`` can be called from any.
public final class CurlClient {
  /// A request: a POST if it has a body, otherwise a GET, unless `method` is set.
  public struct Request: Sendable {
    /// The URL, beginning with `http://` or `https://`.
    public var url: String
    /// Header lines, such as `content-type: application/json`.
    public var headers: [String]
    /// The body of a POST; `nil` for a GET.
    public var body: [UInt8]?
    /// The method instead of POST and GET, in capitals.
    public var method: String?
    /// The path of a PEM file with certificates that are trusted instead of the system's.
    public var trustedCertificates: String?
    /// The maximum duration of the whole request, in milliseconds.
    public var timeoutMilliseconds: Int
    /// Whether any certificate is accepted: for this machine's server, which has another name.
    public var acceptsAnyCertificate = false
    /// The maximum size of a returned body in bytes; a longer one is a failure. With `nil`, the
    /// body is discarded.
    public var keptBytesMax: Int?
    /// Whether to use HTTP/1.1, for a request with `Upgrade`, which HTTP/2 does not support.
    public var avoidsHTTP2 = false
    /// Whether to begin with a PROXY protocol header of version 1, as a proxy does.
    public var sendsProxyHeader = false

    /// Creates a POST request, or a GET request if `body` is `nil`.
    public init(url: String, headers: [String], body: [UInt8]?, timeoutMilliseconds: Int) {
      self.url = url
      self.headers = headers
      self.body = body
      self.timeoutMilliseconds = timeoutMilliseconds
    }
  }

  /// The outcome of a request.
  public enum Outcome: Sendable, Equatable {
    /// The service has responded; `retryAfterSeconds` is its `Retry-After`, if any.
    case answered(status: Int, retryAfterSeconds: Int?)
    /// The request failed for this reason. The service may have received it nevertheless.
    case failed(String)
  }

  /// A handle that ends a client's wait from another thread.
  public final class Waker: @unchecked Sendable {
    // libcurl allows waking from any thread; all other calls are made by the client's thread.
    let handle: UnsafeMutableRawPointer

    /// Creates the waker of one client, which is created later.
    public init() {
      guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK,
        let handle = curl_multi_init()
      else { fatalError("libcurl does not start; check the installation of libcurl4") }
      self.handle = handle
    }

    deinit { curl_multi_cleanup(handle) }

    /// Ends the current wait, or the next one, immediately.
    public func wake() { curl_multi_wakeup(handle) }
  }

  private let waker: Waker
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  /// The bodies of the responses whose outcomes the last wait returned.
  private var bodies: [Int: [UInt8]] = [:]

  /// Creates a client without requests.
  ///
  /// - Parameter waker: Ends this client's waits from other threads. It must have no other client.
  public init(waker: Waker) { self.waker = waker }

  deinit {
    for transfer in transfers.values { curl_multi_remove_handle(waker.handle, transfer.handle) }
  }

  /// Starts a request. ``wait(atMostMilliseconds:)`` returns its outcome with the key.
  public func start(_ request: Request, key: Int) {
    let transfer = Transfer(request, key: key)
    transfers[transfer.handle] = transfer
    let code = curl_multi_add_handle(waker.handle, transfer.handle)
    precondition(code == CURLM_OK, "libcurl does not take a request: \(code.rawValue)")
  }

  /// Waits until a request has ended, the client is woken, or the time is over: an hour with `nil`.
  ///
  /// - Returns: The outcomes of ended requests, which may be empty.
  public func wait(atMostMilliseconds limit: Int64?) -> [(key: Int, outcome: Outcome)] {
    var running: Int32 = 0
    bodies = [:]
    curl_multi_perform(waker.handle, &running)
    let early = takeOutcomes()
    guard early.isEmpty else { return early }
    let milliseconds = Int32(clamping: max(limit ?? 3_600_000, 0))
    curl_multi_poll(waker.handle, nil, 0, milliseconds, nil)
    curl_multi_perform(waker.handle, &running)
    return takeOutcomes()
  }

  /// Returns the body for an outcome of the last wait; `nil` if the body was discarded.
  public func body(of key: Int) -> [UInt8]? { bodies[key] }

  private func takeOutcomes() -> [(key: Int, outcome: Outcome)] {
    var outcomes: [(key: Int, outcome: Outcome)] = []
    var left: Int32 = 0
    while let message = curl_multi_info_read(waker.handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
        let transfer = transfers.removeValue(forKey: handle)
      else { continue }
      outcomes.append((transfer.key, transfer.outcome(message.pointee.data.result)))
      bodies[transfer.key] = transfer.keptBody
      curl_multi_remove_handle(waker.handle, handle)
      // Remove the handle from the client before the transfer frees it.
      withExtendedLifetime(transfer) {}
    }
    return outcomes
  }
}

/// A request in progress.
private final class Transfer {
  /// The maximum bytes of a discarded body; a longer one is not read to its end.
  private static let answerBytesMax = 64 << 10

  let handle: UnsafeMutableRawPointer
  let key: Int
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let answerBytesLeft: UnsafeMutablePointer<Int>
  /// The received part of a body that is to be returned.
  private var kept: UnsafeMutablePointer<CCurlBody>?

  init(_ request: CurlClient.Request, key: Int) {
    guard let handle = curl_easy_init() else { fatalError("no memory for a request") }
    self.handle = handle
    self.key = key
    answerBytesLeft = .allocate(capacity: 1)
    answerBytesLeft.initialize(to: Self.answerBytesMax)
    for line in request.headers { headers = curl_slist_append(headers, line) }
    // Send large bodies without waiting for `100 Continue`.
    headers = curl_slist_append(headers, "expect:")
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_TIMEOUT_MS, request.timeoutMilliseconds)
    set(CURLOPT_URL, request.url)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Never use a proxy for requests to this machine, even if the environment configures one.
    set(CURLOPT_NOPROXY, "localhost,127.0.0.0/8,::1")
    check(CCurl_setPointer(handle, CURLOPT_HTTPHEADER, headers))
    if let body = request.body {
      set(CURLOPT_POST, 1)
      check(CCurl_setSize(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
      check(
        body.withUnsafeBytes { CCurl_setPointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) })
    }
    if let method = request.method { set(CURLOPT_CUSTOMREQUEST, method) }
    if let file = request.trustedCertificates { set(CURLOPT_CAINFO, file) }
    if request.acceptsAnyCertificate {
      set(CURLOPT_SSL_VERIFYPEER, 0)
      set(CURLOPT_SSL_VERIFYHOST, 0)
    }
    if request.avoidsHTTP2 { set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)) }
    if request.sendsProxyHeader { set(CURLOPT_HAPROXYPROTOCOL, 1) }
    guard let capacity = request.keptBytesMax else {
      check(CCurl_dropBody(handle, answerBytesLeft))
      return
    }
    let kept = UnsafeMutablePointer<CCurlBody>.allocate(capacity: 1)
    kept.initialize(
      to: CCurlBody(bytes: .allocate(capacity: capacity), count: 0, capacity: capacity))
    self.kept = kept
    check(CCurl_keepBody(handle, kept))
  }

  /// The received body; `nil` if it is discarded.
  var keptBody: [UInt8]? {
    kept.map { kept in
      let body = kept.pointee
      return body.bytes.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: body.count)) } ?? []
    }
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headers)
    answerBytesLeft.deallocate()
    kept?.pointee.bytes?.deallocate()
    kept?.deallocate()
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

  /// Returns the outcome of a transfer that has ended with this code.
  func outcome(_ code: CURLcode) -> CurlClient.Outcome {
    var status = 0
    CCurl_getLong(handle, CURLINFO_RESPONSE_CODE, &status)
    if kept != nil, code == CURLE_WRITE_ERROR { return .failed("the answer is too large") }
    // A response whose discarded body is too long is still a response.
    guard code == CURLE_OK || (code == CURLE_WRITE_ERROR && status > 0) else {
      return .failed(String(cString: curl_easy_strerror(code)))
    }
    var retryAfter: curl_off_t = 0
    CCurl_getSize(handle, CURLINFO_RETRY_AFTER, &retryAfter)
    return .answered(status: status, retryAfterSeconds: retryAfter > 0 ? Int(retryAfter) : nil)
  }
}
