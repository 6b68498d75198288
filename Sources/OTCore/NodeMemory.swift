/// The content of a node's block of memory, reached without counting a reference.
///
/// Good only while somebody holds the node: an edit walks down a path whose root the document holds.
struct NodeMemory {
  let header: UnsafeMutablePointer<RopeHeader>

  /// The memory behind the header, which fills whole steps of 8 bytes.
  @inline(__always)
  private var elements: UnsafeMutableRawPointer { UnsafeMutableRawPointer(header + 1) }
  /// A leaf's memory.
  @inline(__always)
  var bytes: UnsafeMutablePointer<UInt8> { elements.assumingMemoryBound(to: UInt8.self) }
  /// An inner node's children's lengths.
  @inline(__always)
  var metrics: UnsafeMutablePointer<TextMetrics> {
    elements.assumingMemoryBound(to: TextMetrics.self)
  }
  /// An inner node's children.
  @inline(__always)
  var children: UnsafeMutablePointer<RopeNode> {
    (elements + RopeSizes.fanOutMax * MemoryLayout<TextMetrics>.stride)
      .assumingMemoryBound(to: RopeNode.self)
  }

  /// A child's memory.
  @inline(__always)
  func child(_ index: Int) -> NodeMemory {
    UnsafeRawPointer(children + index).load(as: Unmanaged<RopeNode>.self)
      ._withUnsafeGuaranteedRef { $0.memory }
  }

  /// The memory of a child that nobody else holds from now on.
  @inline(__always)
  func ownChild(_ index: Int) -> NodeMemory {
    let slot = children + index
    if !isKnownUniquelyReferenced(&slot.pointee) { slot.pointee = slot.pointee.copy() }
    return child(index)
  }
}

// MARK: - Leaves

/// A leaf's text lies around a gap, so that a run of typing at one place moves no text. The gap
/// always lies between two scalars.
extension NodeMemory {
  /// Free bytes of a leaf.
  @inline(__always)
  var room: Int { Int(header.pointee.gapEnd &- header.pointee.gapStart) }

  /// Bytes of text that a leaf can hold.
  @inline(__always)
  var capacity: Int { header.pointee.sizes.leafCapacity }

  /// A leaf's text before the gap.
  @inline(__always)
  var front: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: bytes, count: Int(header.pointee.gapStart))
  }

  /// A leaf's text after the gap.
  @inline(__always)
  var back: UnsafeBufferPointer<UInt8> {
    let end = Int(header.pointee.gapEnd)
    return UnsafeBufferPointer(start: bytes + end, count: capacity - end)
  }

  /// Moves the gap before a scalar.
  @inline(__always)
  func moveGap(toScalar scalar: Int) {
    let distance = scalar &- Int(header.pointee.gapScalars)
    if distance == 0 { return }
    let start = Int(header.pointee.gapStart)
    let end = Int(header.pointee.gapEnd)
    let isASCII = header.pointee.total.isASCII
    if distance > 0 {
      let moved =
        isASCII
        ? distance
        : UnsafePointer(bytes + end).byteCount(
          ofScalars: distance, limit: capacity - end)
      (bytes + start).update(from: bytes + end, count: moved)
      header.pointee.gapStart = Int32(truncatingIfNeeded: start + moved)
      header.pointee.gapEnd = Int32(truncatingIfNeeded: end + moved)
    } else {
      var moved = -distance
      if !isASCII {
        // Few scalars are sought from the gap backwards, many from the start.
        if moved * 2 < scalar {
          moved = UnsafePointer(bytes + start).byteCount(ofScalarsBehind: moved)
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
    let end = Int(header.pointee.gapEnd)
    let isASCII = header.pointee.total.isASCII
    if scalars == 1, isASCII {
      return TextMetrics(scalars: 1, utf16: 1, utf8: 1, newlines: bytes[end] == 0x0a ? 1 : 0)
    }
    let count =
      isASCII
      ? scalars
      : UnsafePointer(bytes + end).byteCount(ofScalars: scalars, limit: capacity - end)
    return TextMetrics(UnsafeBufferPointer(start: bytes + end, count: count))
  }

  /// Takes text away behind the gap.
  @inline(__always)
  func removeBehindGap(_ removed: TextMetrics) {
    header.pointee.gapEnd &+= Int32(truncatingIfNeeded: removed.utf8)
    header.pointee.total -= removed
  }

  /// Puts text before the gap, where there is room for it.
  @inline(__always)
  func insertAtGap(_ text: UnsafeBufferPointer<UInt8>, _ added: TextMetrics) {
    guard let source = text.baseAddress else { return }
    let start = Int(header.pointee.gapStart)
    if text.count == 1 {
      bytes[start] = source[0]
    } else {
      (bytes + start).update(from: source, count: text.count)
    }
    header.pointee.gapStart = Int32(truncatingIfNeeded: start &+ text.count)
    header.pointee.gapScalars &+= Int32(truncatingIfNeeded: added.scalars)
    header.pointee.total += added
  }

  /// Takes another leaf's text in place of its own.
  func take(_ other: NodeMemory) {
    header.pointee = other.header.pointee
    let start = other.front.count
    let end = capacity - other.back.count
    bytes.update(from: other.bytes, count: start)
    (bytes + end).update(from: other.bytes + end, count: capacity - end)
  }
}
