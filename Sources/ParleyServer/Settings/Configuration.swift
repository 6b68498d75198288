import Gateway
public import ParleyGatewayPorts
public import SocketMessages

/// All settings, with their defaults.
///
/// A plain value: ``ConfigurationLoader`` reads it from flags, the environment and a file; the
/// settings' names are in `Configuration+Settings.swift`. To add a setting, add a property here and
/// an entry there: flags, variables, the file, `--help` and `parley check` follow from it.
public struct Configuration: Sendable, Equatable {
  // MARK: Listening

  /// The addresses to listen on: IP addresses, or host names of this machine; `::` is every
  /// address, of IPv4 too.
  public var hosts = ["127.0.0.1"]
  /// The port to listen on; 0 picks a free one.
  public var port = 8080
  /// A separate address for programs with API keys, `HOST:PORT`; `nil` to use the main port.
  public var apiListen: String?
  /// Whether a host beyond loopback is accepted although any client may read and write.
  public var allowOpenNetwork = false
  /// Origins of other sites whose pages may connect, such as `https://notes.example.org`; `*`
  /// allows every site.
  public var allowedOrigins: [String] = []
  /// Origins of sites that may embed the page in a frame, such as `https://intranet.example.org`;
  /// `*` allows every site.
  public var frameAncestors: [String] = []
  /// Addresses or ranges of proxies whose headers are trusted for a client's address.
  public var trustedProxies: [String] = []
  /// Whether connections from trusted proxies must begin with a PROXY protocol header.
  public var proxyProtocol = false
  /// The path of a certificate in PEM form, followed by its chain. With it and its key, every
  /// connection is encrypted.
  public var certificatePath: String?
  /// The path of the certificate's private key, in PEM form.
  public var certificateKeyPath: String?
  /// The folder with the page; `nil` to search for it, see ``webDirectory(executable:)``.
  public var webDirectory: String?
  /// Whether browsers must not store the page and copies of notes for offline use.
  public var forbidsOfflinePage = false

  // MARK: Access

  /// Files with PEM public keys that verify tokens, each a path or `kid=path`. Any key, secret or
  /// key set turns off the demo mode.
  public var keyFiles: [String] = []
  /// Files with shared secrets (HS256), each a path or `kid=path`.
  public var secretFiles: [String] = []
  /// Files with JSON Web Key Sets, reloaded when they change.
  public var keySetFiles: [String] = []
  /// Accepted audiences: a token's `aud` must contain one of these. If empty, tokens with an
  /// audience are rejected.
  public var audiences: [String] = []
  /// Accepted issuers: a token's `iss` must be one of these. If empty, every issuer is accepted.
  public var issuers: [String] = []
  /// Additional issuers, each with its own keys and rules; see ``IssuerProfile``.
  public var issuerProfiles: [String] = []
  /// Accepted audiences of room tokens. If empty, room tokens are rejected.
  public var roomTokenAudiences: [String] = []
  /// Apps of Pusher's protocol; see ``PusherProfile``.
  public var pusherApps: [String] = []
  /// The path of ShareDB clients; empty for none.
  public var shareDBPath = "/sharedb"
  /// The tolerated difference between the clocks of issuer and server.
  public var clockSkew = Duration.seconds(60)
  /// A file with the hashes of API keys.
  public var apiKeyFile: String?
  /// A file of users who log in with passwords; it turns off the demo mode.
  public var usersFile: String?
  /// The lifetime of access tokens.
  public var accessTokenTime = Duration.seconds(3_600)
  /// The lifetime of a refresh token: a session that is not used for this long expires.
  public var refreshTokenTime = Duration.seconds(90 * 86_400)
  /// The maximum length of a session, even if it is used.
  public var sessionTime = Duration.seconds(365 * 86_400)
  /// The public address of the page.
  public var publicURL: String?
  /// The identity provider for sign-in.
  public var provider = ProviderConfiguration()
  /// Whether notes may be published under readable names to every client that can connect.
  public var publicNames = PublicNames.off
  /// Whether a token is allowed in a URL.
  public var allowTokenInURL = false
  /// Whether every Twake user may use the room token `twake`, which opens every room, and rooms
  /// that begin with `previous::`.
  public var allowLegacyRoomTokens = false

  // MARK: Storage

  /// The folder of the database and other data; created if it does not exist.
  public var dataDirectory = "data"
  /// The address of the database; `nil` for SQLite within ``dataDirectory``. It may contain a
  /// password, so it is never shown unchanged.
  public var storeURL: String?
  /// The address of the broker for hints between nodes, or `none`; `nil` for the database in
  /// ``storeURL``, if any.
  public var brokerURL: String?
  /// The name of this gateway for operators; `nil` for the machine's name and the port.
  public var nodeName: String?

  // MARK: Connections

