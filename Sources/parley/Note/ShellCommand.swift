import Dispatch
@preconcurrency import Glibc
import ParleyServer

/// Runs the command of `parley note watch` with `sh`.
enum ShellCommand {
  /// Runs a command until it ends, with a text as its standard input.
  ///
  /// - Returns: Its exit code; 128 plus the number of the signal that ended it; 127 if it could not
  ///   be started.
  static func run(_ command: String, input: String, note: String) async -> Int32 {
    // Writing the input and waiting both block, so they run on a separate thread.
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: run(command, Array(input.utf8), note))
      }
    }
  }

  private static func run(_ command: String, _ input: [UInt8], _ note: String) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return 127 }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    guard let process = start(command, reading: ends[0], note) else {
      close(ends[0])
      close(ends[1])
      return 127
    }
    close(ends[0])
    // A command need not read all of its input.
    Files.write(input, to: ends[1])
    close(ends[1])
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  private static func start(_ command: String, reading input: Int32, _ note: String) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process blocks or ignores signals; restore the defaults for the command.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var usual = sigset_t()
    sigemptyset(&usual)
    sigaddset(&usual, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    // The command must not receive the token.
    var variables = Program.environment
    variables["PARLEY_TOKEN"] = nil
    variables["PARLEY_NOTE"] = note
    var words: [UnsafeMutablePointer<CChar>?] = []
    for word in ["sh", "-c", command] { words.append(strdup(word)) }
    words.append(nil)
    var environment: [UnsafeMutablePointer<CChar>?] = []
    for (name, value) in variables { environment.append(strdup("\(name)=\(value)")) }
    environment.append(nil)
    defer { for text in words + environment { free(text) } }
    var process: pid_t = 0
    guard posix_spawn(&process, "/bin/sh", &actions, &attributes, words, environment) == 0 else {
      return nil
    }
    return process
  }
}
