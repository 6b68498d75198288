import SocketMessages

#if !hasFeature(Embedded)
  /// The requests of a client that have no answer yet. Each is sent until there is one, over as many
  /// connections as it takes.
  ///
  ///     waiting ──online, its turn──▶ sent ──reply──▶ answered
  ///        ▲                          │ └──refused for good──▶ answered
  ///        └──line lost, try later────┘
  ///
  /// Questions go out at once. Wishes, which change something, go one after the other: the last one
  /// holds, also when an earlier one had to be tried again.
  struct RequestMachine: Sendable {
    private struct Waiting: Sendable {
      let id: Int64
      let request: RoomRequest
      /// The message that carries it on this connection.
      var message: Int?
      var retryAt: Int64?
    }

    private let timing: ClientTiming
    private var waiting: [Waiting] = []

    /// Requests that may wait for answers; of more, the newest is refused as `tooMany`.
    static let waitingMax = 256

    init(timing: ClientTiming) { self.timing = timing }

    /// The next time at which something is to be done.
    var deadline: Int64? {
      var next: Int64?
      for entry in waiting { next = earlier(next, entry.retryAt) }
      return next
    }

    // MARK: The app

    mutating func ask(_ request: RoomRequest, as id: Int64, _ turn: inout Turn) {
      guard waiting.count < Self.waitingMax else {
        return tell(id, .failure(.refused(.tooMany)), &turn)
      }
      waiting.append(Waiting(id: id, request: request))
      send(&turn)
    }

    /// Waits for an answer no longer. A wish that was sent may hold all the same.
    mutating func giveUp(_ id: Int64, _ turn: inout Turn) {
      waiting.removeAll { $0.id == id }
      send(&turn)
    }

    /// The client is another person's from here: what was asked was not theirs.
    mutating func changePerson(_ turn: inout Turn) {
      let former = waiting
      waiting = []
      for entry in former { tell(entry.id, .failure(.otherPerson), &turn) }
    }

    // MARK: The line

    mutating func online(_ turn: inout Turn) { send(&turn) }

    mutating func lost() {
      for index in waiting.indices {
        waiting[index].message = nil
        waiting[index].retryAt = nil
      }
    }

    mutating func wake(_ turn: inout Turn) {
      for index in waiting.indices {
        if let time = waiting[index].retryAt, time <= turn.now { waiting[index].retryAt = nil }
      }
      send(&turn)
    }

    /// Sends what may go: each question, and the first of the wishes.
    private mutating func send(_ turn: inout Turn) {
      guard turn.isOnline else { return }
      var isWishWaiting = false
      for index in waiting.indices {
        if waiting[index].request.isWish {
          if isWishWaiting { continue }
          isWishWaiting = true
        }
        guard waiting[index].message == nil, waiting[index].retryAt == nil else { continue }
        waiting[index].message = turn.send(waiting[index].request.message)
      }
    }

    // MARK: Answers

    /// A reply came.
    ///
    /// - Returns: Whether it answers a request of these.
    @discardableResult
    mutating func answered(
      _ reply: RoomReply, to number: Int?, _ turn: inout Turn
    ) -> Bool {
      guard let number, let index = waiting.firstIndex(where: { $0.message == number }) else {
        return false
      }
      let entry = waiting.remove(at: index)
      // The app cannot use an answer to another question.
      let isFitting = entry.request.isAnswered(by: reply)
      tell(entry.id, isFitting ? .success(reply) : .failure(.refused(.badMessage)), &turn)
      send(&turn)
      return true
    }

    /// An error came in reply to a message.
    ///
    /// - Returns: Whether that message was one of these requests.
    mutating func failed(
      _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
    ) -> Bool {
      guard let index = waiting.firstIndex(where: { $0.message == number }) else { return false }
      if error.retryable {
        waiting[index].message = nil
        waiting[index].retryAt = turn.after(error.retryAfter, or: timing.retryAfter)
      } else {
        let id = waiting.remove(at: index).id
        tell(id, .failure(.refused(error.code)), &turn)
        send(&turn)
      }
      return true
    }

    private func tell(
      _ id: Int64, _ answer: Result<RoomReply, RoomRequestFailure>, _ turn: inout Turn
    ) {
      turn.actions.append(.answer(id, answer))
    }
  }
#else
  /// The requests of a browser's client. Its door has none, so the program that is sent to browsers does
  /// without what answers them.
  struct RequestMachine: Sendable {
    let deadline: Int64? = nil

    init(timing: ClientTiming) {}

    func ask(_ request: RoomRequest, as id: Int64, _ turn: inout Turn) {
      turn.actions.append(.answer(id, .failure(.refused(.unknownType))))
    }
    func giveUp(_ id: Int64, _ turn: inout Turn) {}
    func changePerson(_ turn: inout Turn) {}
    func online(_ turn: inout Turn) {}
    func lost() {}
    func wake(_ turn: inout Turn) {}
    @discardableResult
    func answered(_ reply: RoomReply, to number: Int?, _ turn: inout Turn) -> Bool { false }
    func failed(
      _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
    ) -> Bool { false }
  }
#endif
