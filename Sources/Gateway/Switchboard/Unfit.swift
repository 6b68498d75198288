import SocketMessages

/// Why a message is not done: thrown where that is found, and answered where the message came.
struct Unfit: Error {
  let code: ErrorCode
  let message: String
  let retryAfter: Int?

  init(_ code: ErrorCode, _ message: String, retryAfter: Int? = nil) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
  }
}
