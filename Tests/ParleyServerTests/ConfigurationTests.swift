import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("Configuration")
struct ConfigurationTests {
  /// Loads flags, variables and the lines of a file named `parley.conf`.
  private func load(
    _ flags: [String] = [], _ environment: [String: String] = [:], file: String? = nil
  ) throws(ConfigurationError) -> ConfigurationLoader.Result {
    let loader = ConfigurationLoader(environment: environment) { path throws(FileError) in
      guard path == "parley.conf", let file else { throw FileError("no such file") }
      return file
    }
    return try loader.load((file == nil ? [] : ["--config", "parley.conf"]) + flags)
  }

  @Test("without settings the defaults apply, and are valid")
  func defaults() throws {
    let loaded = try load()
    #expect(loaded.configuration == Configuration())
    #expect(loaded.unknown.isEmpty)
    #expect(loaded.places.isEmpty)
  }

  @Test("each setting accepts its default as written, from all three sources")
  func roundTrip() throws {
    for setting in Configuration.settings {
      let text = setting.text(in: Configuration())
      if text.isEmpty { continue }
      #expect(try load(["--\(setting.name)=\(text)"]).configuration == Configuration())
      #expect(try load([], [setting.variable: text]).configuration == Configuration())
      #expect(try load(file: "\(setting.name) = \(text)").configuration == Configuration())
    }
  }

