import OTCore
import ParleyOTWorkloads
import Testing

/// Seeds with which every law is checked.
enum Seeds {
  static let smoke: [UInt64] = Array(1...40)
}

/// Returns the operation of a notation such as `=3 +text -2`.
func op(_ notation: String) -> TextOperation { TextOperation(notation: notation) }

/// Returns the scalars of a text: `==` on strings treats é and e + accent as equal.
func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

/// Returns the string of scalars.
func string(_ scalars: [Unicode.Scalar]) -> String {
  var text = String.UnicodeScalarView()
  text.append(contentsOf: scalars)
  return String(text)
}

func json(_ operation: TextOperation) -> String {
  var bytes: [UInt8] = []
  operation.appendJSON(to: &bytes)
  return String(decoding: bytes, as: UTF8.self)
}

func read(_ json: String) throws(OperationError) -> TextOperation {
  let bytes = Array(json.utf8)
  return try read(bytes)
}

func read(_ bytes: [UInt8]) throws(OperationError) -> TextOperation {
  let result: Result<TextOperation, OperationError> = bytes.withUnsafeBufferPointer { bytes in
    do throws(OperationError) {
      return .success(try TextOperation(json: bytes))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}
