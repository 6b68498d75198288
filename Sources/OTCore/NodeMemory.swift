/// The content of a node's block of memory, accessed without reference counting.
///
/// Valid only while another reference retains the node: an edit walks down from the root, which the
/// document retains.
struct NodeMemory {
  let header: UnsafeMutablePointer<RopeHeader>

  /// The memory after the header, in multiples of 8 bytes.
  @inline(__always)
  private var elements: UnsafeMutableRawPointer { UnsafeMutableRawPointer(header + 1) }
  /// A leaf's memory.
  @inline(__always)
  var bytes: UnsafeMutablePointer<UInt8> { elements.assumingMemoryBound(to: UInt8.self) }
  /// The lengths of an inner node's children.
  @inline(__always)
  var metrics: UnsafeMutablePointer<TextMetrics> {
    elements.assumingMemoryBound(to: TextMetrics.self)
  }
  /// The children of an inner node.
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

  /// Returns the memory of a child, which is made unique to this node first.
  @inline(__always)
  func ownChild(_ index: Int) -> NodeMemory {
    let slot = children + index
    if !isKnownUniquelyReferenced(&slot.pointee) { slot.pointee = slot.pointee.copy() }
    return child(index)
  }
}

// MARK: - Leaves

/// A leaf's text is around a gap, so typing at one position moves no text. The gap is always
/// between two scalars.
extension NodeMemory {
  /// The number of free bytes of a leaf.
  @inline(__always)
  var room: Int { Int(header.pointee.gapEnd &- header.pointee.gapStart) }

  /// Maximum bytes of a leaf's text.
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

  /// Calls `body` with each non-empty part of a leaf's text, before and after the gap.
  @inline(__always)
  func forEachPart(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    if !front.isEmpty { body(front) }
    if !back.isEmpty { body(back) }
  }

  /// Moves the gap to the position before a scalar.
  @inline(__always)
  func moveGap(toScalar scalar: Int) {
    if scalar != Int(header.pointee.gapScalars) { moveGapFurther(toScalar: scalar) }
  }

  @inline(never)
  private func moveGapFurther(toScalar scalar: Int) {
    let distance = scalar &- Int(header.pointee.gapScalars)
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
        // A near position is searched from the gap backwards, a far one from the start.
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

  /// Returns the lengths of the scalars after the gap.
  @inline(__always)
  func metricsBehindGap(scalars: Int) -> TextMetrics {
    if scalars == 0 { return .zero }
    let end = Int(header.pointee.gapEnd)
    let isASCII = header.pointee.total.isASCII
    if scalars == 1, isASCII {
      return TextMetrics(ascii: bytes[end])
    }
    let count =
      isASCII
      ? scalars
      : UnsafePointer(bytes + end).byteCount(ofScalars: scalars, limit: capacity - end)
    return TextMetrics(UnsafeBufferPointer(start: bytes + end, count: count))
  }

  /// Deletes scalars, and leaves the gap at their position.
  ///
  /// - Parameters:
  ///   - added: The number of bytes that will be inserted instead.
  ///   - isFree: Whether the leaf may have any size.
  /// - Returns: `false` if the leaf would become too small. Its text is unchanged then.
  @inline(__always)
  func delete(_ scalars: Int, at start: Int, adding added: Int, isFree: Bool) -> Bool {
    let least = isFree ? 0 : header.pointee.sizes.leafMin
    // A single scalar at the gap, as deleted by a key, is removed without moving the gap.
    let distance = Int(header.pointee.gapScalars) &- start
    guard scalars == 1, header.pointee.total.isASCII, distance == 0 || distance == 1 else {
      return deleteElsewhere(scalars, at: start, adding: added, least: least)
    }
    if header.pointee.total.utf8 &- 1 &+ added < least { return false }
    let place: Int
    if distance == 1 {
      place = Int(header.pointee.gapStart) &- 1
      header.pointee.gapStart = Int32(truncatingIfNeeded: place)
      header.pointee.gapScalars = Int32(truncatingIfNeeded: start)
    } else {
      place = Int(header.pointee.gapEnd)
      header.pointee.gapEnd = Int32(truncatingIfNeeded: place &+ 1)
    }
    header.pointee.total -= TextMetrics(ascii: bytes[place])
    return true
  }

  @inline(never)
  private func deleteElsewhere(
    _ scalars: Int, at start: Int, adding added: Int, least: Int
  ) -> Bool {
    moveGap(toScalar: start)
    let removed = metricsBehindGap(scalars: scalars)
    if header.pointee.total.utf8 &- removed.utf8 &+ added < least { return false }
    removeBehindGap(removed)
    return true
  }

  /// Removes text after the gap.
  @inline(__always)
  func removeBehindGap(_ removed: TextMetrics) {
    header.pointee.gapEnd &+= Int32(truncatingIfNeeded: removed.utf8)
    header.pointee.total -= removed
  }

  /// Inserts text before the gap, which must have room for it.
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

  /// Inserts an edit's text before the gap, which must have room for 8 bytes.
  @inline(__always)
  func insertAtGap(_ edit: InlineEdit) {
    let start = Int(header.pointee.gapStart)
    // Write all eight bytes at once; surplus bytes are within the gap.
    UnsafeMutableRawPointer(bytes + start).storeBytes(of: edit.text, as: UInt64.self)
    let added = TextMetrics(edit)
    header.pointee.gapStart = Int32(truncatingIfNeeded: start &+ added.utf8)
    header.pointee.gapScalars &+= Int32(truncatingIfNeeded: added.scalars)
    header.pointee.total += added
  }

  /// Replaces the leaf's text by another leaf's.
  func take(_ other: NodeMemory) {
    header.pointee = other.header.pointee
    let start = other.front.count
    let end = capacity - other.back.count
    bytes.update(from: other.bytes, count: start)
    (bytes + end).update(from: other.bytes + end, count: capacity - end)
  }
  /// Replaces the leaf's text by another leaf's ASCII text, with the gap before a byte.
  func take(_ other: NodeMemory, gapAt place: Int) {
    header.pointee = other.header.pointee
    let front = Int(header.pointee.gapStart)
    let back = Int(header.pointee.gapEnd)
    let moved = place - front
    header.pointee.gapStart = Int32(truncatingIfNeeded: place)
    header.pointee.gapEnd = Int32(truncatingIfNeeded: back + moved)
    header.pointee.gapScalars = Int32(truncatingIfNeeded: place)
    bytes.update(from: other.bytes, count: min(front, place))
    if moved < 0 {
      (bytes + (back + moved)).update(from: other.bytes + place, count: -moved)
    } else {
      (bytes + front).update(from: other.bytes + back, count: moved)
    }
    let rest = back + max(moved, 0)
    (bytes + rest).update(from: other.bytes + rest, count: capacity - rest)
  }
}
