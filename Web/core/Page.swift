// The door in WebAssembly, as Web/js/client/door.js calls it. Before a call, the page writes the
// input into this module's memory.

/// The page has one thread, so globals need no lock.
nonisolated(unsafe) private var input = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
nonisolated(unsafe) var door = Door()

/// Reserves memory for the input of the next call, and returns its address.
@_expose(wasm, "input_reserve")
@_cdecl("input_reserve")
public func inputReserve(_ count: Int32) -> UnsafeMutablePointer<UInt8>? {
  let count = max(Int(count), 1)
  // The memory of a large paste is released at the next small call.
  if input.count < count || input.count > 1 << 20 && count < 1 << 16 {
    input.deallocate()
    input = .allocate(capacity: max(count, 4096))
  }
  return input.baseAddress
}

/// Returns the address of the last call's output.
@_expose(wasm, "output_address")
@_cdecl("output_address")
public func outputAddress() -> UnsafePointer<UInt8>? {
  // The array does not change until the next call, so the address remains valid.
  door.output.bytes.withUnsafeBufferPointer { $0.baseAddress }
}

/// Returns the number of bytes of the last call's output.
@_expose(wasm, "output_count")
@_cdecl("output_count")
public func outputCount() -> Int32 { Int32(door.output.bytes.count) }

/// Returns a reader of the input that the page has written, and empties the output.
func reading(_ count: Int32) -> Input {
  door.output.restart()
  return Input(UnsafeBufferPointer(rebasing: input[..<Int(count)]))
}

@_expose(wasm, "client_create")
@_cdecl("client_create")
public func clientCreate(_ count: Int32) -> Int32 { door.create(reading(count)) }

@_expose(wasm, "client_handle")
@_cdecl("client_handle")
public func clientHandle(_ count: Int32, _ now: Double) -> Int32 {
  door.handle(reading(count), now: now)
}

@_expose(wasm, "note_text")
@_cdecl("note_text")
public func noteText(_ count: Int32) -> Int32 { door.noteText(reading(count)) }

@_expose(wasm, "note_format")
@_cdecl("note_format")
public func noteFormat(_ count: Int32) -> Int32 { door.noteFormat(reading(count)) }

@_expose(wasm, "note_flags")
@_cdecl("note_flags")
public func noteFlags(_ count: Int32) -> Int32 { door.noteFlags(reading(count)) }

@_expose(wasm, "note_revision")
@_cdecl("note_revision")
public func noteRevision(_ count: Int32) -> Double { door.noteRevision(reading(count)) }

@_expose(wasm, "note_people")
@_cdecl("note_people")
public func notePeople(_ count: Int32) -> Int32 { door.notePeople(reading(count)) }

@_expose(wasm, "room_people")
@_cdecl("room_people")
public func roomPeople(_ count: Int32) -> Int32 { door.roomPeople(reading(count)) }

@_expose(wasm, "kept_text")
@_cdecl("kept_text")
public func keptText(_ count: Int32) -> Int32 { door.keptText(reading(count)) }

@_expose(wasm, "note_copy")
@_cdecl("note_copy")
public func noteCopy(_ count: Int32) -> Int32 { door.noteCopy(reading(count)) }
