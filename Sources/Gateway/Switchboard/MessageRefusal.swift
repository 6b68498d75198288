import SocketMessages

/// The reason to refuse a message: thrown by a check, and answered where the message arrived.
struct MessageRefusal: Error {
  let code: ErrorCode
  let message: String
  let retryAfter: Int?

  init(_ code: ErrorCode, _ message: String, retryAfter: Int? = nil) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
  }
}
