import CryptoOpenSSL
import GatewayPorts

/// The secrets of a file, which is read again when it changes.
struct WebhookSecrets: Sendable {
  private(set) var signer: WebhookSigner
  private var watch: FileWatch?
  private let log: (any LogSink)?

  /// Reads the file; without one nothing is signed.
  init(path: String?, log: (any LogSink)?) throws(JWTKeyError) {
    self.log = log
    guard let path else {
      signer = WebhookSigner(secrets: [])
      return
    }
    // Before reading: what is written meanwhile is seen at the next look.
    watch = FileWatch(path: path)
    signer = WebhookSigner(secrets: try WebhookSecretFile.secrets(path: path))
  }

  /// Reads the file again if it has changed; what cannot be used leaves the secrets known before.
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
