/// What stands in front of a node's memory.
struct RopeHeader {
  /// The lengths of all text below.
  var total = TextMetrics.zero
  /// Levels below; 0 for a leaf.
  var height: Int32 = 0
  /// How many children; 0 for a leaf.
  var count: Int32 = 0
  /// Where a leaf's gap begins, in bytes.
  var gapStart: Int32 = 0
  /// Where a leaf's gap ends.
  var gapEnd: Int32 = 0
  /// Scalars before the gap.
  var gapScalars: Int32 = 0
}

/// A node of the rope: a leaf with text around a gap, or up to 32 children with their lengths.
///
/// One block of memory each, in steps of 16 bytes, as the lengths want to lie. The gap lets a run of typing at one place move no text; it always lies
/// between two scalars.
final class RopeNode: ManagedBuffer<RopeHeader, SIMD2<UInt64>> {
  /// Bytes of text that a leaf can hold.
  static let leafCapacity = 2048
  /// Bytes that leaves are filled with when a text is laid out at once.
  static let leafFill = 1792
  /// Below so many bytes a leaf looks for a neighbour to join.
  static let leafMin = 512
  /// Children that an inner node can have.
  static let fanOut = 32
  /// Below so many children an inner node looks for a neighbour to join.
  static let fanOutMin = 8

  @inline(__always)
  var header_: UnsafeMutablePointer<RopeHeader> { withUnsafeMutablePointerToHeader { $0 } }
  @inline(__always)
  private var elements: UnsafeMutablePointer<SIMD2<UInt64>> {
    withUnsafeMutablePointerToElements { $0 }
  }
  /// A leaf's memory.
  @inline(__always)
  var bytes: UnsafeMutablePointer<UInt8> {
    UnsafeMutableRawPointer(elements).assumingMemoryBound(to: UInt8.self)
  }
  /// An inner node's children's lengths.
  @inline(__always)
  var metrics: UnsafeMutablePointer<TextMetrics> {
    UnsafeMutableRawPointer(elements).assumingMemoryBound(to: TextMetrics.self)
  }
  /// An inner node's children.
  @inline(__always)
  var children: UnsafeMutablePointer<RopeNode> {
    UnsafeMutableRawPointer(elements + Self.fanOut).assumingMemoryBound(to: RopeNode.self)
  }

  @inline(__always)
  var total: TextMetrics { header_.pointee.total }
  @inline(__always)
  var height: Int { Int(header_.pointee.height) }
  @inline(__always)
  var count: Int { Int(header_.pointee.count) }

  // `RopeNode.create`, not `create`: without the name, Embedded Swift asks the metatype for the
  // size of an instance, and there no metatype knows it.
  static func emptyLeaf() -> RopeNode {
    let node = unsafeDowncast(
      RopeNode.create(minimumCapacity: leafCapacity / 16) { _ in
        RopeHeader(gapEnd: Int32(leafCapacity))
      }, to: RopeNode.self)
    return node
  }

  static func emptyInner(height: Int) -> RopeNode {
    unsafeDowncast(
      RopeNode.create(minimumCapacity: fanOut + fanOut / 2) { _ in RopeHeader(height: Int32(height))
      },
      to: RopeNode.self)
  }

  deinit {
    let count = count
    if count > 0 { children.deinitialize(count: count) }
  }

  /// A node of its own with the same content.
  func copy() -> RopeNode {
    if height == 0 {
      let result = Self.emptyLeaf()
      result.header_.pointee = header_.pointee
      let start = Int(header_.pointee.gapStart)
      let end = Int(header_.pointee.gapEnd)
      result.bytes.update(from: bytes, count: start)
      (result.bytes + end).update(from: bytes + end, count: Self.leafCapacity - end)
      return result
    }
    let result = Self.emptyInner(height: height)
    result.header_.pointee = header_.pointee
    result.metrics.update(from: metrics, count: count)
    result.children.initialize(from: children, count: count)
    return result
  }
}

// MARK: - Leaves

extension RopeNode {
  /// Free bytes of a leaf.
  @inline(__always)
  var room: Int { Int(header_.pointee.gapEnd - header_.pointee.gapStart) }

