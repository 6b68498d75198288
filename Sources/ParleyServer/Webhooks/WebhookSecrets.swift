import ParleyCryptoOpenSSL
import ParleyGatewayPorts

/// The signing secrets in a file, which is reloaded when it changes.
struct WebhookSecrets: Sendable {
  private(set) var signer: WebhookSigner
  private var watch: FileWatch?
  private let log: (any LogSink)?

  /// Reads the file; without a path, calls are not signed.
  init(path: String?, log: (any LogSink)?) throws(JWTKeyError) {
    self.log = log
    guard let path else {
      signer = WebhookSigner(secrets: [])
      return
    }
    // Before reading, so that the next check notices a change during the read.
    watch = FileWatch(path: path)
    signer = WebhookSigner(secrets: try WebhookSecretFile.secrets(path: path))
  }

  /// Reloads the file if it has changed. If it is unusable, the former secrets remain.
  mutating func refresh(now: Timestamp) {
    guard let path = watch?.path, watch?.hasChanged(now: now) ?? false else { return }
    do throws(JWTKeyError) {
      signer = WebhookSigner(secrets: try WebhookSecretFile.secrets(path: path))
      log?.write(.notice, "webhook secrets read again", [("file", path)])
    } catch {
      log?.write(
        .error, "webhook secrets not read again; those known before stay", [("error", "\(error)")])
    }
  }
}
