// The door as a shared library, for languages that call C: parley_client.h says what each function does.
//
// A door has nothing in common with another, so each may be on a thread of its own.

/// A door by its address.
public typealias DoorHandle = UnsafeMutableRawPointer

extension DoorHandle {
  /// The door, for a call: the output of the one before it is gone.
  fileprivate func called(
    with bytes: UnsafePointer<UInt8>?, _ count: Int32,
    _ body: (inout Door, consuming Input) -> Int32
  ) -> Int32 {
    let door = assumingMemoryBound(to: Door.self)
    door.pointee.output.restart()
    return body(&door.pointee, Input(UnsafeBufferPointer(start: bytes, count: Int(max(count, 0)))))
  }
}

/// The version of these calls; another one is another header.
@_cdecl("parley_client_version")
public func version() -> Int32 { 2 }

/// Makes a client; to be freed with `parley_client_free`.
@_cdecl("parley_client_new")
public func make() -> DoorHandle? {
  let door = UnsafeMutablePointer<Door>.allocate(capacity: 1)
  door.initialize(to: Door())
  return DoorHandle(door)
}

/// Frees a client; nothing happens without one.
@_cdecl("parley_client_free")
public func free(_ handle: DoorHandle?) {
  guard let handle else { return }
  let door = handle.assumingMemoryBound(to: Door.self)
  door.deinitialize(count: 1)
  door.deallocate()
}

/// The bytes that the last call has left, and their count; they remain valid until the next call.
@_cdecl("parley_client_output")
public func output(_ handle: DoorHandle, _ count: UnsafeMutablePointer<Int32>) -> UnsafePointer<
  UInt8
>? {
  let door = handle.assumingMemoryBound(to: Door.self)
  count.pointee = Int32(door.pointee.output.bytes.count)
  // The array is not touched until the next call, so the address holds until then.
  return door.pointee.output.bytes.withUnsafeBufferPointer { $0.baseAddress }
}

/// Gives a client its settings.
@_cdecl("parley_client_create")
public func create(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32 {
  handle.called(with: bytes, count) { $0.create($1) }
}

/// Tells a client what has happened, at a time in milliseconds; its actions are the output.
@_cdecl("parley_client_handle")
public func handle(
  _ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32, _ now: Double
) -> Int32 {
  handle.called(with: bytes, count) { $0.handle($1, now: now) }
}

/// Puts a note's text into the output.
@_cdecl("parley_note_text")
public func noteText(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
{
  handle.called(with: bytes, count) { $0.noteText($1) }
}

/// Puts the attributes of a note's text into the output.
@_cdecl("parley_note_format")
public func noteFormat(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32)
  -> Int32
{
  handle.called(with: bytes, count) { $0.noteFormat($1) }
}

/// The actions that a note allows, as a sum: 1 to undo, 2 to redo, 4 to format.
@_cdecl("parley_note_flags")
public func noteFlags(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
{
  handle.called(with: bytes, count) { $0.noteFlags($1) }
}

/// The revision of a note.
@_cdecl("parley_note_revision")
public func noteRevision(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32)
  -> Double
{
  var revision = 0.0
  _ = handle.called(with: bytes, count) {
    revision = $0.noteRevision($1)
    return 0
  }
  return revision
}

/// Puts the people in a note into the output.
@_cdecl("parley_note_people")
public func notePeople(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32)
  -> Int32
{
  handle.called(with: bytes, count) { $0.notePeople($1) }
}

/// Puts the people in a room into the output.
@_cdecl("parley_room_people")
public func roomPeople(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32)
  -> Int32
{
  handle.called(with: bytes, count) { $0.roomPeople($1) }
}

/// Puts the text under kept edits into the output.
@_cdecl("parley_kept_text")
public func keptText(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
{
  handle.called(with: bytes, count) { $0.keptText($1) }
}

/// Puts a copy of a note, for reading it without a line, into the output.
@_cdecl("parley_note_copy")
public func noteCopy(_ handle: DoorHandle, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
{
  handle.called(with: bytes, count) { $0.noteCopy($1) }
}