  /// The interval between pings to a connection that sends nothing.
  public var pingInterval = Duration.seconds(25)
  /// The time after which a connection that sends nothing, not even a pong, is closed.
  public var idleTimeout = Duration.seconds(60)
  /// Maximum open connections.
  public var connectionsMax = 10_000
  /// Maximum bytes of one message from a client.
  public var messageBytesMax = 4 << 20
  /// Maximum bytes waiting for a connection; a slower connection is closed and has to resume.
  public var queuedBytesMax = 16 << 20
  /// Maximum bytes of incomplete messages and bodies, over all connections; 0 for no limit.
  public var receptionBytesMax = 256 << 20
  /// Maximum bytes of HTTP responses waiting for slow clients, over all connections.
  public var responseBytesMax = 256 << 20
  /// Maximum changes, publications and other requests that wait for the store, in total.
  public var storeQueueMax = 100_000
  /// Approximate maximum of the waiting requests' bytes, in total.
  public var storeQueueBytesMax = 64 << 20
  /// The time that the oldest request may wait for the store before the server is not ready.
  public var storeStallTime = Duration.seconds(5)
  /// Maximum documents that one connection can join.
  public var documentsPerConnectionMax = 64
  /// Maximum sessions of Socket.IO and Bayeux.
  public var sessionsMax = 10_000
  /// The time within which a Socket.IO client must authenticate.
  public var authenticateTime = Duration.seconds(15)
  /// The time within which a Socket.IO client can recover its session; zero disables recovery.
  public var recoveryTime = Duration.seconds(120)
  /// Maximum bytes of events stored for recovery, over all sessions.
  public var recoveryBytesMax = 8 << 20
  /// Whether every client of Socket.IO 3 or later can recover its session, even without a request.
  public var recoversAllSessions = false
  /// The time for which a Bayeux connect request is held open.
  public var connectHold = Duration.seconds(30)
  /// Maximum rooms that one connection can subscribe to.
  public var roomsPerConnectionMax = 64
  /// The time within which a native client must send `hello`.
  public var helloTime = Duration.seconds(10)
  /// The time within which a request's head must arrive; its body has as much time, and more for
  /// its size.
  public var requestTime = Duration.seconds(10)
  /// The time after which an idle HTTP connection is closed.
  public var keepAliveTime = Duration.seconds(30)

  // MARK: Limits

  /// Limits that clients receive, except those in other sections.
  public var limits = Limits()
  /// Maximum components of all changes over which the server rebases one change.
  public var historyComponentsMax = 100_000

  // MARK: Documents

  /// Maximum Unicode scalars in one document.
  public var documentScalarsMax = 4_000_000

  // MARK: Rooms

  /// Maximum publications that a room stores, unless a rule of ``roomHistories`` applies.
  public var roomHistoryMax = 1_000
  /// The age at which a room's publications expire.
  public var roomHistoryAgeMax = Duration.seconds(86_400)
  /// Rules for rooms by name, each `PATTERN=NUMBER/TIME`; the first match applies.
  public var roomHistories: [String] = []
  /// Maximum bytes of a publication's data.
  public var publicationBytesMax = 64 << 10
  /// Maximum named values of one room.
  public var roomValuesMax = 10_000
  /// Maximum bytes of one value of a room.
  public var roomValueBytesMax = 16 << 10
  /// Maximum bytes of all values of one room, with their names.
  public var roomValuesBytesMax = 4 << 20
  /// Maximum signals of one connection per second.
  public var signalsPerSecondMax = 60
  /// The time for which people remain shown in a room after a connection loss.
  public var presenceGrace = Duration.seconds(5)
  /// Maximum people listed for a document; beyond it, clients get a count and the last active ones.
  public var presenceListMax = 200
  /// Whether a block applies in both directions.
  public var blocksBothWays = false
  /// The URL that is called for each offline follower of a publication's room,
  /// `http://host:port/path`.
  public var pushURL: String?
  /// The URL that is called when rooms become occupied or empty.
  public var roomEventsURL: String?
  /// The interval at which online people are recorded; a killed server loses at most this much.
  public var lastOnlineInterval = Duration.seconds(30)

  // MARK: Webhooks

