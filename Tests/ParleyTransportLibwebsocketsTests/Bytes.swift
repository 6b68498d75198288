import Glibc

/// Long runs of bytes, made, masked and compared by the megabyte.
///
/// Tests are compiled without optimisation. A closure that sees each byte of a megabyte takes seconds there,
/// and under AddressSanitizer minutes.
enum Bytes {
  /// Units for ``repeating(_:count:)``: the alphabet, and every value in an order of its own.
  static let letters = (0..<26).map { UInt8(0x61 + $0) }
  static let values = (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  /// Returns a unit again and again, up to a length.
  static func repeating(_ unit: [UInt8], count: Int) -> [UInt8] {
    // With none the library writes the count of the storage that all empty arrays share, a race to ThreadSanitizer.
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { room, initializedCount in
      initializedCount = count
      guard let start = room.baseAddress.map(UnsafeMutableRawPointer.init) else { return }
      var filled = min(unit.count, count)
      memcpy(start, unit, filled)
      while filled < count {
        // The filled part consists of whole units until the last copy.
        let next = min(filled, count - filled)
        memcpy(start + filled, start, next)
        filled += next
      }
    }
  }

  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && memcmp(left, right, left.count) == 0
  }

  /// Masks the bytes behind the first `start` ones, by words.
  static func mask(_ bytes: inout [UInt8], from start: Int, with mask: [UInt8]) {
    let word = (mask + mask).withUnsafeBytes { $0.load(as: UInt64.self) }
    bytes.withUnsafeMutableBytes { bytes in
      var next = start
      while bytes.count - next >= 8 {
        let masked = bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self) ^ word
        bytes.storeBytes(of: masked, toByteOffset: next, as: UInt64.self)
        next += 8
      }
      for (index, byte) in bytes[next...].enumerated() {
        bytes[next + index] = byte ^ mask[index & 3]
      }
    }
  }
}

/// Bytes that have come, and that a test has yet to take.
struct Inbox {
  private var bytes: [UInt8] = []
  private var takenCount = 0

  var isEmpty: Bool { bytes.count == takenCount }

  /// Adds the bytes that `read` puts into the room it is given.
  ///
  /// - Returns: The result of `read`: their number, 0 at the end, or less for an error.
  mutating func fill(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
    bytes.removeFirst(takenCount)
    takenCount = 0
    return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { room in
      let count = read(room)
      if count > 0 { bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count])) }
      return count
    }
  }

  /// Takes so many bytes; `nil` until they have come.
  mutating func take(_ count: Int) -> [UInt8]? {
    guard bytes.count - takenCount >= count else { return nil }
    defer { takenCount += count }
    return Array(bytes[takenCount..<takenCount + count])
  }

  /// Takes the bytes up to a mark and with it; `nil` until it has come.
  mutating func take(through mark: [UInt8]) -> [UInt8]? {
    let count: Int? = bytes.withUnsafeBytes { bytes in
      var next = takenCount
      while bytes.count - next >= mark.count, let start = bytes.baseAddress,
        let found = memchr(start + next, Int32(mark[0]), bytes.count - mark.count + 1 - next)
      {
        next = UnsafeRawPointer(found) - start
        if memcmp(found, mark, mark.count) == 0 { return next + mark.count - takenCount }
        next += 1
      }
      return nil
    }
    return count.flatMap { take($0) }
  }
}
