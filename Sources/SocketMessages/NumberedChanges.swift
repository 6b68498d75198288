import ParleyJSON
public import OTCore

extension ServerMessage {
  /// Numbers for a document and its authors, the same on all connections until the server restarts.
  public struct Numbers: Sendable, Equatable {
    /// The document's number.
    public var document: Int
    /// The time that times are relative to, in milliseconds since 1970.
    public var time: Int64
    /// The authors who have a number.
    public var authors: [Author]

    /// Creates numbers.
    public init(document: Int, time: Int64, authors: [Author]) {
      self.document = document
      self.time = time
      self.authors = authors
    }
  }

  /// An author with the author's number.
  public struct Author: Sendable, Equatable {
    /// Maximum authors of a document that have numbers: the newest ones.
    public static let numbersMax = 4_096
    /// Default maximum for a client that does not say how many numbers it retains.
    public static let numbersMaxUnsaid = 64

    /// The number. Authors who get a number later have a higher one.
    public var number: Int
    /// The author's client id.
    public var clientID: String

    /// Creates an author.
    public init(number: Int, clientID: String) {
      self.number = number
      self.clientID = clientID
    }
  }

  /// Changes that have become revisions, with numbers for the document and the authors. Most
  /// keystrokes are sent in this form.
  public struct NumberedChanges: Sendable, Equatable {
    /// A change with its author's number.
    public struct Change: Sendable, Equatable {
      /// The author's number.
      public var author: Int
      /// The author's sequence number for the change.
      public var sequence: Int
      /// The operation, on the previous revision.
      public var operation: TextOperation
      /// The formatting; `nil` if missing.
      public var format: FormatJSON?

      /// Creates a change.
      public init(
        author: Int, sequence: Int, operation: TextOperation, format: FormatJSON? = nil
      ) {
        self.author = author
        self.sequence = sequence
        self.operation = operation
        self.format = format
      }
    }

    /// Consecutive changes of one document.
    public struct Run: Sendable, Equatable {
      /// The document's number.
      public var document: Int
      /// The revision of the first change.
      public var revision: Int
      /// The time of the last change, in milliseconds since ``Numbers/time``.
      public var time: Int64
      /// The changes; each creates the next revision.
      public var changes: [Change]

      /// Creates a run.
      public init(document: Int, revision: Int, time: Int64, changes: [Change]) {
        self.document = document
        self.revision = revision
        self.time = time
        self.changes = changes
      }
    }

    /// The document's changes.
    public var run: Run
    /// New authors with their numbers, for use from this message on.
    public var authors: [Author]

    /// Creates a message, by default without new authors.
    public init(run: Run, authors: [Author] = []) {
      self.run = run
      self.authors = authors
    }
  }
}

extension ServerMessage.Numbers: MessageObject {
  static var blank: Self { Self(document: 0, time: 0, authors: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("document", &document)
    try fields.required("time", &time)
    try fields.required("authors", &authors)
  }
}

extension ServerMessage.Author: MessageObject {
  static var blank: Self { Self(number: 0, clientID: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("number", &number)
    try fields.required("clientId", &clientID)
  }
}

extension ServerMessage.NumberedChanges: MessageObject {
  static var blank: Self { Self(run: Run(document: 0, revision: 0, time: 0, changes: [])) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("c", &run)
    try fields.unlessEmpty("authors", &authors)
  }
}

/// `[document,revision,time,author,sequence,operation,…]`; an object after an operation is its
/// format.
extension ServerMessage.NumberedChanges.Run: MessageForm {
  static func read(_ fields: inout MessageFields) throws(JSONError) -> Self? {
    let start = fields.reader.offset
    var run = Self(document: 0, revision: 0, time: 0, changes: [])
    guard try fields.reader.beginArray() else { throw .wrongType(expected: words, offset: start) }
    run.document = try fields.reader.integer()
    guard try fields.reader.nextElement() else { throw .wrongType(expected: words, offset: start) }
    run.revision = try fields.reader.integer()
    guard try fields.reader.nextElement() else { throw .wrongType(expected: words, offset: start) }
    run.time = try fields.reader.integer(as: Int64.self)
    var isRight = true
    while try fields.reader.nextElement() {
      if FormatJSON.isReceived, !run.changes.isEmpty, fields.reader.isAtObject() {
        run.changes[run.changes.count - 1].format = try FormatJSON.read(&fields)
        continue
      }
      let author = try fields.reader.integer()
      guard try fields.reader.nextElement() else {
        throw .wrongType(expected: words, offset: start)
      }
      let sequence = try fields.reader.integer()
      guard try fields.reader.nextElement() else {
        throw .wrongType(expected: words, offset: start)
      }
      guard let operation = try TextOperation.read(&fields) else {
        isRight = false
        continue
      }
      run.changes.append(.init(author: author, sequence: sequence, operation: operation))
    }
    return isRight ? run : nil
  }

  func write(_ fields: inout MessageFields) {
    func comma(_ fields: inout MessageFields) { fields.buffer.append(UInt8(ascii: ",")) }
    fields.buffer.append(UInt8(ascii: "["))
    document.write(&fields)
    comma(&fields)
    revision.write(&fields)
    comma(&fields)
    time.write(&fields)
    for change in changes {
      comma(&fields)
      change.author.write(&fields)
      comma(&fields)
      change.sequence.write(&fields)
      comma(&fields)
      change.operation.write(&fields)
      if FormatJSON.isSent, let format = change.format {
        comma(&fields)
        format.write(&fields)
      }
    }
    fields.buffer.append(UInt8(ascii: "]"))
  }

  static func mistake(in field: String, of fields: MessageFields) -> JSONError {
    TextOperation.mistake(in: field, of: fields)
  }

  private static let words =
    "a document's number, a revision, a time, and for each change an author's number, a sequence "
    + "and an operation"
}
