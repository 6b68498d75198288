/// The life cycle of a transport, and the way to its loop. Called from any thread but the loop's.
public protocol TransportControl: AnyObject, Sendable {
  /// The port listened on; 0 before `start`.
  var boundPort: Int { get }
  /// The port listened on at the second address; 0 before `start`, and without one.
  var boundBackPort: Int { get }
  /// Listens, and starts the threads. Call once; after an error, make another transport.
  ///
  /// - Throws: An error that names the obstacle and says what to do.
  func start() throws
  /// Runs `work` on the loop's thread, in the order of posting, before `woken()` is called.
  ///
  /// - Returns: Whether the loop runs; if not, `work` never does.
  @discardableResult
  func post(_ work: @escaping @Sendable () -> Void) -> Bool
  /// Reads the certificate and its key again from their files; open connections are left alone.
  /// See first whether the files can be used.
  ///
  /// - Parameter completion: Called on the loop's thread, with the error if there was one.
  func reloadCertificate(completion: @escaping @Sendable ((any Error)?) -> Void)
  /// Closes the listening sockets; open connections are left alone.
  func stopAccepting()
  /// Ends everything: stops accepting, sends each connection what is queued for it and a close
  /// frame, and returns once the threads have ended.
  ///
  /// - Parameters:
  ///   - code: The close code for clients.
  ///   - reason: At most 123 bytes of text.
  ///   - milliseconds: The time after which connections that have not closed are cut off.
  func stop(code: CloseCode, reason: String, within milliseconds: Int)
}
