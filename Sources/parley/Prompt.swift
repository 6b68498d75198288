import Glibc
import ParleyServer

/// Reads answers from the terminal, or from standard input if it is not a terminal.
enum Prompt {
  /// The user pressed Ctrl-C, or a signal to end arrived, while an answer was awaited.
  struct Interrupted: Error {
    /// The exit code that shells use for SIGINT.
    static let exitCode: Int32 = 128 + SIGINT
  }

  /// Whether standard input is a terminal.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Prompts for a line; returns `nil` at the end of the input.
  static func line(_ question: String) throws(Interrupted) -> String? {
    try line(question, isSeen: true)
  }

  /// Prompts for a new password: twice at a terminal, without echo; otherwise reads one line.
  static func newPassword() throws -> String {
    guard isTerminal else {
      guard let line = readLine() else {
        throw UsageError("expected a password on standard input, got nothing")
      }
      if let problem = PasswordRule.problem(of: line) { throw UsageError("expected \(problem)") }
      return line
    }
    // Ask again after a mistake, so that earlier answers are not lost.
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
    // Signals interrupt the wait instead of ending the process, so that the terminal is restored.
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

  /// Waits for input, then reads a line. Signals are unblocked only during the wait.
  private static func nextLine(during mask: sigset_t) throws(Interrupted) -> String? {
    var mask = mask
    var input = fd_set()
    // Bit 0 selects standard input.
    withUnsafeMutableBytes(of: &input) { $0.storeBytes(of: 1, as: UInt.self) }
    guard pselect(STDIN_FILENO + 1, &input, nil, nil, nil, &mask) >= 0 else { throw Interrupted() }
    return readLine()
  }
}
