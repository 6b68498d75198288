// Imports in WebAssembly, as Web/js/exchange/importreader.js calls them, with the rules of
// Sources/ParleyImporting.
//
// The caller writes the input of a call into this module's memory, and reads the output there.
// Web/core/Fields.swift defines the form of the fields.

/// The page has one thread, so globals need no lock.
nonisolated(unsafe) private var input = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
nonisolated(unsafe) private var output = Output()
nonisolated(unsafe) private var machine: ImportMachine?

/// Reserves memory for the input of the next call, and returns its address.
@_expose(wasm, "input_reserve")
@_cdecl("input_reserve")
public func inputReserve(_ count: Int32) -> UnsafeMutablePointer<UInt8>? {
  let count = max(Int(count), 1)
  if input.count < count || input.count > 1 << 20 && count < 1 << 16 {
    input.deallocate()
    input = .allocate(capacity: max(count, 4096))
  }
  return input.baseAddress
}

/// Returns the address of the last call's output.
@_expose(wasm, "output_address")
@_cdecl("output_address")
public func outputAddress() -> UnsafePointer<UInt8>? {
  // The array does not change until the next call, so the address remains valid.
  output.bytes.withUnsafeBufferPointer { $0.baseAddress }
}

/// Returns the number of bytes of the last call's output.
@_expose(wasm, "output_count")
@_cdecl("output_count")
public func outputCount() -> Int32 { Int32(output.bytes.count) }

/// Begins an import. Input: the maximum scalars of a text.
@_expose(wasm, "import_create")
@_cdecl("import_create")
public func importCreate(_ count: Int32) {
  var fields = Input(UnsafeBufferPointer(rebasing: input[..<Int(count)]))
  machine = ImportMachine(limits: ImportLimits(scalarsMax: fields.integer()))
}

/// Begins a file. Input: the file's path and size.
@_expose(wasm, "import_begin")
@_cdecl("import_begin")
public func importBegin(_ count: Int32) {
  var fields = Input(UnsafeBufferPointer(rebasing: input[..<Int(count)]))
  let path = fields.text()
  machine?.begin(path: path, size: Int64(fields.number()))
}

/// Supplies the requested bytes. A negative count means that they cannot be read. Input: the bytes.
@_expose(wasm, "import_supply")
@_cdecl("import_supply")
public func importSupply(_ count: Int32) {
  machine?.supply(count < 0 ? nil : Array(input[..<Int(count)]))
}

/// Returns the kind of the next step, and writes its fields to the output.
@_expose(wasm, "import_next")
@_cdecl("import_next")
public func importNext() -> Int32 {
  output.restart()
  switch machine?.next() ?? .done {
  case .done: return 0
  case .read(let offset, let count):
    output.number(offset)
    output.number(count)
    return 1
  case .note(let note):
    output.text(note.path)
    output.text(note.title)
    output.text(note.folder)
    output.run(note.text)
    output.number(note.pad == nil ? 0 : 1)
    output.number(note.pad?.revision ?? 0)
    output.number(note.pad?.authors.count ?? 0)
    for author in note.pad?.authors ?? [] { output.text(author) }
    return 2
  case .problem(let path, let problem):
    output.text(path)
    output.text(problem.name)
    output.number(problem.limit ?? 0)
    return 3
  }
}
