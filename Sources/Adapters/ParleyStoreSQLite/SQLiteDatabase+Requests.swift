package import ParleyGatewayPorts
import ParleyHashing
package import ParleyStoreRecords

/// Stored answers, and the requests that each store implements itself.
extension SQLiteDatabase: AnswerTable, SQLStore {
  package func keep(
    _ answer: [UInt8], _ digest: RecordChecksum, _ checksum: RecordChecksum,
    to asked: KeyedRequest, until expires: Timestamp
  ) throws(StoreError) -> Bool {
    try change(
      """
      INSERT OR REPLACE INTO answers (owner, key, digest, answer, checksum, expires)
      VALUES ($1, $2, $3, $4, $5, $6)
      """, asked.owner, asked.key, digest, Blob(answer), checksum, expires)
    return true
  }

  package func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .append(let id, let epoch, let entries, _):
      return try append(id, epoch: epoch, entries: entries)
    case .news, .heads, .fence:
      throw .unavailable("files have one owner: there are no other nodes to hear of")
    case .probe:
      // Random bytes, so that each probe writes a changed page.
      try MetaTable(store: self).setMeta("probe", value: randomBytes(count: 8))
      return .done
    // A failed commit was wiped before the transaction began.
    default: return .done
    }
  }
}
