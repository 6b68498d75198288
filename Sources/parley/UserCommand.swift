import CryptoOpenSSL
import Glibc
import ParleyServer

/// `parley user add`.
enum UserCommand {
  private struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// Prints or appends the line of a user; returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    do throws(UsageError) {
      guard arguments.first == "add" else { throw UsageError("expected add") }
      return try add(arguments.dropFirst())
    } catch {
      Terminal.error("parley user: \(error); parley user --help says more\n")
      return Program.ExitCode.usage
    }
  }

  private static func add(_ arguments: ArraySlice<String>) throws(UsageError) -> Int32 {
    var rest = arguments
    guard let id = rest.popFirst(), !id.hasPrefix("--") else {
      throw UsageError("expected the user's name or address")
    }
    var name: String?
    var file: String?
    var rights: [String] = []
    while let word = rest.popFirst() {
      switch word {
      case "--name", "--file":
        guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value") }
        if word == "--name" { name = value } else { file = value }
      default: rights.append(word)
      }
    }
    guard let password = password(), !password.isEmpty,
      password.utf8.count <= PasswordHash.passwordBytesMax
    else { throw UsageError("expected a password on standard input, not empty and not too long") }
    let line: String
    do throws(FileError) {
      line = try UserFile.line(
        id: id, name: name, password: PasswordHash(password: password), rights: rights)
    } catch { throw UsageError("\(error)") }
    guard let file else {
      Terminal.output(line + "\n")
      return Program.ExitCode.success
    }
    do throws(FileError) {
      try UserFile.append(line, to: file)
    } catch {
      Terminal.error("parley user: \(error)\n")
      return Program.ExitCode.failure
    }
    return Program.ExitCode.success
  }

  /// Typed twice unseen at a terminal; elsewhere the first line of standard input.
  private static func password() -> String? {
    guard isatty(STDIN_FILENO) == 1 else { return readLine() }
    guard let first = unseen("Password: "), let second = unseen("Once more: "), first == second
    else { return nil }
    return first
  }

  private static func unseen(_ prompt: String) -> String? {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
    let before = settings
    settings.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    defer {
      var before = before
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
      Terminal.error("\n")
    }
    Terminal.error(prompt)
    return readLine()
  }
}
