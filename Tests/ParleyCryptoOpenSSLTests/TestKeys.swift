/// Keys made for these tests and used nowhere else.
enum TestKeys {
  static let rsa = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCt+fjvR8oJRE2W
    uEpvLTMsCQhGmYtgh4t1AKWYwnFz85i9EmMRkjzXutOLEB3ZiHajFAC3b+X9JASs
    h5Mina2NAQOxubJWS1I9c8CsnZ70Y1vxKO1nAWmCl9dZDXM56ToHsC3L981ol43A
    FQFbhGcZAjr4hmDmec6FxfzWR+SL7bKwOjWMI3jaei4AnMJEXC8gU8FfJaYYOPOR
    A6MCzqgqDdsckhtxzs4Qz2WqgMvfZI+5hpwmU1T/rmQRPOilsVi8QNVbPA7/wlve
    86isEpaJFyA9UV/VuFri4VfH0U7uypPa/B8syLs7C2vYNMSh2qkpQl2EseKxQrsj
    FD+D0s5ZAgMBAAECggEAGI17rUFDaRVjoc62aoRFgYRwz43h1qiqbMO/mxRt8IBD
    YQOUSamKvqNWMXz/yXBx1cf/5eN74MLRigvEHxGDqa+n9tAPNBCDNbr9SR8hjLnt
    AtbU0kGnw09si9vTFCwvDWC2xd9d9NHWpnIQc/r2ldfzvJkyWbR9CfIMIa2ZuomA
    ZSST0VNW6qzhCyXNRx/+iHk5OCXqQSZoGo/qyX3inHRCkyGnnXnom6U9QGXr/Xq3
    86phHEzDFK6e3rPbAeA9w63maMEPuc6zCA0OUFef15IjntJfj3H7ZQXP6+M2nM2Y
    0U5CuE8UFsSBooUnY0/qduntQyduraklpk67ce5NJQKBgQDoEp5pYC2VpKBguAqM
    ellsMLD1V80B3dbt3wKnVNvNwX/PV9RxUzQ3hirQe5/3CxSzaS93Gcw7/I3jTAOz
    RyIn1HYQ6b6MEXFqY1HKlaRGYcf8OshGJNMD4q6GwmugPaWMW7qiV0AkxfnBp2Q2
    Tlt6DZHrCm6iUM6N/3+V1xlViwKBgQC/6fJ15mZPxAOavdJ+8iMnrGlC9CIvugvZ
    /dfCihYOvUhn2DhmFO30MNuHGs5xJbkVPPvd3ke7DvtQthdBOSiYnp5zjFNX8xfD
    fOcxR1dAbTnZuLBku57DgEMQvuVZqaNPU3A1YTSnrX1EsTjL3uDQF43mOkAZykYx
    hv3ufkJQKwKBgQDf233k5bpy+58cTMsYILj7bKh1sOD26Pd28sSLhoaUHg/cgLtT
    KVBYMto/ytBOK+km+tKnT0I7pu1zEJMNLxOaWg4dWGvOjtDZL77o7JnOrmmLO2SO
    jNzjhZiWMxpAMtbq4lzQVdtw3WuCyqYW4FTLEiXsFF8NwWbNgGSgtCEi6wKBgG8b
    TGoBp74KZ2PQ/erM2JmBcbd3i8tB1Nax5ZYVR8vkveSRA6Xl/BVhq9a+KELNaifn
    lJHQvIqJk+oYYcI7C0vAmU+gMCg87scYquiWuubr1ZA9IrJPBQ1+VlV9j16nnYqx
    bccZrdhd0qZQS+eL82/GEzr1AmNr/dNyqdTHeDDdAoGAPjRd6t41TstPlRjgHWGv
    MlFlolo3s9qm55Gq9nQ3VCVs7L5W86ZXdQkUA/tcSrfg2qBPbS3Qj99jbFYERUAu
    Sl761RwwKtiXmMD2OujAIB1RIxhgI6zT3O5jZK1EdyWO95mn9Xg9TxSI0lqQWn3x
    DYlOsdQkntosyjwAe7Zo9y0=
    -----END PRIVATE KEY-----
    """
  static let rsaPublic = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArfn470fKCURNlrhKby0z
    LAkIRpmLYIeLdQClmMJxc/OYvRJjEZI817rTixAd2Yh2oxQAt2/l/SQErIeTIp2t
    jQEDsbmyVktSPXPArJ2e9GNb8SjtZwFpgpfXWQ1zOek6B7Aty/fNaJeNwBUBW4Rn
    GQI6+IZg5nnOhcX81kfki+2ysDo1jCN42nouAJzCRFwvIFPBXyWmGDjzkQOjAs6o
    Kg3bHJIbcc7OEM9lqoDL32SPuYacJlNU/65kETzopbFYvEDVWzwO/8Jb3vOorBKW
    iRcgPVFf1bha4uFXx9FO7sqT2vwfLMi7Owtr2DTEodqpKUJdhLHisUK7IxQ/g9LO
    WQIDAQAB
    -----END PUBLIC KEY-----
    """
  static let p256 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWKSk+z2v/zDsnCZN
    Ciaz3LSol3wXNE2yxbnB/VT5htihRANCAATRQiViVADeUMuuJu9f4nqM5ZlB62mc
    Xl/oHmr822SWumOBFAzt1AtjGCRd93MYlLnBl6f0NpKThmwUwwgMFmQc
    -----END PRIVATE KEY-----
    """
  static let p256Public = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE0UIlYlQA3lDLribvX+J6jOWZQetp
    nF5f6B5q/NtklrpjgRQM7dQLYxgkXfdzGJS5wZen9DaSk4ZsFMMIDBZkHA==
    -----END PUBLIC KEY-----
    """
  static let ed25519 = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIGF9YlPJ9gcyJwgT4tH5vsQZlPR1EcxrPEqBCr14T/hS
    -----END PRIVATE KEY-----
    """
  static let ed25519Public = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEAxhKtOcGPqMlAHqj1wiPKAigHlnfOk1GZNTbvu7fFQEw=
    -----END PUBLIC KEY-----
    """
  static let shortRSAPublic = """
    -----BEGIN PUBLIC KEY-----
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC18Hp2Hl/h3Pe14ZRMcZ0qsvGu
    GqvY7hkYQ8xaqMvTICoK8l3DvEisUbnrkH2FCE7+slcSNoUlRq9DeHRclIi3ifFH
    GpAFYKoC+5rUc/5kJePLJlace17YmGc2RtoC6g5lXJARp6D3TCxqK9aMeve6KPKa
    FYMuD6+BOLB8xpKyaQIDAQAB
    -----END PUBLIC KEY-----
    """
  static let p384Public = """
    -----BEGIN PUBLIC KEY-----
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEDmDBS/d8X3qc8t1NOSFvNV72ihgrbgFJ
    zO5Lhz5+m0PVbatbSoKTbHDj+TvpbNFAxw1hvST68CluzEJkkIDWjBfiJ81FYYVu
    R/Tq40cZn+GvDsINbEygjsA9UA6hPrsS
    -----END PUBLIC KEY-----
    """
}
