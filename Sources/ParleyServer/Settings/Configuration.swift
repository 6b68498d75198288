import Gateway
public import GatewayPorts
public import SocketMessages

/// Everything an operator can set, with its defaults.
///
/// A plain value: ``ConfigurationLoader`` reads it from flags, the environment and a file; the
/// names of the settings there are in `Configuration+Settings.swift`. To add a setting, add a
/// property here and a line there; flags, variables, the file, `--help` and `parley check` follow.
public struct Configuration: Sendable, Equatable {
  // MARK: Listening

  /// The addresses to listen on: IP addresses, or names that stand for this machine's; `::` is every address of
  /// both families.
  public var hosts = ["127.0.0.1"]
  /// The port to listen on; 0 takes a free one.
  public var port = 8080
  /// The address for programs with API keys, `HOST:PORT`; without it they use the page's.
  public var apiListen: String?
  /// Whether a host beyond loopback is accepted while anyone may read and write.
  public var allowOpenNetwork = false
  /// Pages beside the server's own that may connect, such as `https://notes.example.org`; `*` is
  /// any.
  public var allowedOrigins: [String] = []
  /// Sites whose pages may show the page of notes in a frame, such as `https://intranet.example.org`;
  /// `*` is any.
  public var frameAncestors: [String] = []
  /// Addresses of proxies that are believed when they say where a client is: single ones, or ranges.
  public var trustedProxies: [String] = []
  /// Whether connections of trusted proxies begin with a header of the PROXY protocol.
  public var proxyProtocol = false
  /// A certificate in PEM form, followed by those between it and the root; with it and its key,
  /// every connection is encrypted.
  public var certificatePath: String?
  /// The certificate's private key in PEM form.
  public var certificateKeyPath: String?
  /// The folder with the page; `nil` looks for it, see ``webDirectory(executable:)``.
  public var webDirectory: String?
  /// Whether browsers keep neither the page nor copies of notes for working without this server.
  public var forbidsOfflinePage = false

  // MARK: Access

  /// PEM public keys that tokens are checked with, each a path or `kid=path`. With any key, secret
  /// or key set the demo mode is off.
  public var keyFiles: [String] = []
  /// Files with shared secrets (HS256), each a path or `kid=path`.
  public var secretFiles: [String] = []
  /// JSON Web Key Sets, read again when they change.
  public var keySetFiles: [String] = []
  /// A token's `aud` has to name one of these; without any, a token that names an audience is
  /// rejected.
  public var audiences: [String] = []
  /// A token's `iss` has to be one of these; without any, the issuer is left open.
  public var issuers: [String] = []
  /// Further issuers, each with keys and rules of its own; see ``IssuerProfile``.
  public var issuerProfiles: [String] = []
  /// A room token's `aud` has to name one of these; without any, none is accepted.
  public var roomTokenAudiences: [String] = []
  /// Apps of Pusher's protocol; see ``PusherProfile``.
  public var pusherApps: [String] = []
  /// The tolerated difference between the clocks of issuer and server.
  public var clockSkew = Duration.seconds(60)
  /// A file with the hashes of API keys.
  public var apiKeyFile: String?
  /// A file of users who log in with passwords. With it the demo mode is off.
  public var usersFile: String?
  /// The lifetime of access tokens.
  public var accessTokenTime = Duration.seconds(3_600)
  /// The time that a session lasts without being used, which is the lifetime of a refresh token.
  public var refreshTokenTime = Duration.seconds(90 * 86_400)
  /// The time after a sign-in at which its session ends, however it is used.
  public var sessionTime = Duration.seconds(365 * 86_400)
  /// The address of the page as browsers know it.
  public var publicURL: String?
  /// The identity provider at which people sign in.
  public var provider = ProviderConfiguration()
  /// Whether notes may be published under readable names, to everyone who can reach the server.
  public var publicNames = PublicNames.off
  /// Whether a token is allowed in a URL.
  public var allowTokenInURL = false
  /// Whether the room token `twake`, which opens every room, and rooms that begin with
  /// `previous::` are for every Twake user.
  public var allowLegacyRoomTokens = false

  // MARK: Storage

  /// The folder of the database, made when it is not there.
  public var dataDirectory = "data"
  /// The address of the database; `nil` for SQLite within ``dataDirectory``. It may hold a password,
  /// so it is never shown as it is.
  public var storeURL: String?
  /// The address of the broker that carries hints between nodes, or `none`; with `nil` it is the
  /// database, if ``storeURL`` names one.
  public var brokerURL: String?
  /// The name that operators see of this gateway; the machine's name and the port if `nil`.
  public var nodeName: String?

