import ParleyJSON

/// Goes through the fields of a message, reading them from JSON or writing them to it.
///
/// A message names each field once, in ``MessageObject/visit(_:)``:
///
///     mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
///       try fields.required("documentId", &documentID)
///       try fields.optional("resume", &resume)
///     }
///
/// **Reading.** The reader is behind a key. Each field checks whether the key is its own; if so, it
/// reads the value and passes on to the next key. So one visit reads a message whose fields come in
/// the order of writing. Other messages are visited again until their object ends, and a key that a
/// whole visit has not taken is skipped: each key costs at most two visits. Of a key that comes
/// twice the last one counts. A last visit finds missing fields and wrong values; it is made only
/// if there is something to find.
///
/// **Writing.** Every field appends itself, and the message stays as it is.
///
/// It is one struct with a mode, where a generic visitor would be compiled again for each message,
/// and its fields are not inlined: this code is also loaded by browsers. What is inlined on a
/// server is not in a browser's program (`Embedded`), which has to be small, and whose errors say
/// no more than their code.
package struct MessageFields {
  enum Mode {
    case reading
    /// Finds the field that makes a message unacceptable, after reading.
    case checking
    case writing
    /// Collects the fields' names and shapes.
    case listing
  }

  var mode: Mode
  // Reading.
  var reader: JSONReader
  var level = Level()
  /// Components that a change's operation may have.
  let operationComponentsMax: Int
  /// Elements that another list may have.
  var listMax: Int { max(operationComponentsMax, 1_000) }
  // Writing.
  var buffer: [UInt8] = []
  /// Whether the object that is written has no field yet.
  var isFirst = true
  /// Appends a document's text in place of the message's own.
  var text: ((inout [UInt8]) -> Void)?
  /// Appends a document's participants in place of the message's own.
  var presence: ((inout [UInt8]) -> Void)?
  /// The fields seen so far, when listing.
  var listed: [MessageShape.Field] = []

  /// An object being read.
  struct Level {
    /// The newest key; `nil` before the first.
    var key: JSONText?
    /// Whether the reader is behind the key, at its value.
    var isAtValue = false
    /// Whether a field of this visit has taken a key.
    var hasTaken = false
    /// The bit of the next field to be visited.
    var nextBit: UInt64 = 1
    /// Fields that have to be there.
    var wanted: UInt64 = 0
    /// Fields that are there.
    var found: UInt64 = 0
    /// Fields whose value has the right type but is not allowed.
    var wrong: UInt64 = 0
  }

  /// Reads the object at the reader's position.
  init(reading reader: JSONReader, operationComponentsMax: Int) {
    mode = .reading
    self.reader = reader
    self.operationComponentsMax = operationComponentsMax
  }

  /// Writes, or lists.
  init(_ mode: Mode) {
    self.mode = mode
    reader = JSONReader(UnsafeBufferPointer(start: nil, count: 0))
    operationComponentsMax = .max
  }

  // MARK: Objects

  /// Reads fields into a blank object.
  mutating func read<Object: MessageObject>(into object: inout Object) throws(JSONError) {
    try begin()
    // One call, for it is compiled into its place for each message.
    repeat { try object.visit(&self) } while try continues()
  }

  /// Reads an object within the object.
  mutating func object<Object: MessageObject>() throws(JSONError) -> Object {
    let outer = level
    level = Level()
    defer {
      level = outer
      mode = .reading
    }
    var object = Object.blank
    try read(into: &object)
    return object
  }

  /// The key at which reading failed; `nil` if the object as a whole is at fault.
  var failedKey: String? { mode == .checking ? nil : level.key?.string ?? "data" }

  #if hasFeature(Embedded)
    @inline(never)
  #endif
  private mutating func begin() throws(JSONError) {
    guard try reader.beginObject() else { return }
    level.key = try reader.key()
    level.isAtValue = true
  }

  /// Whether another visit is due. A key that the last one has not taken is skipped.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  private mutating func continues() throws(JSONError) -> Bool {
    if level.isAtValue, !level.hasTaken {
      try reader.skipValue()
      try pass()
    }
    level.hasTaken = false
    level.nextBit = 1
    if level.isAtValue { return true }
    // The visit of a bad message that finds out why it is one throws, and is the last.
    guard level.wanted & ~level.found | level.wrong != 0 else { return false }
    precondition(mode == .reading, "fields \(level.wanted) were read, and others checked")
    mode = .checking
    return true
  }

  /// Passes on to the next key.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func pass() throws(JSONError) {
    level.hasTaken = true
    if try reader.nextField() {
      level.key = try reader.key()
    } else {
      level.isAtValue = false
    }
  }

  /// Writes an object's fields among those of the object being written, or lists them.
  mutating func show<Object: MessageObject>(_ object: borrowing Object) {
    // A visit needs a place in memory that it may change, and when it writes it changes nothing.
    // A copy would count a reference for each text of the message.
    withUnsafePointer(to: object) { place in
      do throws(JSONError) {
        try UnsafeMutablePointer(mutating: place).pointee.visit(&self)
      } catch {
        preconditionFailure("writing a message failed: \(error)")
      }
    }
  }

  /// Writes an object.
  mutating func write<Object: MessageObject>(_ object: borrowing Object) {
    let outer = isFirst
    isFirst = true
    buffer.append(UInt8(ascii: "{"))
    show(object)
    buffer.append(UInt8(ascii: "}"))
    isFirst = outer
  }

  // MARK: Steps of a field

  /// The bit of the field that is visited.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func bit(isRequired: Bool) -> UInt64 {
    let bit = level.nextBit
    level.nextBit = bit &<< 1
    if isRequired { level.wanted |= bit }
    return bit
  }

  /// Whether the reader is at the value of this field.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  func isAt(_ name: StaticString) -> Bool {
    guard level.isAtValue, let key = level.key else { return false }
    return key == name
  }

  /// Notes whether a field that was read holds a right value, and passes on.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func took(_ bit: UInt64, isRight: Bool) throws(JSONError) {
    level.found |= bit
    if isRight { level.wrong &= ~bit } else { level.wrong |= bit }
    try pass()
  }

  /// Whether this field holds a wrong value. Throws if it is missing.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func isWrong(_ name: StaticString) throws(JSONError) -> Bool {
    let bit = bit(isRequired: false)
    if level.wanted & ~level.found & bit != 0 { throw .missing(field: Self.text(name)) }
    return level.wrong & bit != 0
  }

  /// A field's name, for an error.
  static func text(_ name: StaticString) -> String {
    #if hasFeature(Embedded)
      ""
    #else
      "\(name)"
    #endif
  }

  /// Writes a field's name.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func key(_ name: StaticString) {
    if !isFirst { buffer.append(UInt8(ascii: ",")) }
    isFirst = false
    buffer.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { buffer.append(contentsOf: $0) }
    buffer.append(UInt8(ascii: "\""))
    buffer.append(UInt8(ascii: ":"))
  }
}

