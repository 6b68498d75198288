import Foundation
import ParleyClient
import ParleyDialectModels
import ParleyOffline
import ParleyTwakeCubits
import Testing

@Suite("Errors of the clients")
struct ErrorTests {
  private static let errors: [any Error & CustomStringConvertible] = [
    NoteTrouble.readingLost, NoteTrouble.unknownNote, NoteError.notOpen,
    NoteError.outOfRange(3..<4, length: 2), NoteError.noAnswer(.unreachable("why")),
    RoomError.closed,
    PublishError.unsure, RequestError.notParley(status: 404), NoAnswer.late,
    ConnectionEnd(code: 1006), ConnectionEnd(code: 4508), OutboxError.notJSON,
    OutboxError.storage(.full), OfflineStoreError.damaged("x"), FetchError.unreadable,
    MutationRefusal.status(403, reason: "no"), MutationRefusal.unknownID,
    TwakeSocketError.unauthorised("expired"), ModelError.missing(field: "id"),
  ]

  @Test(
    "views that show localizedDescription show the words of the error", arguments: errors.indices)
  func localized(index: Int) {
    let error = Self.errors[index]
    let words = (error as any Error).localizedDescription
    #expect(words.utf8.elementsEqual("\(error)".utf8))
    #expect(words.utf8.contains(UInt8(ascii: " ")), "no sentence: \(words)")
  }
}