  @Test("names are unique, in lower case with hyphens, and each has a help text")
  func names() {
    let settings = Configuration.settings
    #expect(Set(settings.map(\.name)).count == settings.count)
    for setting in settings {
      #expect(
        setting.name.utf8.allSatisfy { (97...122).contains($0) || $0 == 45 }, "\(setting.name)")
      #expect(setting.help.hasSuffix("."), "\(setting.name)")
    }
  }

  @Test("a flag overrides the environment, which overrides the file, which overrides the default")
  func precedence() throws {
    let file = "port = 1\nhost = 127.0.0.2"
    let environment = ["PARLEY_PORT": "2"]
    #expect(try load(file: file).configuration.port == 1)
    #expect(try load([], environment, file: file).configuration.port == 2)
    let loaded = try load(["--port", "3"], environment, file: file)
    #expect(loaded.configuration.port == 3)
    #expect(loaded.configuration.hosts == ["127.0.0.2"])
    #expect(loaded.places == ["port": .flag, "host": .file("parley.conf", line: 2)])
  }

  @Test("the environment can name the file, and a flag another one")
  func fileName() throws {
    let loader = ConfigurationLoader(environment: ["PARLEY_CONFIG": "a"]) { path in
      "port = \(path == "a" ? 1 : 2)"
    }
    #expect(try loader.load([]).configuration.port == 1)
    #expect(try loader.load([]).file == "a")
    #expect(try loader.load(["--config=b"]).configuration.port == 2)
  }

  @Test("the file may contain comments, blank lines, spaces and both kinds of line ends")
  func fileForm() throws {
    let loaded = try load(
      file: "# first\r\n\r\n  port=9 # last\r\n\tdata-dir =  /srv/a b#c\t\n\n")
    #expect(loaded.configuration.port == 9)
    #expect(loaded.configuration.dataDirectory == "/srv/a b#c")
    #expect(loaded.places["data-dir"] == .file("parley.conf", line: 4))
  }

  @Test("a list is repeated or separated by commas, and one source replaces another")
  func lists() throws {
    let flags = ["--allowed-origin", "https://a.example", "--allowed-origin=http://b:1,*"]
    #expect(
      try load(flags).configuration.allowedOrigins == ["https://a.example", "http://b:1", "*"])
    let file = "allowed-origin = https://a\nallowed-origin = https://b, https://c"
    #expect(
      try load(file: file).configuration.allowedOrigins == ["https://a", "https://b", "https://c"])
    #expect(
      try load([], ["PARLEY_ALLOWED_ORIGIN": ""], file: file).configuration.allowedOrigins == [])
    let slash = ["--allowed-origin", "https://a.example/"]
    #expect(try load(slash).configuration.allowedOrigins == ["https://a.example/"])
  }

  @Test("the last of several flags applies, so that a script's flag can be overridden")
  func repeatedFlag() throws {
    #expect(try load(["--port", "1", "--port", "2"]).configuration.port == 2)
  }

  @Test(
    "sizes and times are parsed with their units",
    arguments: [
      ("1048576", 1_048_576), ("1048576 B", 1_048_576), ("1 MiB", 1_048_576),
      ("1024kib", 1_048_576), ("1_048_576", 1_048_576),
    ])
  func sizes(text: String, bytes: Int) throws {
    #expect(try load(["--message-size-max", text]).configuration.messageBytesMax == bytes)
  }

  @Test(
    arguments: [
      ("1500ms", Duration.milliseconds(1500)), ("20 s", .seconds(20)), ("5m", .seconds(300)),
      ("1h", .seconds(3600)), ("0", .zero),
    ])
  func `times are parsed with their units`(text: String, time: Duration) throws {
    #expect(try load(["--drain-time", text]).configuration.drainTime == time)
  }

  @Test(
    "an invalid value is refused with the valid ones",
    arguments: [
      ("port", "70000"), ("port", "-1"), ("port", "x"), ("port", ""), ("port", "1_"),
      ("port", "99999999999999999999"),
      ("message-size-max", "1 MB"), ("message-size-max", "1"), ("message-size-max", "-1 KiB"),
      ("message-size-max", "99999999999 GiB"), ("ping-interval", "20"), ("ping-interval", "20 d"),
      ("ping-interval", "0s"), ("allow-open-network", "maybe"), ("log-level", "loud"),
      ("log-format", "xml"), ("data-dir", ""), ("allowed-origin", "example.org"),
      ("frame-ancestor", "example.org"), ("frame-ancestor", "https://a;script-src"),
      ("allowed-origin", "https://"), ("allowed-origin", "https://a/b"),
      ("allowed-origin", "https:///"), ("allowed-origin", "https://a//"),
      ("frame-ancestor", "https://a/b"),
      ("allowed-origin", "https://user@a"),
    ])
  func invalid(name: String, value: String) throws {
    let setting = try #require(Configuration.setting(named: name))
    for (flags, environment, file, place) in [
      (["--\(name)=\(value)"], [:], nil, SettingSource.flag),
      ([], [setting.variable: value], nil, .environment),
      ([], [:], "\(name) = \(value)", .file("parley.conf", line: 1)),
    ] as [([String], [String: String], String?, SettingSource)] {
      #expect(
        throws: ConfigurationError.invalidValue(
          value, setting: name, at: place, expected: setting.expected)
      ) { try load(flags, environment, file: file) }
    }
  }

  @Test("errors name the place, the expectation and the value")
  func descriptions() {
    #expect(throws: ConfigurationError.self) { try load(["--port=x"]) }
    let error = ConfigurationError.invalidValue(
      "x", setting: "port", at: .file("parley.conf", line: 7), expected: "a number")
    #expect(error.description == "parley.conf:7: port expects a number; got “x”")
    let variable = ConfigurationError.invalidValue(
      "", setting: "port", at: .environment, expected: "a number")
    #expect(variable.description == "PARLEY_PORT expects a number; got nothing")
  }

  @Test("an unknown flag is refused, with the nearest name")
  func unknownFlag() {
    #expect(throws: ConfigurationError.unknownSetting("--prot", at: .flag, suggestion: "--port")) {
      try load(["--prot", "1"])
    }
    #expect(throws: ConfigurationError.unknownSetting("--zzzzzzz", at: .flag, suggestion: nil)) {
      try load(["--zzzzzzz=1"])
    }
    #expect(throws: ConfigurationError.unexpectedArgument("serve")) { try load(["serve"]) }
    #expect(throws: ConfigurationError.missingValue(flag: "--port", placeholder: "PORT")) {
      try load(["--port"])
    }
  }

  /// The variables that Kubernetes sets for a Service `parley` with a port named `http`.
  private static let serviceLinks = [
    "PARLEY_SERVICE_HOST": "10.96.0.7", "PARLEY_SERVICE_PORT": "8080",
    "PARLEY_SERVICE_PORT_HTTP": "8080", "PARLEY_PORT": "tcp://10.96.0.7:8080",
    "PARLEY_PORT_8080_TCP": "tcp://10.96.0.7:8080", "PARLEY_PORT_8080_TCP_PROTO": "tcp",
    "PARLEY_PORT_8080_TCP_PORT": "8080", "PARLEY_PORT_8080_TCP_ADDR": "10.96.0.7",
  ]

  @Test("variables that Kubernetes sets for a Service are ignored, with one warning")
  func serviceLinks() throws {
    let loaded = try load([], Self.serviceLinks, file: "port = 9000")
    #expect(loaded.configuration.port == 9_000)
    #expect(loaded.unknown.isEmpty)
    #expect(loaded.places["port"] == .file("parley.conf", line: 1))
    let warning = try #require(loaded.injected).description
    #expect(warning.contains("enableServiceLinks: false"))
    #expect(warning.contains("7 more variables"))
    #expect(!warning.contains("10.96.0.7"))
  }

  @Test(
    "links to other services with this name are ignored",
    arguments: [
      ("PARLEY_LIVE_SERVICE_HOST", "10.96.0.7"), ("PARLEY_LIVE_PORT", "udp://10.96.0.7:53"),
      ("PARLEY_PORT_443_SCTP", "sctp://10.96.0.7:443"), ("PARLEY_ENV_PATH", "/usr/bin"),
      ("PARLEY_PORT_8000_TCP_START", "tcp://172.17.0.2:8000"),
      ("PARLEY_SERVER_SERVICE_PORT_HTTP_ALT", "80"), ("PARLEY_SERVER_PORT", "tcp://10.96.0.7:80"),
    ])
  func injected(name: String, value: String) throws {
    let loaded = try load([], [name: value])
    #expect(loaded.injected?.names == [name])
    #expect(loaded.unknown.isEmpty)
  }

  @Test(
    "other variables are settings, or refused as unknown settings",
    arguments: [("PARLEY_PROT", "80"), ("PARLEY_PORT_80", "80"), ("PARLEY_SERVICE", "x")])
  func notInjected(name: String, value: String) throws {
    let loaded = try load([], [name: value])
    #expect(loaded.injected == nil)
    #expect(loaded.unknown.count == 1)
  }

  @Test("a port in the environment is a setting, and a wrong one is refused")
  func portOfEnvironment() throws {
    #expect(try load([], ["PARLEY_PORT": "8081"]).configuration.port == 8_081)
    #expect(throws: ConfigurationError.self) { try load([], ["PARLEY_PORT": "http://a:80"]) }
    for setting in Configuration.settings {
      #expect(!InjectedVariables.contains(setting.variable, "1"), "\(setting.variable)")
    }
  }

  @Test("unknown names in file and environment are reported, and the others apply")
  func unknownNames() throws {
    let loaded = try load(
      [], ["PARLEY_PROT": "1", "OTHER": "2"], file: "data-dri = x\nport = 5")
    #expect(loaded.configuration.port == 5)
    #expect(
      loaded.unknown == [
        .unknownSetting("PARLEY_PROT", at: .environment, suggestion: "PARLEY_PORT"),
        .unknownSetting(
          "data-dri", at: .file("parley.conf", line: 1), suggestion: "data-dir"),
      ])
  }

  @Test("an invalid line, a name given twice and a missing file are refused")
  func badFile() {
    #expect(throws: ConfigurationError.malformedLine(at: .file("parley.conf", line: 2))) {
      try load(file: "\nport 8080")
    }
    #expect(throws: ConfigurationError.malformedLine(at: .file("parley.conf", line: 1))) {
      try load(file: "= 8080")
    }
    #expect(
      throws: ConfigurationError.givenTwice(
        setting: "port", first: .file("parley.conf", line: 1),
        second: .file("parley.conf", line: 2))
    ) { try load(file: "port = 1\nport = 1") }
    #expect(throws: ConfigurationError.unreadableFile("none", reason: "no such file")) {
      try load(["--config", "none"])
    }
  }

  @Test(
    "an open demo listens only on loopback by default",
    arguments: [
      ("127.0.0.1", true), ("127.8.9.10", true), ("::1", true), ("localhost", true),
      ("0.0.0.0", false), ("::", false), ("10.0.0.1", false), ("127.example.org", false),
      ("example.org", false), ("::ffff:127.0.0.1", false),
    ])
  func openNetwork(host: String, isLoopback: Bool) throws {
    if isLoopback {
      #expect(try load(["--host", host]).configuration.hosts == [host])
    } else {
      #expect(throws: ConfigurationError.openNetwork(host: host)) {
        try load(["--host", host])
      }
    }
    #expect(try load(["--host", host, "--allow-open-network"]).configuration.hosts == [host])
  }

  @Test("a server can listen on several hosts, which must be loopback for an open demo")
  func hosts() throws {
    let both = ["127.0.0.1", "::1"]
    #expect(try load(["--host", both[0], "--host", both[1]]).configuration.hosts == both)
    #expect(try load([], ["PARLEY_HOST": "127.0.0.1, ::1"]).configuration.hosts == both)
    #expect(try load(file: "host = 127.0.0.1\nhost = ::1").configuration.hosts == both)
    #expect(throws: ConfigurationError.openNetwork(host: "10.0.0.1")) {
      try load(["--host", "127.0.0.1", "--host", "10.0.0.1"])
    }
    for nothing in ["", " , "] {
      #expect(throws: ConfigurationError.self) { try load(["--host", nothing]) }
    }
  }

  @Test(
    "a listening address is a host and a port",
    arguments: [
      ("127.0.0.1:8081", "127.0.0.1", 8081), ("[::1]:0", "::1", 0),
      ("localhost:65535", "localhost", 65_535),
    ])
  func listenAddress(text: String, host: String, port: Int) throws {
    let address = try #require(ListenAddress(text))
    #expect((address.host, address.port) == (host, port))
    #expect(try load(["--api-listen", text]).configuration.apiListen == text)
  }

  @Test(
    "incompatible settings are refused",
    arguments: [
      ["--ping-interval=60s", "--idle-timeout=30s"],
      ["--message-size-max=2MiB", "--queue-size-max=1MiB"],
      ["--api-listen=0.0.0.0:8081"], ["--api-listen=127.0.0.1:80", "--port=80"],
    ])
  func conflicts(flags: [String]) {
    let error = #expect(throws: ConfigurationError.self) { try load(flags) }
    guard case .conflict? = error else {
      Issue.record("\(flags) gave \(String(describing: error))")
      return
    }
  }

  @Test("the help names every setting and its default")
  func help() {
    for setting in Configuration.settings {
      #expect(Help.serveAll.contains("--\(setting.name)"))
      #expect(Help.serveAll.utf8.count > 500)
    }
    for text in [Help.serve, Help.serveAll] {
      #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
  }

  @Test("the short help contains exactly the selected settings")
  func shortHelp() {
    #expect(Help.common.isSubset(of: Configuration.settings.map(\.name)))
    for setting in Configuration.settings {
      let isNamed = Help.serve.contains("  --\(setting.name)")
      let isMeant = Help.common.contains { $0.hasPrefix(setting.name) }
      #expect(isNamed == isMeant, "\(setting.name)")
    }
  }
}