// MARK: Fields

extension MessageFields {
  /// Visits a field that a message must have.
  @inline(never)
  mutating func required<Form: MessageForm>(
    _ name: StaticString, _ value: inout Form
  ) throws(JSONError) {
    switch mode {
    case .reading:
      guard Form.isReceived else { return }
      let bit = bit(isRequired: true)
      guard isAt(name) else { return }
      let form = try Form.read(&self)
      if let form { value = form }
      try took(bit, isRight: form != nil)
    case .checking: if try isWrong(name) { throw Form.mistake(in: Self.text(name), of: self) }
    case .writing:
      guard Form.isSent else { return }
      key(name)
      value.write(&self)
    case .listing: list(name, Form.shape, .required)
    }
  }

  /// Visits a field that may be missing, or `null`.
  @inline(never)
  mutating func optional<Form: MessageForm>(
    _ name: StaticString, _ value: inout Form?
  ) throws(JSONError) {
    switch mode {
    case .reading:
      guard Form.isReceived else { return }
      let bit = bit(isRequired: false)
      guard isAt(name) else { return }
      if try reader.isNull() {
        value = nil
        return try took(bit, isRight: true)
      }
      value = try Form.read(&self)
      try took(bit, isRight: value != nil)
    case .checking: if try isWrong(name) { throw Form.mistake(in: Self.text(name), of: self) }
    case .writing:
      guard Form.isSent, let value else { return }
      key(name)
      value.write(&self)
    case .listing: list(name, Form.shape, .optional)
    }
  }

  /// Visits a field that may be missing, or `null`, and is written as `null`.
  @inline(never)
  mutating func nullable<Form: MessageForm>(
    _ name: StaticString, _ value: inout Form?
  ) throws(JSONError) {
    switch mode {
    case .reading, .checking: try optional(name, &value)
    case .writing:
      key(name)
      if let value { value.write(&self) } else { JSONWriter.raw("null", &buffer) }
    case .listing: list(name, Form.shape, .nullable)
    }
  }

  /// Visits a list that is written only if it has elements, and may be `null`.
  @inline(never)
  mutating func unlessEmpty<Element: MessageForm>(
    _ name: StaticString, _ value: inout [Element]
  ) throws(JSONError) {
    switch mode {
    case .reading:
      let bit = bit(isRequired: false)
      guard isAt(name) else { return }
      let form = try reader.isNull() ? [] : [Element].read(&self)
      if let form { value = form }
      try took(bit, isRight: form != nil)
    case .checking: if try isWrong(name) { throw [Element].mistake(in: Self.text(name), of: self) }
    case .writing: if Element.isSent, !value.isEmpty { try required(name, &value) }
    case .listing: list(name, [Element].shape, .optional)
    }
  }

  /// Visits a flag that is written only if it is set, and may be `null`.
  @inline(never)
  mutating func flag(_ name: StaticString, _ value: inout Bool) throws(JSONError) {
    switch mode {
    case .reading, .checking:
      var flag: Bool? = value
      try optional(name, &flag)
      value = flag ?? false
    case .writing: if value { try required(name, &value) }
    case .listing: list(name, Bool.shape, .optional)
    }
  }

  /// Visits a number that keeps its default where it is missing, or `null`.
  ///
  /// One that is too large for an `Int` of 32 bits is read as the largest: no client can reach it.
  @inline(never)
  mutating func defaulted(_ name: StaticString, _ value: inout Int) throws(JSONError) {
    switch mode {
    case .reading:
      guard isAt(name) else { return }
      if try !reader.isNull() { value = Int(clamping: try reader.integer(as: Int64.self)) }
      try pass()
    case .checking: return
    case .writing: try required(name, &value)
    case .listing: list(name, Int.shape, .optional)
    }
  }

  /// Visits a text that is always the same.
  @inline(never)
  mutating func constant(_ name: StaticString, _ text: String) throws(JSONError) {
    switch mode {
    case .reading:
      let bit = bit(isRequired: true)
      guard isAt(name) else { return }
      try took(bit, isRight: try reader.text().isEqual(to: text))
    case .checking:
      if try isWrong(name) { throw .wrongValue(field: Self.text(name), expected: text) }
    case .writing:
      key(name)
      text.write(&self)
    case .listing: list(name, .word([text]), .required)
    }
  }
}
