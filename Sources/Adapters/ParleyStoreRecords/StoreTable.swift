/// The common form of a table in all kinds of stores, for moving a store to another kind.
///
/// Derived values, such as the checksum of a note's row, are omitted: each store recomputes them.
public struct StoreTable: Sendable, Equatable {
  /// The type of a column's values.
  public enum Kind: Sendable {
    case integer, text, bytes
  }

  /// A column's name and type.
  public struct Column: Sendable, Equatable {
    /// The name, the same in all stores.
    public let name: String
    /// The type of its values. Any value may be missing.
    public let kind: Kind
  }

  /// The table's name, the same in all stores.
  public let name: String
  /// The columns, in the order of a row's cells.
  public let columns: [Column]
  /// The number of leading columns that form the key. Rows are read in the order of the key.
  public let keyCount: Int

  /// Describes a table.
  ///
  /// - Parameters:
  ///   - columns: The column names. A suffix gives the type: `$` is text, `#` is bytes.
  ///   - keyCount: The number of leading columns that form the key.
  init(_ name: String, _ columns: String, key keyCount: Int) {
    self.name = name
    self.keyCount = keyCount
    self.columns = columns.split { $0 == " " || $0 == "\n" }.map { word in
      switch word.last {
      case "$": Column(name: String(word.dropLast()), kind: .text)
      case "#": Column(name: String(word.dropLast()), kind: .bytes)
      default: Column(name: String(word), kind: .integer)
      }
    }
  }

  /// The column of revisions before which the clock was set back: ascending, separated by commas.
  public static let setBacks = "set_backs"

  /// The table of the last number that each numbered table has assigned.
  public static let sequences = StoreTable("sequences", "name$ value", key: 1)
  /// The tables whose numbers are never reused, in the order of their names.
  public static let numbered = [
    "answers", "audit", "dead_letters", "documents", "notices", "rooms",
  ]

  private static let note = """
    number id$ title$ created updated epoch$ revision length chain# base base_chain# unsnapped set_backs$
    folder$ kind
    """

  /// All tables in copying order: a note's row follows the rows that its checksums cover.
  public static let all = [
    StoreTable("room_epoch", "epoch$", key: 1),
    StoreTable("meta", "name$ value# checksum#", key: 1),
    StoreTable("epochs", "document after epoch$", key: 2),
    StoreTable(
      "log", "document revision client$ sequence digest operation# author$ time checksum#", key: 2),
    StoreTable("marks", "document client$ sequence revision digest", key: 2),
    StoreTable(
      "snapshots", "document revision chain# time text# authors# checksum# format#", key: 2),
    StoreTable("versions", "document revision name$ author$ time checksum#", key: 2),
    StoreTable("files", "hash# size bytes#", key: 1),
    StoreTable("note_files", "document hash# name$ time seen", key: 2),
    StoreTable("comments", "document id$ thread$ data# checksum#", key: 2),
    StoreTable("garbage", "document", key: 1),
    StoreTable("documents", note, key: 1),
    StoreTable("deleted_documents", note + " deleted author$", key: 1),
    StoreTable("note_origins", "id$ owner$ title$ rest deleted expires", key: 1),
    StoreTable("answers", "number owner$ key$ digest# answer# checksum# expires", key: 1),
    StoreTable("sessions", "id$ user$ turn begun renewed expires ends browser$ system$", key: 1),
    StoreTable("note_links", "id$ note$ hash# access maker$ created expires", key: 1),
    StoreTable("public_names", "name$ id$ document maker$ created rests", key: 1),
    StoreTable(
      "audit", "number time actor$ action$ target$ address$ outcome detail$ checksum#", key: 1),
    StoreTable(
      "notices",
      "number person$ place document kind comment$ thread$ author$ time seen checksum#", key: 1),
    StoreTable(
      "publications", "room offset time expires person$ sender$ data# checksum# changes#", key: 2),
    StoreTable(
      "room_values", "room name$ offset value# lifetime expires holder$ checksum#", key: 2),
    StoreTable("publication_keys", "room key$ offset time digest# expires", key: 2),
    StoreTable("room_members", "room person$", key: 2),
    StoreTable("receipts", "room offset person$ state", key: 3),
    StoreTable("flags", "room offset person$ reason$ time", key: 3),
    StoreTable("blocks", "person$ blocked$", key: 2),
    StoreTable("last_online", "person$ time", key: 1),
    StoreTable(
      "chat_groups", "room name$ title$ purpose$ picture$ open creator$ created updated members",
      key: 1),
    StoreTable("group_members", "room person$ name$ nickname$ joined", key: 2),
    StoreTable("likes", "room offset person$ reaction$", key: 3),
    StoreTable("read_marks", "person$ name$ room offset", key: 2),
    StoreTable(
      "rooms", "number name$ epoch$ head time checksum# value_names value_bytes", key: 1),
    StoreTable("outbox", "target number id$ type$ subject$ time data#", key: 2),
    StoreTable("outbox_held", "target subject$ type$ since due time data#", key: 3),
    StoreTable(
      "dead_letters", "number target place id$ type$ subject$ time data# died reason", key: 1),
    sequences,
  ]
}

/// A value in a row of a ``StoreTable``.
public enum StoreCell: Sendable, Equatable {
  /// No value.
  case none
  /// An integer, or 64 bits.
  case integer(Int64)
  /// Text in UTF-8, or bytes.
  case bytes([UInt8])

  /// The integer; 0 for other cells.
  package var integer: Int {
    if case .integer(let value) = self { Int(truncatingIfNeeded: value) } else { 0 }
  }

  /// The bytes; empty for other cells.
  package var bytes: [UInt8] {
    if case .bytes(let value) = self { value } else { [] }
  }

  /// The bytes, decoded as UTF-8.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The approximate size in memory, in bytes.
  package var byteCount: Int {
    if case .bytes(let value) = self { value.count + 16 } else { 16 }
  }
}
