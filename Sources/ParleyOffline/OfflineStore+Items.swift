package import ParleyJSON

/// A collection as seen by one user.
package struct Collection: Hashable, Sendable {
  package let user: String
  package let resource: String

  package init(user: String, resource: String) {
    self.user = user
    self.resource = resource
  }
}

/// Fetched resources, each stored once, and lists of their ids.
extension OfflineStore {
  /// Returns a stored list: the resources in order, each with its JSON; `nil` if it was never
  /// fetched.
  package func kept(
    _ query: String, of collection: Collection
  ) throws(OfflineStoreError) -> [(id: ResourceID, json: JSONValue)]? {
    let kept = try perform { (file) throws(OfflineStoreError) -> [Item]? in
      guard let things = try Self.listing(query, of: collection, in: file) else { return nil }
      var items: [Item] = []
      for id in things {
        guard let json = try Self.item(id, of: collection, in: file) else { continue }
        items.append(Item(id: id, json: json))
      }
      return items
    }
    return kept?.map { ($0.id, $0.json) }
  }

  private struct Item: Sendable {
    package let id: ResourceID
    package let json: JSONValue
  }

  /// Returns the stored JSON of a resource.
  package func kept(
    _ id: ResourceID, of collection: Collection
  ) throws(OfflineStoreError) -> JSONValue? {
    try perform { (file) throws(OfflineStoreError) in
      try Self.item(id, of: collection, in: file)
    }
  }

  /// Replaces the stored list of a query by a fetched one.
  ///
  /// Resources of the former list that no list contains any longer are removed.
  package func keep(
    _ items: [(id: ResourceID, json: JSONValue)], as query: String, of collection: Collection
  ) throws(OfflineStoreError) {
    try transaction { (file) throws(OfflineStoreError) in
      let former = try Self.listing(query, of: collection, in: file)
      for item in items where try Self.item(item.id, of: collection, in: file) != item.json {
        try Self.put(item.json, item.id, of: collection, in: file)
      }
      let ids = items.map(\.id)
      if ids != former { try Self.put(ids, as: query, of: collection, in: file) }
      let gone = Set(former ?? []).subtracting(ids)
      guard !gone.isEmpty else { return }
      var named: Set<ResourceID> = []
      let others = try file.query("SELECT things FROM listing WHERE user = ? AND resource = ?")
        .rows([.text(collection.user), .text(collection.resource)]) { $0.bytes(0) }
      for bytes in others { named.formUnion(try Self.ids(bytes)) }
      for id in gone.subtracting(named) { try Self.removeItem(id, of: collection, in: file) }
    }
  }

  /// Stores a resource that was fetched alone. `nil` removes it, because the server has none.
  package func keep(
    _ json: JSONValue?, _ id: ResourceID, of collection: Collection
  ) throws(OfflineStoreError) {
    try transaction { (file) throws(OfflineStoreError) in
      if let json {
        guard try Self.item(id, of: collection, in: file) != json else { return }
        try Self.put(json, id, of: collection, in: file)
      } else {
        try Self.remove(id, of: collection, in: file)
      }
    }
  }

  // MARK: Rows

  package static func item(
    _ id: ResourceID, of collection: Collection, in file: SQLiteFile
  ) throws(OfflineStoreError) -> JSONValue? {
    let sql = "SELECT body FROM item WHERE user = ? AND resource = ? AND thing = ?"
    let rows = try file.query(sql).rows(collection.parameters + [.text(id.key)]) { $0.bytes(0) }
    guard let bytes = rows.first else { return nil }
    guard let json = JSONValue(bytes) else { throw .damaged("a stored resource is not JSON") }
    return json
  }

  package static func put(
    _ json: JSONValue, _ id: ResourceID, of collection: Collection, in file: SQLiteFile
  ) throws(OfflineStoreError) {
    try file.query("INSERT OR REPLACE INTO item (user, resource, thing, body) VALUES (?, ?, ?, ?)")
      .rows(collection.parameters + [.text(id.key), .bytes(json.utf8)]) { _ in }
  }

  /// Removes a resource, also from all lists.
  package static func remove(
    _ id: ResourceID, of collection: Collection, in file: SQLiteFile
  ) throws(OfflineStoreError) {
    try removeItem(id, of: collection, in: file)
    let sql = "SELECT query, things FROM listing WHERE user = ? AND resource = ?"
    let rows = try file.query(sql).rows(collection.parameters) { ($0.text(0), $0.bytes(1)) }
    for (query, bytes) in rows {
      let things = try ids(bytes)
      guard things.contains(id) else { continue }
      try put(things.filter { $0 != id }, as: query, of: collection, in: file)
    }
  }

  private static func removeItem(
    _ id: ResourceID, of collection: Collection, in file: SQLiteFile
  ) throws(OfflineStoreError) {
    try file.query("DELETE FROM item WHERE user = ? AND resource = ? AND thing = ?")
      .rows(collection.parameters + [.text(id.key)]) { _ in }
  }

  package static func listing(
    _ query: String, of collection: Collection, in file: SQLiteFile
  ) throws(OfflineStoreError) -> [ResourceID]? {
    let sql = "SELECT things FROM listing WHERE user = ? AND resource = ? AND query = ?"
    let rows = try file.query(sql).rows(collection.parameters + [.text(query)]) { $0.bytes(0) }
    return try rows.first.map { (bytes) throws(OfflineStoreError) in try ids(bytes) }
  }

  package static func put(
    _ things: [ResourceID], as query: String, of collection: Collection, in file: SQLiteFile
  ) throws(OfflineStoreError) {
    let sql = "INSERT OR REPLACE INTO listing (user, resource, query, things) VALUES (?, ?, ?, ?)"
    let json = JSONValue(things.map(\.json))
    try file.query(sql).rows(collection.parameters + [.text(query), .bytes(json.utf8)]) { _ in }
  }

  private static func ids(_ bytes: [UInt8]) throws(OfflineStoreError) -> [ResourceID] {
    guard let elements = JSONValue(bytes)?.elements else {
      throw .damaged("a stored list is not JSON")
    }
    return elements.compactMap { ResourceID(json: $0) }
  }
}

extension Collection {
  package var parameters: [SQLiteParameter] { [.text(user), .text(resource)] }
}
