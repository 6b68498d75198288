import CParleyOpenSSL

/// A key of OpenSSL, parsed once and freed when its last owner is destroyed.
///
/// Unchecked: a key is immutable, and OpenSSL can read it from several threads.
@safe final class EVPKey: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes ownership of a key.
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// The only algorithm for which the key is used. The key's type decides, never a token's header.
  var algorithm: JWTAlgorithm? {
    if EVP_PKEY_is_a(pointer, "RSA") == 1 { return .rs256 }
    if EVP_PKEY_is_a(pointer, "ED25519") == 1 { return .edDSA }
    guard EVP_PKEY_is_a(pointer, "EC") == 1 else { return nil }
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else { return nil }
    let bytes = name.prefix(length).map { UInt8(bitPattern: $0) }
    return bytes.elementsEqual("prime256v1".utf8) ? .es256 : nil
  }

  var bits: Int { Int(EVP_PKEY_get_bits(pointer)) }

  /// Whether both keys have the same public part.
  func isSame(as other: EVPKey) -> Bool {
    defer { ERR_clear_error() }
    return EVP_PKEY_eq(pointer, other.pointer) == 1
  }

  // MARK: Parsing

  /// Parses a PEM public key (`BEGIN PUBLIC KEY`).
  static func publicKey(pem: [UInt8]) -> EVPKey? {
    withBIO(pem) { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
  }

  /// Parses a PEM private key without a password.
  static func privateKey(pem: [UInt8]) -> EVPKey? {
    // Without this callback, OpenSSL would read a password from the terminal.
    withBIO(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
  }

  private static func withBIO(
    _ bytes: [UInt8], _ read: (OpaquePointer) -> OpaquePointer?
  ) -> EVPKey? {
    defer { ERR_clear_error() }
    guard let bio = BIO_new_mem_buf(bytes, Int32(bytes.count)) else { return nil }
    defer { BIO_free(bio) }
    return read(bio).map(EVPKey.init(owning:))
  }

  /// Creates an RSA key from its modulus and exponent, most significant byte first.
  static func rsa(modulus: [UInt8], exponent: [UInt8]) -> EVPKey? {
    guard let n = BN_bin2bn(modulus, Int32(modulus.count), nil) else { return nil }
    defer { BN_free(n) }
    guard let e = BN_bin2bn(exponent, Int32(exponent.count), nil) else { return nil }
    defer { BN_free(e) }
    return fromParameters("RSA") { builder in
      OSSL_PARAM_BLD_push_BN(builder, name("n"), n) == 1
        && OSSL_PARAM_BLD_push_BN(builder, name("e"), e) == 1
    }
  }

  /// Creates a P-256 key from the coordinates of its point, 32 bytes each. OpenSSL verifies that
  /// the point is on the curve.
  static func p256(x: [UInt8], y: [UInt8]) -> EVPKey? {
    guard x.count == 32, y.count == 32 else { return nil }
    let point = [4] + x + y
    return point.withUnsafeBytes { bytes in
      fromParameters("EC") { builder in
        OSSL_PARAM_BLD_push_utf8_string(builder, name("group"), name("prime256v1"), 0) == 1
          && OSSL_PARAM_BLD_push_octet_string(
            builder, name("pub"), bytes.baseAddress, bytes.count) == 1
      }
    }
  }

  /// Creates an Ed25519 key from its 32 bytes.
  static func ed25519(_ bytes: [UInt8]) -> EVPKey? {
    guard bytes.count == 32 else { return nil }
    defer { ERR_clear_error() }
    return EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count)
      .map(EVPKey.init(owning:))
  }

  /// Returns a static string, since OpenSSL retains pointers to names and values for a while.
  private static func name(_ word: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(word.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// Creates a key from parameters, whose values must outlive this call.
  private static func fromParameters(
    _ type: String, _ push: (OpaquePointer) -> Bool
  ) -> EVPKey? {
    defer { ERR_clear_error() }
    guard let builder = OSSL_PARAM_BLD_new() else { return nil }
    defer { OSSL_PARAM_BLD_free(builder) }
    guard push(builder), let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
    defer { OSSL_PARAM_free(parameters) }
    guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, COpenSSL_publicKey, parameters) == 1
    else {
      EVP_PKEY_free(key)
      return nil
    }
    return key.map(EVPKey.init(owning:))
  }

  // MARK: Signatures

  /// Whether the signature of a token is valid for this key.
  func verifies(_ signature: [UInt8], of message: [UInt8], _ algorithm: JWTAlgorithm) -> Bool {
    defer { ERR_clear_error() }
    var signature = signature
    if algorithm == .es256 {
      guard let sequence = ECDSASignature.sequence(fromPair: signature) else { return false }
      signature = sequence
    }
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    let digest = algorithm == .edDSA ? nil : EVP_sha256()
    return EVP_DigestVerifyInit(context, nil, digest, nil, pointer) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// Signs a message with a private key; `nil` for a public key.
  func signature(of message: [UInt8], _ algorithm: JWTAlgorithm) -> [UInt8]? {
    defer { ERR_clear_error() }
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    let digest = algorithm == .edDSA ? nil : EVP_sha256()
    var length = 0
    guard EVP_DigestSignInit(context, nil, digest, nil, pointer) == 1,
      EVP_DigestSign(context, nil, &length, message, message.count) == 1
    else { return nil }
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      return nil
    }
    signature.removeLast(signature.count - length)
    return algorithm == .es256 ? ECDSASignature.pair(fromSequence: signature) : signature
  }
}

/// The two forms of an ECDSA signature on P-256: 64 bytes with r and s, as in tokens, and the ASN.1
/// sequence that OpenSSL expects.
enum ECDSASignature {
  static func sequence(fromPair pair: [UInt8]) -> [UInt8]? {
    guard pair.count == 64 else { return nil }
    guard let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    let r = pair.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
    let s = pair.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress.map { $0 + 32 }, 32, nil) }
    guard ECDSA_SIG_set0(signature, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return nil
    }
    let length = i2d_ECDSA_SIG(signature, nil)
    guard length > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(length))
    let written = bytes.withUnsafeMutableBufferPointer { buffer in
      var next = buffer.baseAddress
      return i2d_ECDSA_SIG(signature, &next)
    }
    return written == length ? bytes : nil
  }

  static func pair(fromSequence bytes: [UInt8]) -> [UInt8]? {
    let parsed = bytes.withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &next, buffer.count)
    }
    guard let signature = parsed else { return nil }
    defer { ECDSA_SIG_free(signature) }
    var pair = [UInt8](repeating: 0, count: 64)
    let isWhole = pair.withUnsafeMutableBufferPointer { buffer in
      BN_bn2binpad(ECDSA_SIG_get0_r(signature), buffer.baseAddress, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), buffer.baseAddress.map { $0 + 32 }, 32) == 32
    }
    return isWhole ? pair : nil
  }
}
