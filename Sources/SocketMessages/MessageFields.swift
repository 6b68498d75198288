import ParleyJSON

/// Visits the fields of a message, to read them from JSON or to write them.
///
/// A message names each field once, in ``MessageObject/visit(_:)``:
///
///     mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
///       try fields.required("documentId", &documentID)
///       try fields.optional("resume", &resume)
///     }
///
/// **Reading.** The reader is after a key. Each field checks whether the key is its own; if so, it
/// reads the value and the next key. One visit therefore reads a message whose fields come in the
/// order of writing. Otherwise the message is visited again until its object ends. A key that no
/// field of a whole visit has taken is skipped, so each key costs at most two visits. The last
/// value of a repeated key counts. If fields are missing or wrong, a last visit finds the first of
/// them.
///
/// **Writing.** Every field appends itself; the message does not change.
///
/// This is one struct with a mode, because a generic visitor would be compiled again for each
/// message. Browsers load this code, so their program (`Embedded`) inlines less than a server's,
/// and its errors contain only a code.
package struct MessageFields {
  enum Mode {
    case reading
    /// Finds the field that makes a message invalid, after reading.
    case checking
    case writing
    /// Collects the fields' names and shapes.
    case listing
  }

  var mode: Mode
  // Reading.
  var reader: JSONReader
  var level = Level()
  /// Maximum components of a change's operation.
  let operationComponentsMax: Int
  /// Maximum elements of any other list.
  var listMax: Int { max(operationComponentsMax, 1_000) }
  // Writing.
  var buffer: [UInt8] = []
  /// Whether no field of the current object was written yet.
  var isFirst = true
  /// Appends a document's text instead of the message's own text.
  var text: ((inout [UInt8]) -> Void)?
  /// Appends a document's participants instead of the message's own.
  var presence: ((inout [UInt8]) -> Void)?
  /// The fields seen so far, when listing.
  var listed: [MessageShape.Field] = []

  /// The state of reading one object.
  struct Level {
    /// The current key; `nil` before the first one.
    var key: JSONText?
    /// Whether the reader is at the value of the key.
    var isAtValue = false
    /// Whether a field of this visit has taken a key.
    var hasTaken = false
    /// The bit of the next field of this visit.
    var nextBit: UInt64 = 1
    /// The bits of required fields.
    var wanted: UInt64 = 0
    /// The bits of fields that were found.
    var found: UInt64 = 0
    /// The bits of fields whose value has the right type but is not allowed.
    var wrong: UInt64 = 0
  }

  /// Prepares to read the object at the reader's position.
  init(reading reader: JSONReader, operationComponentsMax: Int) {
    mode = .reading
    self.reader = reader
    self.operationComponentsMax = operationComponentsMax
  }

  /// Prepares to write or to list fields.
  init(_ mode: Mode) {
    self.mode = mode
    reader = JSONReader(UnsafeBufferPointer(start: nil, count: 0))
    operationComponentsMax = .max
  }

  // MARK: Objects

  /// Reads fields into a blank object.
  mutating func read<Object: MessageObject>(into object: inout Object) throws(JSONError) {
    try begin()
    // A single call, because it is inlined here for each message type.
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

  /// The key at which reading failed; `nil` if the error concerns the object as a whole.
  var failedKey: String? { mode == .checking ? nil : level.key?.string ?? "data" }

  #if hasFeature(Embedded)
    @inline(never)
  #endif
  private mutating func begin() throws(JSONError) {
    guard try reader.beginObject() else { return }
    level.key = try reader.key()
    level.isAtValue = true
  }

  /// Whether another visit is needed. Skips a key that the last visit has not taken.
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
    // In mode `checking`, the visit of an invalid message throws, so it is the last one.
    guard level.wanted & ~level.found | level.wrong != 0 else { return false }
    precondition(mode == .reading, "fields \(level.wanted) were read, and others checked")
    mode = .checking
    return true
  }

  /// Reads the next key.
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

  /// Writes an object's fields into the current object, or lists them.
  mutating func show<Object: MessageObject>(_ object: borrowing Object) {
    // A visit needs mutable memory, although writing does not change the message. A copy would
    // retain every string of the message.
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

  /// Returns the bit of the visited field.
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

  /// Records that a field was read and whether its value is allowed, and reads the next key.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func took(_ bit: UInt64, isRight: Bool) throws(JSONError) {
    level.found |= bit
    if isRight { level.wrong &= ~bit } else { level.wrong |= bit }
    try pass()
  }

  /// Whether the value of this field is not allowed. Throws if a required field is missing.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  mutating func isWrong(_ name: StaticString) throws(JSONError) -> Bool {
    let bit = bit(isRequired: false)
    if level.wanted & ~level.found & bit != 0 { throw .missing(field: Self.text(name)) }
    return level.wrong & bit != 0
  }

  /// Returns a field's name, for an error.
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
  /// Visits a required field.
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
      if try reader.skipNull() {
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

  /// Visits a field that may be missing or `null`, and is written as `null` without a value.
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

  #if !hasFeature(Embedded)
    /// Visits a field with any JSON that may be missing. `null` is a value.
    mutating func anyJSON(_ name: StaticString, _ value: inout JSONValue?) throws(JSONError) {
      switch mode {
      case .reading:
        let bit = bit(isRequired: false)
        guard isAt(name) else { return }
        value = try reader.value()
        try took(bit, isRight: true)
      case .checking: _ = try isWrong(name)
      case .writing:
        guard let value else { return }
        key(name)
        value.write(&self)
      case .listing: list(name, JSONValue.shape, .optional)
      }
    }
  #endif

  /// Visits a list that is written only if it has elements. It may be missing or `null`.
  @inline(never)
  mutating func unlessEmpty<Element: MessageForm>(
    _ name: StaticString, _ value: inout [Element]
  ) throws(JSONError) {
    switch mode {
    case .reading:
      let bit = bit(isRequired: false)
      guard isAt(name) else { return }
      let form = try reader.skipNull() ? [] : [Element].read(&self)
      if let form { value = form }
      try took(bit, isRight: form != nil)
    case .checking: if try isWrong(name) { throw [Element].mistake(in: Self.text(name), of: self) }
    case .writing: if Element.isSent, !value.isEmpty { try required(name, &value) }
    case .listing: list(name, [Element].shape, .optional)
    }
  }

  /// Visits a flag that is written only if it is set. It may be missing or `null`.
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

  /// Visits a number that retains its default if it is missing or `null`.
  ///
  /// A number too large for an `Int` of 32 bits is read as the largest `Int`, which no client
  /// reaches.
  @inline(never)
  mutating func defaulted(_ name: StaticString, _ value: inout Int) throws(JSONError) {
    switch mode {
    case .reading:
      guard isAt(name) else { return }
      if try !reader.skipNull() { value = Int(clamping: try reader.integer(as: Int64.self)) }
      try pass()
    case .checking: return
    case .writing: try required(name, &value)
    case .listing: list(name, Int.shape, .optional)
    }
  }

  /// Visits a field whose text is constant.
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
