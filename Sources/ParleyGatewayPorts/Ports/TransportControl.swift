/// The life cycle of a transport, and access to its loop. Called from any thread except the loop's.
public protocol TransportControl: AnyObject, Sendable {
  /// The listening port; 0 before `start`.
  var boundPort: Int { get }
  /// The listening port of the second address; 0 before `start`, and without a second address.
  var boundBackPort: Int { get }
  /// Starts the listener and the threads. Call it once; after an error, create another transport.
  ///
  /// - Throws: An error that names the obstacle and the remedy.
  func start() throws
  /// Runs `work` on the loop's thread, in the order of posting, before `woken()` is called.
  ///
  /// - Returns: Whether the loop is running. If not, `work` is never called.
  @discardableResult
  func post(_ work: @escaping @Sendable () -> Void) -> Bool
  /// Reloads the certificate and its key from their files. Open connections are not affected. Check
  /// that the files can be used before calling this.
  ///
  /// - Parameter completion: Called on the loop's thread, with an error if reloading failed.
  func reloadCertificate(completion: @escaping @Sendable ((any Error)?) -> Void)
  /// Closes the listening sockets. Open connections are not affected.
  func stopAccepting()
  /// Stops accepting, sends each connection its queued bytes and a close frame, and returns after
  /// all threads have ended.
  ///
  /// - Parameters:
  ///   - code: The close code sent to clients.
  ///   - reason: The close reason, at most 123 bytes.
  ///   - milliseconds: The maximum time before connections that are still open are cut off.
  func stop(code: CloseCode, reason: String, within milliseconds: Int)
}
