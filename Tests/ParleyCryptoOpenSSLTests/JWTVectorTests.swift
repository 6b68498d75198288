import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import Testing

/// The examples that the RFCs print.
@Suite("Tokens of the RFCs")
struct JWTVectorTests {
  /// RFC 7515, appendix A: one payload, three algorithms.
  private static let payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

  private static let vectors: [(name: String, keys: String, header: String, signature: String)] = [
    (
      "RFC 7515 A.1",
      """
      {"keys":[{"kty":"oct",
      "k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}]}
      """, "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    ),
    (
      "RFC 7515 A.2",
      """
      {"keys":[{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-\
      Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OM\
      g0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5Z\
      wKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",\
      "e":"AQAB"}]}
      """, "eyJhbGciOiJSUzI1NiJ9",
      """
      cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5j\
      ujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L\
      07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEU\
      ipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
      """
    ),
    (
      "RFC 7515 A.3",
      """
      {"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
      """, "eyJhbGciOiJFUzI1NiJ9",
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    ),
  ]

  @Test("signatures are valid for their own payload, not for another one", arguments: 0..<3)
  func signatures(index: Int) throws {
    let vector = Self.vectors[index]
    let files = TemporaryFiles()
    let authenticator = try JWTAuthenticator(
      files: [KeyFile(.keySet, path: files.write(vector.keys, to: "keys.json"))])
    let claims = try authenticator.claims(
      of: "\(vector.header).\(Self.payload).\(vector.signature)")
    #expect(claims.issuer == "joe")
    #expect(claims.expiresAt == 1_300_819_380_000)
    let other = "e" + Self.payload.dropFirst().dropLast() + "A"
    #expect(throws: AuthenticationError.signature) {
      try authenticator.claims(of: "\(vector.header).\(other).\(vector.signature)")
    }
  }

  @Test("RFC 8037 A.4: Ed25519")
  func ed25519() throws {
    let files = TemporaryFiles()
    let keys =
      #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#
    let authenticator = try JWTAuthenticator(
      files: [KeyFile(.keySet, path: files.write(keys, to: "keys.json"))])
    let signature =
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    // The payload is a sentence: the signature holds, and then there are no claims.
    #expect(throws: AuthenticationError.claims) {
      try authenticator.claims(
        of: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\(signature)")
    }
    #expect(throws: AuthenticationError.signature) {
      try authenticator.claims(
        of: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmg.\(signature)")
    }
  }

  @Test(
    "RFC 4648: base64url without padding",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
      ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
  func base64(text: String, encoded: String) {
    #expect(Base64.url.encode(Array(text.utf8)) == encoded)
    #expect(Base64.url.decode(encoded.utf8) == Array(text.utf8))
  }

  @Test(
    "base64url that no encoder writes is refused",
    arguments: ["Z", "Zg==", "Zh", "Zm9=", "Zm 9v", "Zm9v\n", "+/+/", "é"])
  func badBase64(text: String) {
    #expect(Base64.url.decode(text.utf8) == nil)
  }
}
