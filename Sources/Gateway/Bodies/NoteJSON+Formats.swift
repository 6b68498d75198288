import ParleyGatewayPorts
import ParleyJSON
import OTCore
import SocketMessages

/// The fields of bodies about rich notes.
extension NoteJSON.Fields {
  /// The kind of a new note: by default a plain one.
  var noteKind: NoteKind {
    get throws(Response) {
      guard let kind else { return .plain }
      guard let known = NoteKind(rawValue: kind) else {
        throw .problem(400, .badMessage, "expected kind to be plain or rich")
      }
      return known
    }
  }

  /// Reads the formatting of an operation; `nil` if the body has no formatting.
  func changeFormat(of operation: TextOperation) throws(Response) -> ChangeFormat? {
    guard let format else { return nil }
    do throws(OperationError) {
      return try ChangeFormat(json: format.utf8, of: operation)
    } catch .tooLong {
      throw .problem(
        413, .tooLarge, "a change may have \(Format.setsMax) sets of attributes; send smaller ones")
    } catch {
      throw .problem(
        400, .badOperation,
        "expected format as an object that fits the operation, with known set numbers")
    }
  }
}