  /// The URL of an app's backend that receives webhooks.
  public var webhookURL: String?
  /// A file with the secrets that sign calls, the newest first.
  public var webhookSecretFile: String?
  /// Types of events that are sent to the backend.
  public var webhookEvents = WebhookEvent.allCases.filter(WebhookEvent.standard.contains)
    .map(\.rawValue)
  /// Rules for the values of rooms whose changes are sent.
  public var webhookValues: [String] = []
  /// Minimum interval between `note.changed` events of one note.
  public var webhookChangeInterval = Duration.seconds(5)
  /// Maximum events in one call.
  public var webhookBatchMax = 100
  /// Maximum bytes of data in one call of several events.
  public var webhookBatchBytesMax = 1 << 20
  /// The time that an event waits for others to be sent in the same call.
  public var webhookBatchDelay = Duration.seconds(1)
  /// The time limit for a webhook call.
  public var webhookTimeout = Duration.seconds(10)
  /// The pause after the first failed call; each further failure doubles it.
  public var webhookRetryMin = Duration.seconds(1)
  /// The maximum pause.
  public var webhookRetryMax = Duration.seconds(300)
  /// Undelivered events older than this become dead letters.
  public var webhookGiveUpAge = Duration.seconds(86_400)
  /// Maximum events in the queue of one service.
  public var webhookQueueMax = 10_000
  /// Maximum stored dead letters.
  public var webhookDeadLettersMax = 1_000

  // MARK: Mail

  /// The mail server and the sender.
  public var mail = MailConfiguration()

  // MARK: Running

  /// The time that connections have to close normally when the server stops.
  public var drainTime = Duration.seconds(10)
  /// The number of loops, each on its own thread; `nil` to derive it from the number of cores.
  public var loops: Int? = 1
  /// Maximum processor time of one turn of a loop; beyond it, the process ends. Zero for no limit.
  public var turnTimeMax = Duration.seconds(10)
  /// The minimum level of log lines that are written.
  public var logLevel = LogLevel.info
  /// The format of log lines.
  public var logFormat = LogFormat.text
  /// The path of a WebSocket echo endpoint for tests; `nil` for none.
  public var echoPath: String?
  /// The audience of `/metrics`.
  public var metricsAudience = MetricsAudience.local

  // MARK: History

  /// Minimum changes of each note that are retained, the newest ones. If this and ``historyAgeMin``
  /// are 0, all changes are retained.
  public var historyChangesMin = 0
  /// The minimum age of changes that may be removed.
  public var historyAgeMin = Duration.zero
  /// The time for which deleted notes can be restored; 0 removes them at once.
  public var deletedAgeMax = Duration.seconds(30 * 86_400)
  /// The time for which records of the audit log are stored.
  public var auditAgeMax = Duration.seconds(365 * 86_400)
  /// Maximum bytes of a file in a note; 0 disables files.
  public var fileBytesMax = 10 << 20
  /// Maximum bytes of all files of one note.
  public var noteFilesBytesMax = 100 << 20
  /// Bytes of free disk space that files must leave.
  public var filesDiskReserve = 512 << 20
  /// Maximum bytes of memory for uploads in progress.
  public var uploadsBytesMax = 64 << 20
  /// The age at which a file is removed if no retained revision of its note refers to it.
  public var unusedFilesAgeMin = Duration.seconds(30 * 86_400)

  /// Maximum bytes of one comment's text.
  public var commentBytesMax = 4_096
  /// Maximum comments of one note, including answers.
  public var noteCommentsMax = 1_000
  /// Maximum new comments of one user per minute; 0 for no limit.
  public var userCommentsPerMinuteMax = 60

  /// Creates the default settings.
  public init() {}

  /// The path of the store's file, within ``dataDirectory``.
  package var storePath: String { dataDirectory + "/" + Self.storeFileName }

  /// The name of the store's file in a data folder.
  static let storeFileName = "notes.parley"

  /// The path of the file of revocations, within ``dataDirectory``.
  package var revocationsPath: String { dataDirectory + "/" + Self.revocationsFileName }

  /// The name of the file of revocations in a data folder.
  static let revocationsFileName = "revocations"
  /// The path of the file of invitations, within ``dataDirectory``.
  package var invitationsPath: String { dataDirectory + "/invitations" }

  /// Whether any client that can connect may read and write. True until a setting authenticates
  /// clients; therefore ``allowOpenNetwork`` exists.
  public var isDemo: Bool {
    keyFiles.isEmpty && secretFiles.isEmpty && keySetFiles.isEmpty && issuerProfiles.isEmpty
      && usersFile == nil && provider.issuer == nil && pusherApps.isEmpty
  }
}

/// Whether notes can be published under readable names.
public enum PublicNames: String, Sendable, CaseIterable {
  /// Notes cannot be opened by name.
  case off
  /// Every client that can connect can read published notes; search engines are asked to skip them.
  case on
  /// Every client that can connect can read published notes, and search engines may list them.
  case indexed
}

/// The clients that may read the metrics.
public enum MetricsAudience: String, Sendable, CaseIterable {
  /// Programs on this machine that connect without a proxy.
  case local
  /// Every client that can connect.
  case anyone
  /// No client.
  case nobody
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
  /// Text for people: time, level, message, `key=value`.
  case text
  /// A JSON object per line, for programs.
  case json
}

extension Configuration {
  /// The time after which a person who sends nothing is no longer shown as present.
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
  /// The duration in whole milliseconds, rounded towards zero.
  package var milliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
