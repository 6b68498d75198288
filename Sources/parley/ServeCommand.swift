import ParleyServer

/// The command `parley serve`, which runs the server.
enum ServeCommand {
  /// Runs the server until a signal stops it.
  static func run(_ arguments: [String]) throws {
    let loaded = try ConfigurationLoader(environment: Program.environment).load(arguments)
    var configuration = loaded.configuration
    configuration.webDirectory = try configuration.webDirectory(executable: Program.executable)
    Program.warn(of: loaded.injected)
    for unknown in loaded.unknown { Terminal.error("parley: ignored: \(unknown)\n") }
    // Before any thread starts, so that all threads inherit the signal mask.
    let signals = StopSignals()
    ProcessMemory.returnLargeBlocks()
    let server: Server
    let log = StandardErrorLog(level: configuration.logLevel, format: configuration.logFormat)
    let manager = ServiceManager(environment: Program.environment)
    do {
      Terminal.output(banner(configuration, file: loaded.file))
      server = try Server(configuration: configuration, log: log, manager: manager)
    } catch {
      Terminal.error("parley: \(error)\n")
      throw Program.ExitCode.failure
    }
    let isSecure = configuration.certificatePath != nil
    if let address = configuration.apiListen.flatMap(ListenAddress.init) {
      let url = ListenAddress.url(address.host, port: server.apiPort, isSecure: isSecure)
      Terminal.output("programs are answered on \(url)\n")
    }
    let urls = configuration.hosts.map {
      ListenAddress.url($0, port: server.port, isSecure: isSecure)
    }
    Terminal.output("listening on \(urls.joined(separator: ", "))\n")
    manager?.ready()
    signals.wait { server.reload() }
    Terminal.output("stopping; repeat to stop immediately\n")
    manager?.stopping()
    signals.endAtNext()
    let drainMilliseconds = configuration.drainTime.milliseconds
    ForcedEnd.arm(afterMilliseconds: max(drainMilliseconds, leastMilliseconds), log: log) {
      [
        ("waitingFor", server.stopWaitsFor), ("milliseconds", "\(drainMilliseconds)"),
        ("hint", "acknowledged changes are on the disk; check the disk of data-dir"),
      ]
    }
    server.stop(drainMilliseconds: drainMilliseconds)
    Terminal.output("stopped\n")
  }

  /// Minimum milliseconds for writing accepted changes, even with a shorter `drain-time`.
  private static let leastMilliseconds = 1_000

  /// Returns the lines that are printed at the start.
  private static func banner(_ configuration: Configuration, file: String?) -> String {
    var lines = ["Parley \(Version.current)"]
    if let file { lines.append("  settings  \(file)") }
    lines.append("  store     \(configuration.dataDirectory)")
    lines.append("  page      \(configuration.webDirectory ?? "none")")
    if !configuration.isDemo {
      lines.append("  access    with a token")
    }
    if configuration.isDemo {
      let reach =
        configuration.allowOpenNetwork
        ? "THE NETWORK CAN REACH IT: --allow-open-network is given."
        : "Only this machine can reach it."
      lines.append(
        """

        *** OPEN DEMO MODE: anyone who can connect may read, write and delete every note.
        *** \(reach)

        """)
    }
    if let path = configuration.echoPath {
      lines.append("*** ECHO: anyone who can connect is answered at \(path). For tests only.\n")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
