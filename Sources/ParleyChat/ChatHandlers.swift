public import Observation
public import ParleyClient

/// The handlers of a chat, one for each feature. An app may remove or replace a handler.
///
///     let chat = ChatHandlers(parley)
///     chat.typing?.setTyping(true, in: "team")    // nothing where the server does not offer it
///     chat.lastOnline = nil                       // this app has none of it
///     chat.moderation = OurModeration()           // an own one
///
/// A handler is `nil` if the app has removed it, or if the server does not offer the feature.
/// Before the first connection the server's features are unknown: all handlers are available, and
/// requests for missing features fail with `notOffered`. Views that read a handler are redrawn when
/// it appears or disappears.
@MainActor @Observable public final class ChatHandlers {
  /// The handler of a feature: the gateway's, or the app's replacement.
  private enum Slot<Handler> {
    case gateway(Handler)
    case app(Handler?)
  }

  /// The app's replacement of a handler that otherwise uses other handlers.
  private enum OwnHandler<Handler> {
    case usual
    case app(Handler?)
  }

  /// The connection, and sending.
  public var core: any CoreHandler
  /// Signing in and out.
  public var authentication: (any AuthenticationHandler)?
  /// The files of messages.
  public var upload: (any UploadHandler)?
  /// Search for people; `nil` until the app sets it.
  public var peopleSearch: (any PeopleSearchHandler)?
  /// People nearby; `nil` until the app sets it.
  public var nearbyUsers: (any NearbyUsersHandler)?
  /// Messages with stickers; `nil` until the app sets it.
  public var stickerMessage: (any StickerMessageHandler)?
  /// Public threads; `nil` until the app sets it.
  public var publicThread: (any PublicThreadHandler)?

  private var ownImages: OwnHandler<any ImageMessageHandler> = .usual
  private var ownAudio: OwnHandler<any AudioMessageHandler> = .usual
  private var ownVideo: OwnHandler<any VideoMessageHandler> = .usual
  private var ownFiles: OwnHandler<any FileMessageHandler> = .usual
  private var ownPlaces: OwnHandler<any LocationMessageHandler> = .usual

  private let parley: Parley
  private var contactsSlot: Slot<any ContactHandler>
  private var typingSlot: Slot<any TypingHandler>
  private var lastOnlineSlot: Slot<any LastOnlineHandler>
  private var receiptsSlot: Slot<any ReceiptHandler>
  private var blockingSlot: Slot<any BlockingHandler>
  private var moderationSlot: Slot<any ModerationHandler>
  private var pushSlot: Slot<any PushHandler>
  private var threadsSlot: Slot<any ThreadHandler>
  private var searchSlot: Slot<any SearchHandler>

  /// Creates the handlers of a connection.
  public init(_ parley: Parley) {
    let store = MessageStore(parley: parley)
    self.parley = parley
    core = GatewayCore(parley: parley)
    authentication = GatewayAuthentication(parley: parley)
    upload = GatewayUploads(parley)
    contactsSlot = .gateway(GatewayContacts(parley: parley))
    typingSlot = .gateway(GatewayTyping(parley: parley))
    lastOnlineSlot = .gateway(GatewayLastOnline(parley: parley))
    receiptsSlot = .gateway(GatewayReceipts(parley: parley))
    blockingSlot = .gateway(GatewayBlocking(parley: parley, messages: store))
    moderationSlot = .gateway(GatewayModeration(parley: parley))
    pushSlot = .gateway(GatewayPush(parley: parley))
    threadsSlot = .gateway(GatewayThreads(parley: parley, store: store))
    searchSlot = .gateway(CachedSearch(store: store))
  }

  /// The people in threads, and their presence.
  public var contacts: (any ContactHandler)? {
    get { handler(contactsSlot, if: "roomPresence") }
    set { contactsSlot = .app(newValue) }
  }

  /// People who are typing.
  public var typing: (any TypingHandler)? {
    get { handler(typingSlot, if: "typing") }
    set { typingSlot = .app(newValue) }
  }

  /// The times at which people were online last.
  public var lastOnline: (any LastOnlineHandler)? {
    get { handler(lastOnlineSlot, if: "lastOnline") }
    set { lastOnlineSlot = .app(newValue) }
  }

  /// Receipts for messages.
  public var receipts: (any ReceiptHandler)? {
    get { handler(receiptsSlot, if: "receipts") }
    set { receiptsSlot = .app(newValue) }
  }

  /// Blocking of people, whose messages and presence are then hidden.
  public var blocking: (any BlockingHandler)? {
    get { handler(blockingSlot, if: "blocking") }
    set { blockingSlot = .app(newValue) }
  }

  /// Reports of messages to the moderators.
  public var moderation: (any ModerationHandler)? {
    get { handler(moderationSlot, if: "moderation") }
    set { moderationSlot = .app(newValue) }
  }

  /// Push notifications.
  public var push: (any PushHandler)? {
    get { handler(pushSlot, if: "membership", "push") }
    set { pushSlot = .app(newValue) }
  }

  /// Threads and their history.
  public var threads: (any ThreadHandler)? {
    get { handler(threadsSlot) }
    set { threadsSlot = .app(newValue) }
  }

  /// A search of the messages on the device. It searches messages received by the gateway's
  /// ``threads``, so it is `nil` if the app has replaced that handler.
  public var search: (any SearchHandler)? {
    get {
      if case .gateway = searchSlot, case .app = threadsSlot { return nil }
      return handler(searchSlot)
    }
    set { searchSlot = .app(newValue) }
  }

  /// Messages with pictures, by the ``upload`` and ``core`` handlers; `nil` without ``upload``.
  public var imageMessage: (any ImageMessageHandler)? {
    get { handler(ownImages, attachments) }
    set { ownImages = .app(newValue) }
  }

  /// Messages with recordings, by the ``upload`` and ``core`` handlers; `nil` without ``upload``.
  public var audioMessage: (any AudioMessageHandler)? {
    get { handler(ownAudio, attachments) }
    set { ownAudio = .app(newValue) }
  }

  /// Messages with films, by the ``upload`` and ``core`` handlers; `nil` without ``upload``.
  public var videoMessage: (any VideoMessageHandler)? {
    get { handler(ownVideo, attachments) }
    set { ownVideo = .app(newValue) }
  }

  /// Messages with other files, by the ``upload`` and ``core`` handlers; `nil` without ``upload``.
  public var fileMessage: (any FileMessageHandler)? {
    get { handler(ownFiles, attachments) }
    set { ownFiles = .app(newValue) }
  }

  /// Messages with places, by the ``core`` handler.
  public var locationMessage: (any LocationMessageHandler)? {
    get { handler(ownPlaces, LocationMessages(core: core)) }
    set { ownPlaces = .app(newValue) }
  }

  private var attachments: AttachmentMessages? {
    upload.map { AttachmentMessages(core: core, upload: $0) }
  }

  private func handler<Handler>(_ own: OwnHandler<Handler>, _ usual: Handler?) -> Handler? {
    switch own {
    case .app(let handler): handler
    case .usual: usual
    }
  }

  private func handler<Handler>(
    _ slot: Slot<Handler>, if capabilities: String...
  ) -> Handler? {
    switch slot {
    case .app(let handler): handler
    case .gateway(let handler):
      parley.capabilities?.isSuperset(of: capabilities) ?? true ? handler : nil
    }
  }
}