  // MARK: Connections

  /// Between two pings to a quiet connection.
  public var pingInterval = Duration.seconds(25)
  /// Without anything from a connection, pongs included, for this long, it is closed.
  public var idleTimeout = Duration.seconds(60)
  /// Connections at once.
  public var connectionsMax = 10_000
  /// Bytes of one message from a client.
  public var messageBytesMax = 4 << 20
  /// Bytes waiting for one connection, beyond which it is closed and has to resume.
  public var queuedBytesMax = 16 << 20
  /// Bytes of messages and bodies that have not come whole, over all connections; 0 for no limit.
  public var receptionBytesMax = 256 << 20
  /// Bytes of HTTP responses waiting for their readers, over all connections.
  public var responseBytesMax = 256 << 20
  /// Changes, publications and other requests waiting for the store, over all.
  public var storeQueueMax = 100_000
  /// Their bytes, about.
  public var storeQueueBytesMax = 64 << 20
  /// The time that the oldest request may wait for the store before the server says it is not ready.
  public var storeStallTime = Duration.seconds(5)
  /// Documents that one connection may have joined.
  public var documentsPerConnectionMax = 64
  /// Sessions of Socket.IO and Bayeux at once.
  public var sessionsMax = 10_000
  /// The time within which a Socket.IO client must authenticate.
  public var authenticateTime = Duration.seconds(15)
  /// The time within which a Socket.IO client may recover its session; zero for never.
  public var recoveryTime = Duration.seconds(120)
  /// Bytes kept of what such clients were sent.
  public var recoveryBytesMax = 8 << 20
  /// Whether every client of Socket.IO 3 or later may recover its session, unasked.
  public var recoversAllSessions = false
  /// The time for which a Bayeux connect is held open.
  public var connectHold = Duration.seconds(30)
  /// Rooms that one connection may be subscribed to.
  public var roomsPerConnectionMax = 64
  /// The time within which a native client must send `hello`.
  public var helloTime = Duration.seconds(10)
  /// The time within which a request's head must arrive, and its body beyond the time for its
  /// bytes.
  public var requestTime = Duration.seconds(10)
  /// The time after which an idle HTTP connection is closed.
  public var keepAliveTime = Duration.seconds(30)

  // MARK: Limits

  /// Limits that are sent to clients, but for those of other sections.
  public var limits = Limits()
  /// Components that the changes which one change is rebased over may have together.
  public var historyComponentsMax = 100_000

  // MARK: Documents

  /// Unicode scalars in one document.
  public var documentScalarsMax = 4_000_000

  // MARK: Rooms

  /// Newest publications that a room remembers, unless ``roomHistories`` says otherwise.
  public var roomHistoryMax = 1_000
  /// The age at which a room's publications expire.
  public var roomHistoryAgeMax = Duration.seconds(86_400)
  /// Rules for rooms by their names, each `PATTERN=NUMBER/TIME`; the first that means a room holds.
  public var roomHistories: [String] = []
  /// Bytes of a publication's data.
  public var publicationBytesMax = 64 << 10
  /// The time for which people stay shown in a room after their connection broke.
  public var presenceGrace = Duration.seconds(5)
  /// People of a document who are all named; more are counted.
  public var presenceListMax = 200
  /// Whether the blocked do not hear of the blocker either.
  public var blocksBothWays = false
  /// The URL that is notified of publications for followers who are offline,
  /// `http://host:port/path`.
  public var pushURL: String?
  /// The URL that is notified when rooms are occupied and vacated.
  public var roomEventsURL: String?
  /// The interval at which connected people are recorded: a killed server loses at most so much.
  public var lastOnlineInterval = Duration.seconds(30)

  // MARK: Webhooks

  /// The URL of an app's backend that receives webhooks.
  public var webhookURL: String?
  /// A file with the secrets that calls are signed with, the newest first.
  public var webhookSecretFile: String?
  /// Kinds of events that are sent to the backend.
  public var webhookEvents = WebhookEvent.allCases.filter(WebhookEvent.standard.contains)
    .map(\.rawValue)
  /// From a note's change until its event is sent, with all changes that have come since.
  public var webhookChangeInterval = Duration.seconds(5)
  /// Events in one call.
  public var webhookBatchMax = 100
  /// Bytes of data in one call of several events.
  public var webhookBatchBytesMax = 1 << 20
  /// From an event until the call, for others to join it.
  public var webhookBatchDelay = Duration.seconds(1)
  /// The time limit for a webhook call.
  public var webhookTimeout = Duration.seconds(10)
  /// The first pause after a call that failed.
  public var webhookRetryMin = Duration.seconds(1)
  /// The longest pause.
  public var webhookRetryMax = Duration.seconds(300)
  /// Undelivered events older than this become dead letters.
  public var webhookGiveUpAge = Duration.seconds(86_400)
  /// Events that wait for a service.
  public var webhookQueueMax = 10_000
  /// Events given up that are kept.
  public var webhookDeadLettersMax = 1_000

