import Glibc
import ParleyServer

/// Questions to the person at the terminal, and answers from standard input where there is none.
enum Prompt {
  /// Ctrl-C was pressed, or the program received a signal to end, while it waited for an answer.
  struct Interrupted: Error {
    /// The exit code that shells expect.
    static let exitCode: Int32 = 128 + SIGINT
  }

  /// Whether a person can be asked.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Asks for a line; `nil` at the end of the input.
  static func line(_ question: String) throws(Interrupted) -> String? {
    try line(question, isSeen: true)
  }

  /// A password: typed twice unseen at a terminal; elsewhere the first line of standard input.
  static func newPassword() throws -> String {
    guard isTerminal else {
      guard let line = readLine() else {
        throw UsageError("expected a password on standard input, got nothing")
      }
      if let problem = PasswordRule.problem(of: line) { throw UsageError("expected \(problem)") }
      return line
    }
    // A slip of the finger does not cost the answers before.
    while true {
      guard let first = try unseen("Password: ") else {
        throw UsageError("the input ended before a password was typed")
      }
      if let problem = PasswordRule.problem(of: first) {
        Terminal.error("Expected \(problem).\n")
      } else if try unseen("Once more: ") == first {
        return first
      } else {
        Terminal.error("The two passwords are not the same.\n")
      }
    }
  }

  private static func unseen(_ question: String) throws(Interrupted) -> String? {
    try line(question, isSeen: false)
  }

  private static func line(_ question: String, isSeen: Bool) throws(Interrupted) -> String? {
    guard isTerminal else {
      Terminal.error(question)
      return readLine()
    }
    // Signals end the waiting, not the process, so that the terminal can be put right again.
    let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    var ends = sigset_t()
    sigemptyset(&ends)
    for number in ending { sigaddset(&ends, number) }
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &ends, &before)
    for number in ending { signal(number) { _ in } }
    defer {
      for number in ending { signal(number, SIG_DFL) }
      pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    guard !isSeen else {
      Terminal.error(question)
      return try nextLine(during: before)
    }
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
    var shown = settings
    settings.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    defer {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
      Terminal.error("\n")
    }
    Terminal.error(question)
    return try nextLine(during: before)
  }

  /// Reads a line once it was typed; signals arrive while it waits, and at no other time.
  private static func nextLine(during mask: sigset_t) throws(Interrupted) -> String? {
    var mask = mask
    var input = fd_set()
    // Standard input is the first of them.
    withUnsafeMutableBytes(of: &input) { $0.storeBytes(of: 1, as: UInt.self) }
    guard pselect(STDIN_FILENO + 1, &input, nil, nil, nil, &mask) >= 0 else { throw Interrupted() }
    return readLine()
  }
}