  /// A leaf's text before the gap.
  @inline(__always)
  var front: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: bytes, count: Int(header_.pointee.gapStart))
  }

  /// A leaf's text after the gap.
  @inline(__always)
  var back: UnsafeBufferPointer<UInt8> {
    let end = Int(header_.pointee.gapEnd)
    return UnsafeBufferPointer(start: bytes + end, count: Self.leafCapacity - end)
  }

  /// Moves the gap before a scalar.
  @inline(__always)
  func moveGap(toScalar scalar: Int) {
    let header = header_
    let distance = scalar - Int(header.pointee.gapScalars)
    if distance == 0 { return }
    let start = Int(header.pointee.gapStart)
    let end = Int(header.pointee.gapEnd)
    let isASCII = header.pointee.total.lanes[0] == header.pointee.total.lanes[2]
    if distance > 0 {
      let moved =
        isASCII
        ? distance
        : UnsafePointer(bytes + end).byteCount(
          ofScalars: distance, limit: Self.leafCapacity - end)
      (bytes + start).update(from: bytes + end, count: moved)
      header.pointee.gapStart = Int32(truncatingIfNeeded: start + moved)
      header.pointee.gapEnd = Int32(truncatingIfNeeded: end + moved)
    } else {
      var moved = -distance
      if !isASCII {
        // Few scalars are sought from the gap backwards, many from the start.
        if moved * 2 < scalar {
          var left = moved
          var offset = start
          while left > 0 {
            offset -= 1
            if bytes[offset] & 0xc0 != 0x80 { left -= 1 }
          }
          moved = start - offset
        } else {
          moved = start - UnsafePointer(bytes).byteCount(ofScalars: scalar, limit: start)
        }
      }
      (bytes + (end - moved)).update(from: bytes + (start - moved), count: moved)
      header.pointee.gapStart = Int32(truncatingIfNeeded: start - moved)
      header.pointee.gapEnd = Int32(truncatingIfNeeded: end - moved)
    }
    header.pointee.gapScalars = Int32(truncatingIfNeeded: scalar)
  }

  /// The lengths of the scalars behind the gap.
  @inline(__always)
  func metricsBehindGap(scalars: Int) -> TextMetrics {
    if scalars == 0 { return .zero }
    let end = Int(header_.pointee.gapEnd)
    let isASCII = header_.pointee.total.lanes[0] == header_.pointee.total.lanes[2]
    if scalars == 1, isASCII {
      return TextMetrics(scalars: 1, utf16: 1, utf8: 1, newlines: bytes[end] == 0x0a ? 1 : 0)
    }
    let count =
      isASCII
      ? scalars
      : UnsafePointer(bytes + end).byteCount(ofScalars: scalars, limit: Self.leafCapacity - end)
    return TextMetrics(UnsafeBufferPointer(start: bytes + end, count: count))
  }

  /// Takes text away behind the gap.
  @inline(__always)
  func removeBehindGap(_ removed: TextMetrics) {
    header_.pointee.gapEnd += Int32(truncatingIfNeeded: removed.utf8)
    header_.pointee.total -= removed
  }

  /// Puts text before the gap, where there is room for it.
  @inline(__always)
  func insertAtGap(_ text: UnsafeBufferPointer<UInt8>, _ added: TextMetrics) {
    guard let source = text.baseAddress else { return }
    let start = Int(header_.pointee.gapStart)
    if text.count == 1 {
      bytes[start] = source[0]
    } else {
      (bytes + start).update(from: source, count: text.count)
    }
    header_.pointee.gapStart = Int32(truncatingIfNeeded: start + text.count)
    header_.pointee.gapScalars += Int32(truncatingIfNeeded: added.scalars)
    header_.pointee.total += added
  }
}

// MARK: - Inner nodes

extension RopeNode {
  /// Puts a child in and counts it.
  func insertChild(_ child: RopeNode, at index: Int) {
    let count = count
    let moved = count - index
    (children + index + 1).moveInitialize(from: children + index, count: moved)
    (metrics + index + 1).update(from: metrics + index, count: moved)
    (children + index).initialize(to: child)
    metrics[index] = child.total
    header_.pointee.count += 1
    header_.pointee.total += child.total
  }

  /// Takes children out and counts them off.
  func removeChildren(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    for index in range { header_.pointee.total -= metrics[index] }
    (children + range.lowerBound).deinitialize(count: range.count)
    let moved = count - range.upperBound
    (children + range.lowerBound).moveInitialize(
      from: children + range.upperBound, count: moved)
    (metrics + range.lowerBound).update(from: metrics + range.upperBound, count: moved)
    header_.pointee.count -= Int32(range.count)
  }

  /// Counts a child anew after it has changed.
  @inline(__always)
  func recount(_ index: Int) {
    let now = children[index].total
    header_.pointee.total -= metrics[index]
    header_.pointee.total += now
    metrics[index] = now
  }

  /// A child that nobody else holds, to be written.
  @inline(__always)
  func ownChild(_ index: Int) -> RopeNode {
    if !isKnownUniquelyReferenced(&children[index]) { children[index] = children[index].copy() }
    return children[index]
  }
}
