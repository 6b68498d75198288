import SocketMessages

#if !hasFeature(Embedded)
  /// The unanswered requests of a client. Each is sent again on every new connection until it is
  /// answered.
  ///
  ///     waiting ──online, its turn──▶ sent ──reply──▶ answered
  ///        ▲                          │ └──refused for good──▶ answered
  ///        └──line lost, try later────┘
  ///
  /// Queries are sent at once. Requests that change something are sent one after the other, so that
  /// the last one takes effect even if an earlier one had to be retried.
  struct RequestMachine: Sendable {
    private struct Waiting: Sendable {
      let id: Int64
      let request: RoomRequest
      /// The number of the message that contains the request, on this connection.
      var message: Int?
      var retryAt: Int64?
    }

    private let timing: ClientTiming
    private var waiting: [Waiting] = []

    /// Maximum unanswered requests; further ones are refused as `tooMany`.
    static let waitingMax = 256

    init(timing: ClientTiming) { self.timing = timing }

    /// The next time at which a request must be retried.
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

    /// Discards a request. If it was sent, it may still take effect.
    mutating func giveUp(_ id: Int64, _ turn: inout Turn) {
      waiting.removeAll { $0.id == id }
      send(&turn)
    }

    /// Fails all requests, because they belong to the former person.
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

    /// Sends all queries, and the first request that changes something.
    private mutating func send(_ turn: inout Turn) {
      guard turn.isOnline else { return }
      var isChangeWaiting = false
      for index in waiting.indices {
        if waiting[index].request.changesState {
          if isChangeWaiting { continue }
          isChangeWaiting = true
        }
        guard waiting[index].message == nil, waiting[index].retryAt == nil else { continue }
        waiting[index].message = turn.send(waiting[index].request.message)
      }
    }

    // MARK: Answers

    /// Handles a reply.
    ///
    /// - Returns: Whether it answers one of these requests.
    @discardableResult
    mutating func answered(
      _ reply: RoomReply, to number: Int?, _ turn: inout Turn
    ) -> Bool {
      guard let number, let index = waiting.firstIndex(where: { $0.message == number }) else {
        return false
      }
      let entry = waiting.remove(at: index)
      // A reply of another type or for another room fails the request.
      let isFitting = entry.request.isAnswered(by: reply)
      tell(entry.id, isFitting ? .success(reply) : .failure(.refused(.badMessage)), &turn)
      send(&turn)
      return true
    }

    /// Handles an error that answers a message.
    ///
    /// - Returns: Whether the message was one of these requests.
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
  /// The requests of a browser's client. The browser sends none, so its program omits the code for
  /// them.
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
