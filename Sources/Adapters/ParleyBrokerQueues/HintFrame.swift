import ParleyGatewayPorts
import ParleyHashing

/// Hints as bytes, signed with a secret of the cluster's.
///
///     signature 16 · node 8 · length of the topic 2 · topic · content
///
/// Messages of other clusters, and of other programs that may write to the broker, fail the check
/// of the signature. A signed message may come late, or again: hints are no more than that.
public struct HintFrame: Sendable {
  /// The bytes that a hint's content may have.
  public static let bytesMax = 4_096
  /// The bytes that a topic may have.
  public static let topicBytesMax = 1_024

  /// A hint that was read.
  public struct Content: Equatable {
    /// The number that the sender has made up for its run.
    public let node: [UInt8]
    /// The topic.
    public let topic: [UInt8]
    /// The words under it.
    public let bytes: [UInt8]
  }

  /// The number of this run, unlike any other's.
  public let node = randomBytes(count: 8)
  /// The cluster's name at the broker: digits that say nothing of the secret.
  public let cluster: String

  private let inner: [UInt8]
  private let outer: [UInt8]

  /// - Parameter secret: Bytes that only the nodes of a cluster have.
  public init(secret: [UInt8]) {
    let key = SHA256().hash(secret).bytes
    inner = key.map { $0 ^ 0x36 } + [UInt8](repeating: 0x36, count: 32)
    outer = key.map { $0 ^ 0x5c } + [UInt8](repeating: 0x5c, count: 32)
    cluster = SHA256().hash(Array("cluster".utf8) + key).bytes.prefix(8).hexadecimal
  }

  /// The bytes of a hint.
  public func encoded(topic: String, _ bytes: [UInt8]) -> [UInt8] {
    let topic = Array(topic.utf8)
    precondition(topic.count <= Self.topicBytesMax && bytes.count <= Self.bytesMax)
    let said =
      node + [UInt8(topic.count >> 8), UInt8(truncatingIfNeeded: topic.count)] + topic + bytes
    return signature(of: said) + said
  }

  /// Reads a hint; `nil` for anything else, such as one that another cluster has made.
  public func decoded(_ frame: [UInt8]) -> Content? {
    guard frame.count >= 26 else { return nil }
    let said = Array(frame.dropFirst(16))
    guard signature(of: said) == Array(frame.prefix(16)) else { return nil }
    let length = Int(said[8]) << 8 | Int(said[9])
    guard said.count >= 10 + length else { return nil }
    return Content(
      node: Array(said.prefix(8)), topic: Array(said[10..<10 + length]),
      bytes: Array(said.dropFirst(10 + length)))
  }

  /// The bytes of a message to oneself, which no other node can sign.
  public func probe(sentAt: Int64) -> [UInt8] { encoded(topic: "", Array(String(sentAt).utf8)) }

  /// The time at which a message to oneself was sent; `nil` for anything else.
  public func sentAt(ofProbe frame: [UInt8]) -> Int64? {
    guard let content = decoded(frame), content.node == node, content.topic.isEmpty else {
      return nil
    }
    return Int64(String(decoding: content.bytes, as: UTF8.self))
  }

  /// HMAC-SHA256, half of it.
  private func signature(of said: [UInt8]) -> [UInt8] {
    let hash = SHA256()
    return Array(hash.hash(outer + hash.hash(inner + said).bytes).bytes.prefix(16))
  }
}
