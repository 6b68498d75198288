import CParleyOpenSSL

/// A certificate with its private key, read to see whether a server could present it.
///
/// Certificates are replaced while a server runs, often by an unattended program. So the new files
/// are checked before the old ones are given up.
public struct ServerCertificate: Sendable, Equatable {
  /// Why files cannot be used.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file cannot be read.
    case unreadable(path: String)
    /// No certificate in PEM form begins in the file.
    case noCertificate(path: String)
    /// No private key in PEM form without a passphrase is in the file.
    case noKey(path: String)
    /// The key belongs to another certificate.
    case mismatch(certificate: String, key: String)

    /// The obstacle, and what to do about it.
    public var description: String {
      switch self {
      case .unreadable(let path): "\(path) cannot be read; check its path and who may read it"
      case .noCertificate(let path):
        "\(path) holds no certificate; expected PEM (BEGIN CERTIFICATE), the server's own first"
      case .noKey(let path):
        "\(path) holds no private key; expected PEM (BEGIN PRIVATE KEY) without a passphrase"
      case .mismatch(let certificate, let key):
        "\(key) is not the key of \(certificate); give the pair that was made together"
      }
    }
  }

  /// Seconds since 1970 until which the certificate holds.
  public let expiry: Int64

  /// Reads a certificate and its key.
  ///
  /// - Parameters:
  ///   - certificatePath: PEM: the server's certificate, then those between it and the root.
  ///   - keyPath: PEM: the private key.
  /// - Throws: What keeps a server from using them.
  public init(certificatePath: String, keyPath: String) throws(Failure) {
    guard let certificateFile = BIO_new_file(certificatePath, "r") else {
      throw .unreadable(path: certificatePath)
    }
    defer { BIO_free(certificateFile) }
    guard let certificate = PEM_read_bio_X509(certificateFile, nil, nil, nil) else {
      throw .noCertificate(path: certificatePath)
    }
    defer { X509_free(certificate) }
    guard let keyFile = BIO_new_file(keyPath, "r") else { throw .unreadable(path: keyPath) }
    defer { BIO_free(keyFile) }
    // An empty passphrase, given rather than asked for at the terminal.
    guard let key = PEM_read_bio_PrivateKey(keyFile, nil, { _, _, _, _ in 0 }, nil) else {
      throw .noKey(path: keyPath)
    }
    defer { EVP_PKEY_free(key) }
    guard X509_check_private_key(certificate, key) == 1 else {
      throw .mismatch(certificate: certificatePath, key: keyPath)
    }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard let epoch = ASN1_TIME_set(nil, 0) else {
      throw .noCertificate(path: certificatePath)
    }
    defer { ASN1_TIME_free(epoch) }
    guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1 else {
      throw .noCertificate(path: certificatePath)
    }
    expiry = Int64(days) * 86_400 + Int64(seconds)
  }
}