  // MARK: Running

  /// The time that connections have to close in good order when the server stops.
  public var drainTime = Duration.seconds(10)
  /// Loops that serve together, each on a thread of its own; `nil` for as many as there are cores to use.
  public var loops: Int? = 1
  /// The processor time that one turn of the loop may take before the process ends;
  /// zero for no limit.
  public var turnTimeMax = Duration.seconds(10)
  /// Lines below this level are not written.
  public var logLevel = LogLevel.info
  /// The format of log lines.
  public var logFormat = LogFormat.text
  /// The path of a WebSocket echo endpoint for tests; `nil` for none.
  public var echoPath: String?
  /// The audience of `/metrics`.
  public var metricsAudience = MetricsAudience.local

  // MARK: History

  /// Newest changes of each note that are kept in any case; with ``historyAgeMin`` 0 and this 0,
  /// all of them are.
  public var historyChangesMin = 0
  /// Changes younger than this are kept in any case.
  public var historyAgeMin = Duration.zero
  /// The time for which deleted notes are kept and can be restored; 0 removes them at once.
  public var deletedAgeMax = Duration.seconds(30 * 86_400)
  /// Bytes of a file in a note; 0 takes none.
  public var fileBytesMax = 10 << 20
  /// Bytes of all files of one note.
  public var noteFilesBytesMax = 100 << 20
  /// Bytes of the store's disk that no file takes.
  public var filesDiskReserve = 512 << 20
  /// Bytes of memory for files that are being uploaded.
  public var uploadsBytesMax = 64 << 20
  /// The age at which a file is removed that no kept revision of its note names.
  public var unusedFilesAgeMin = Duration.seconds(30 * 86_400)

  /// Bytes of one comment's text.
  public var commentBytesMax = 4_096
  /// Comments of one note, answers included.
  public var noteCommentsMax = 1_000
  /// Comments that one user may make in a minute; 0 for as many as come.
  public var userCommentsPerMinuteMax = 60

  /// The defaults.
  public init() {}

  /// The database, within ``dataDirectory``.
  package var storePath: String { dataDirectory + "/" + Self.storeFileName }

  /// The store's file in a data folder.
  static let storeFileName = "notes.parley"

  /// The tokens that were taken back, within ``dataDirectory``.
  package var revocationsPath: String { dataDirectory + "/" + Self.revocationsFileName }

  /// The file of revocations in a data folder.
  static let revocationsFileName = "revocations"
  /// The invitations to become a user, within ``dataDirectory``.
  package var invitationsPath: String { dataDirectory + "/invitations" }

  /// Whether anyone who can connect may read and write: so it is until there is a key to check
  /// tokens with; hence ``allowOpenNetwork``.
  public var isDemo: Bool {
    keyFiles.isEmpty && secretFiles.isEmpty && keySetFiles.isEmpty && issuerProfiles.isEmpty
      && usersFile == nil && provider.issuer == nil && pusherApps.isEmpty
  }
}

/// Whether notes are published under readable names.
public enum PublicNames: String, Sendable, CaseIterable {
  /// No name opens a note.
  case off
  /// Everyone who can reach the server reads them; search engines are asked to leave them out.
  case on
  /// Everyone reads them, and search engines may list them.
  case indexed
}

/// The audience of the metrics.
public enum MetricsAudience: String, Sendable, CaseIterable {
  /// Programs on this machine that come without a proxy.
  case local
  /// Every client that can connect.
  case anyone
  /// No client.
  case nobody
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
  /// For people: time, level, message, `key=value`.
  case text
  /// For programs: one JSON object a line.
  case json
}

extension Configuration {
  /// The time after which a silent person is no longer shown as present.
  package var presenceLease: Duration {
    get { .milliseconds(limits.presenceLeaseMilliseconds) }
    set { limits.presenceLeaseMilliseconds = newValue.milliseconds }
  }

  /// The time after which a typing sign expires unless renewed.
  package var typingTime: Duration {
    get { .milliseconds(limits.typingMilliseconds) }
    set { limits.typingMilliseconds = newValue.milliseconds }
  }
}

extension Duration {
  /// Whole milliseconds; what is left over is dropped.
  package var milliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
