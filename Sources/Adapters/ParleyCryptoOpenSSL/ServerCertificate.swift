import CParleyOpenSSL

/// A certificate with its private key, read to verify that a server can use them.
///
/// Certificates are replaced while a server runs, often by a program. So the new files are verified
/// before the old certificate is discarded.
public struct ServerCertificate: Sendable, Equatable {
  /// The reason why files cannot be used.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file cannot be read.
    case unreadable(path: String)
    /// The file contains no certificate in PEM form.
    case noCertificate(path: String)
    /// The file contains no private key in PEM form without a passphrase.
    case noKey(path: String)
    /// The key belongs to another certificate.
    case mismatch(certificate: String, key: String)

    /// The problem and the remedy.
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

  /// The end of the certificate's validity, in seconds since 1970.
  public let expiry: Int64

  /// Reads a certificate and its key, and verifies that they belong together.
  ///
  /// - Parameters:
  ///   - certificatePath: A PEM file: the server's certificate, then the intermediate certificates.
  ///   - keyPath: A PEM file with the private key.
  /// - Throws: The reason why a server cannot use them.
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
    // Return an empty passphrase, so that OpenSSL does not prompt at the terminal.
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
