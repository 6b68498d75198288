import ParleyGatewayPorts
import ParleyHashing

/// The encoding of hints, signed with a secret of the cluster.
///
///     signature 16 · node 8 · length of the topic 2 · topic · content
///
/// Messages of other clusters, and of other programs that write to the broker, have an invalid
/// signature. A signed message may be delayed or repeated: hints need no protection against replay.
public struct HintFrame: Sendable {
  /// The maximum length of a hint's content, in bytes.
  public static let bytesMax = 4_096
  /// The maximum length of a topic, in bytes.
  public static let topicBytesMax = 1_024

  /// A decoded hint.
  public struct Content: Equatable {
    /// The sender's random id, which is new after each start.
    public let node: [UInt8]
    /// The topic.
    public let topic: [UInt8]
    /// The content.
    public let bytes: [UInt8]
  }

  /// The random id of this process.
  public let node = randomBytes(count: 8)
  /// The cluster's name at the broker, derived from the secret by a one-way hash.
  public let cluster: String

  private let inner: [UInt8]
  private let outer: [UInt8]

  /// - Parameter secret: A secret that only the nodes of a cluster know.
  public init(secret: [UInt8]) {
    let key = SHA256().hash(secret).bytes
    inner = key.map { $0 ^ 0x36 } + [UInt8](repeating: 0x36, count: 32)
    outer = key.map { $0 ^ 0x5c } + [UInt8](repeating: 0x5c, count: 32)
    cluster = SHA256().hash(Array("cluster".utf8) + key).bytes.prefix(8).hexadecimal
  }

  /// Encodes and signs a hint.
  public func encoded(topic: String, _ bytes: [UInt8]) -> [UInt8] {
    let topic = Array(topic.utf8)
    precondition(topic.count <= Self.topicBytesMax && bytes.count <= Self.bytesMax)
    let said =
      node + [UInt8(topic.count >> 8), UInt8(truncatingIfNeeded: topic.count)] + topic + bytes
    return signature(of: said) + said
  }

  /// Decodes a hint; `nil` if it is malformed or its signature is invalid.
  public func decoded(_ frame: [UInt8]) -> Content? {
    guard frame.count >= 26 else { return nil }
    let said = Array(frame.dropFirst(16))
    // In constant time: a sender must not learn how much of a forged signature is right.
    let differing = zip(signature(of: said), frame).reduce(0) { $0 | ($1.0 ^ $1.1) }
    guard differing == 0 else { return nil }
    let length = Int(said[8]) << 8 | Int(said[9])
    guard said.count >= 10 + length else { return nil }
    return Content(
      node: Array(said.prefix(8)), topic: Array(said[10..<10 + length]),
      bytes: Array(said.dropFirst(10 + length)))
  }

  /// Encodes a probe, a message that this process sends to itself.
  public func probe(sentAt: Int64) -> [UInt8] { encoded(topic: "", Array(String(sentAt).utf8)) }

  /// Returns the time at which this process sent a probe; `nil` for any other message.
  public func sentAt(ofProbe frame: [UInt8]) -> Int64? {
    guard let content = decoded(frame), content.node == node, content.topic.isEmpty else {
      return nil
    }
    return Int64(String(decoding: content.bytes, as: UTF8.self))
  }

  /// Returns the first half of an HMAC-SHA256.
  private func signature(of said: [UInt8]) -> [UInt8] {
    let hash = SHA256()
    return Array(hash.hash(outer + hash.hash(inner + said).bytes).bytes.prefix(16))
  }
}
