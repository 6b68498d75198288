import ParleyStoreRecords

/// SQL statements that read and write rows of a move.
enum PostgresMoveSQL {
  /// Returns the query for the next batch in the order of the key: at least one row, and as many as
  /// fit the limits of rows and bytes.
  ///
  /// - Parameter isFirst: Whether the batch begins with the first row; otherwise the parameters are
  ///   the key of the last row read.
  static func page(of table: StoreTable, isFirst: Bool) -> String {
    let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let columns = table.columns.map { column in
      column.name == StoreTable.setBacks ? "\(setBacks) AS set_backs" : "\"\(column.name)\""
    }.joined(separator: ", ")
    let keys = table.columns.prefix(table.keyCount).map { "\"\($0.name)\"" }.joined(separator: ", ")
    let places = (1...table.keyCount).map { "$\($0)" }.joined(separator: ", ")
    let sizes = table.columns.filter { $0.kind != .integer && $0.name != StoreTable.setBacks }
      .map { " + coalesce(octet_length(\"\($0.name)\"), 0)" }.joined()
    return """
      SELECT \(names) FROM (
        SELECT *, sum(64\(sizes)) OVER (ORDER BY \(keys)) AS bytes_so_far,
          row_number() OVER (ORDER BY \(keys)) AS row_in_page
        FROM (
          SELECT \(columns) FROM parley.\(table.name) AS t
          \(isFirst ? "" : "WHERE (\(keys)) > (\(places))") ORDER BY \(keys)
          LIMIT \(MovedPortion.rowsMax)) AS page) AS portion
      WHERE row_in_page = 1 OR bytes_so_far <= \(MovedPortion.bytesMax) ORDER BY \(keys)
      """
  }

  /// The revisions as text, ascending and distinct.
  private static let setBacks = """
    convert_to(array_to_string(ARRAY(
      SELECT DISTINCT revision FROM unnest(t.set_backs) AS revision ORDER BY revision), ','), 'UTF8')
    """

  /// Returns the statement that inserts rows with their numbers, from an array for each column.
  static func insertion(into table: StoreTable) -> String {
    let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let values = table.columns.map { column in
      column.name == StoreTable.setBacks
        ? "string_to_array(convert_from(set_backs, 'UTF8'), ',')::bigint[]" : "\"\(column.name)\""
    }.joined(separator: ", ")
    let arrays = (1...table.columns.count).map { "$\($0)" }.joined(separator: ", ")
    return """
      INSERT INTO parley.\(table.name) (\(names)) OVERRIDING SYSTEM VALUE
      SELECT \(values) FROM unnest(\(arrays)) AS r(\(names))
      """
  }
}
