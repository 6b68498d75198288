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

  /// The connection, and sending.
  public var core: any CoreHandler

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
