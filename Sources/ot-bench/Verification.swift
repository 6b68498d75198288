import OTCore

/// Counts the test vectors of a file, one a line, that agree with OTCore.
enum Verification {
  static func run(_ kind: String, _ path: String) throws -> (agreeing: Int, all: Int, lines: [Int])
  {
    let lines = try WorkloadFile.bytes(of: path, isPacked: path.hasSuffix(".gz"))
      .split(separator: 0x0a)
    var wrong: [Int] = []
    for (index, line) in lines.enumerated() {
      let value = try JSONParser.value(of: line)
      if !(try agrees(kind, value)) { wrong.append(index + 1) }
    }
    return (lines.count - wrong.count, lines.count, wrong)
  }

  private static func agrees(_ kind: String, _ value: JSONValue) throws -> Bool {
    switch kind {
    case "transform":
      guard var operation = value["op"]?.operation, var other = value["otherOp"]?.operation,
        let side = value["side"]?.text, let result = value["result"]?.operation
      else { throw BenchError("expected op, otherOp, side and result") }
      // A trailing retain may be left out.
      let base = max(operation.baseLength, other.baseLength)
      operation.retain(base - operation.baseLength)
      other.retain(base - other.baseLength)
      return same(
        try operation.transformed(over: other, side: side == "left" ? .left : .right), result)
    case "compose":
      guard var first = value["op1"]?.operation, var second = value["op2"]?.operation,
        let result = value["result"]?.operation
      else { throw BenchError("expected op1, op2 and result") }
      let middle = max(first.targetLength, second.baseLength)
      first.retain(middle - first.targetLength)
      second.retain(middle - second.baseLength)
      return same(try first.composed(with: second), result)
    case "apply":
      guard let text = value["str"]?.text, var operation = value["op"]?.operation,
        let result = value["result"]?.text
      else { throw BenchError("expected str, op and result") }
      operation.retain(max(0, text.unicodeScalars.count - operation.baseLength))
      return try operation.applied(to: text).utf8.elementsEqual(result.utf8)
    case "delta": return try DeltaVector(value).agrees()
    default: throw BenchError("expected transform, compose, apply or delta, got \(kind)")
    }
  }

  /// Equal up to a trailing retain and the order of insert and delete at one place.
  private static func same(_ left: TextOperation, _ right: TextOperation) -> Bool {
    func normal(_ operation: TextOperation, to length: Int) -> [UInt8] {
      var operation = operation
      operation.retain(max(0, length - operation.baseLength))
      var bytes: [UInt8] = []
      operation.appendNormalJSON(to: &bytes)
      return bytes
    }
    let length = max(left.baseLength, right.baseLength)
    return normal(left, to: length) == normal(right, to: length)
  }
}
