import GatewayPorts

/// What people do in rooms besides publishing.
extension SQLiteStore {
  func reply(to request: PeopleRequest) throws(StoreError) -> PeopleReply {
    switch request {
    case .receipt(let place, let receipt): return try note(receipt, of: place)
    case .receipts(let place): return try receipts(of: place)
    case .flag(let room, let flag):
      return try keep(flag, in: room)
    case .unflag(let place, let person):
      guard let room = try row(of: place.room) else { return .unknownPublication }
      peopleStatements.deleteFlag.bind(1, room.number)
      peopleStatements.deleteFlag.bind(2, place.offset)
      peopleStatements.deleteFlag.bind(3, person)
      try peopleStatements.deleteFlag.run()
      return .done
    case .flags(let room, let limit): return .flags(try flags(in: room, limit: limit))
    case .member(let name, let person, let isMember):
      let room = try rowMade(for: name)
      let statement = isMember ? peopleStatements.insertMember : peopleStatements.deleteMember
      statement.bind(1, room.number)
      statement.bind(2, person)
      try statement.run()
      return .done
    case .members(let room): return .members(try members(of: room))
    case .block(let block, let isBlocked):
      let statement = isBlocked ? peopleStatements.insertBlock : peopleStatements.deleteBlock
      statement.bind(1, block.person)
      statement.bind(2, block.blocked)
      try statement.run()
      return .done
    case .blocks: return .blocks(try blocks())
    case .online(let person, let time):
      peopleStatements.upsertOnline.bind(1, person)
      peopleStatements.upsertOnline.bind(2, Int(time))
      try peopleStatements.upsertOnline.run()
      return .done
    case .lastOnline(let people):
      var times: [Timestamp?] = []
      for person in people { times.append(try lastOnline(person)) }
      return .lastOnline(times)
    }
  }

  /// A publication's room and author, if it is kept.
  private func author(
    of place: PublicationPlace
  ) throws(StoreError) -> (room: Int, person: PersonID?)? {
    guard let room = try row(of: place.room) else { return nil }
    defer { peopleStatements.selectAuthor.reset() }
    peopleStatements.selectAuthor.bind(1, room.number)
    peopleStatements.selectAuthor.bind(2, place.offset)
    guard try peopleStatements.selectAuthor.step() else { return nil }
    return (room.number, peopleStatements.selectAuthor.optionalText(0))
  }

  private func note(
    _ receipt: Receipt, of place: PublicationPlace
  ) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    if let known = try stage(room, place.offset, receipt.person), known >= receipt.stage {
      return .receipt(
        Receipt(person: receipt.person, stage: known), author: author, isChanged: false)
    }
    peopleStatements.upsertReceipt.bind(1, room)
    peopleStatements.upsertReceipt.bind(2, place.offset)
    peopleStatements.upsertReceipt.bind(3, receipt.person)
    peopleStatements.upsertReceipt.bind(4, receipt.stage.rawValue)
    try peopleStatements.upsertReceipt.run()
    return .receipt(receipt, author: author, isChanged: true)
  }

  private func stage(
    _ room: Int, _ offset: Int, _ person: PersonID
  ) throws(StoreError) -> ReceiptStage? {
    defer { peopleStatements.selectReceipt.reset() }
    peopleStatements.selectReceipt.bind(1, room)
    peopleStatements.selectReceipt.bind(2, offset)
    peopleStatements.selectReceipt.bind(3, person)
    guard try peopleStatements.selectReceipt.step() else { return nil }
    return ReceiptStage(rawValue: peopleStatements.selectReceipt.integer(0))
  }

  private func receipts(of place: PublicationPlace) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    defer { peopleStatements.selectReceipts.reset() }
    peopleStatements.selectReceipts.bind(1, room)
    peopleStatements.selectReceipts.bind(2, place.offset)
    var receipts: [Receipt] = []
    while try peopleStatements.selectReceipts.step() {
      guard let stage = ReceiptStage(rawValue: peopleStatements.selectReceipts.integer(1)) else {
        throw .damaged("a receipt has a state that is none; \(damageAdvice)")
      }
      receipts.append(Receipt(person: peopleStatements.selectReceipts.text(0), stage: stage))
    }
    return .receipts(receipts, author: author)
  }

  private func keep(
    _ flag: PublicationFlag, in name: RoomName
  ) throws(StoreError) -> PeopleReply {
    let place = PublicationPlace(room: name, offset: flag.offset)
    guard let (room, _) = try author(of: place) else { return .unknownPublication }
    peopleStatements.upsertFlag.bind(1, room)
    peopleStatements.upsertFlag.bind(2, flag.offset)
    peopleStatements.upsertFlag.bind(3, flag.person)
    peopleStatements.upsertFlag.bind(4, flag.reason)
    peopleStatements.upsertFlag.bind(5, Int(flag.time))
    try peopleStatements.upsertFlag.run()
    return .done
  }

  private func flags(in name: RoomName, limit: Int) throws(StoreError) -> [PublicationFlag] {
    guard let room = try row(of: name) else { return [] }
    defer { peopleStatements.selectFlags.reset() }
    peopleStatements.selectFlags.bind(1, room.number)
    peopleStatements.selectFlags.bind(2, limit)
    var flags: [PublicationFlag] = []
    while try peopleStatements.selectFlags.step() {
      flags.append(
        PublicationFlag(
          offset: peopleStatements.selectFlags.integer(0),
          person: peopleStatements.selectFlags.text(1),
          reason: peopleStatements.selectFlags.text(2),
          time: Timestamp(peopleStatements.selectFlags.integer(3))))
    }
    return flags
  }

  private func members(of name: RoomName) throws(StoreError) -> [PersonID] {
    guard let room = try row(of: name) else { return [] }
    defer { peopleStatements.selectMembers.reset() }
    peopleStatements.selectMembers.bind(1, room.number)
    var members: [PersonID] = []
    while try peopleStatements.selectMembers.step() {
      members.append(peopleStatements.selectMembers.text(0))
    }
    return members
  }

  private func blocks() throws(StoreError) -> [PersonBlock] {
    defer { peopleStatements.selectBlocks.reset() }
    var blocks: [PersonBlock] = []
    while try peopleStatements.selectBlocks.step() {
      blocks.append(
        PersonBlock(
          person: peopleStatements.selectBlocks.text(0),
          blocked: peopleStatements.selectBlocks.text(1)))
    }
    return blocks
  }

  private func lastOnline(_ person: PersonID) throws(StoreError) -> Timestamp? {
    defer { peopleStatements.selectOnline.reset() }
    peopleStatements.selectOnline.bind(1, person)
    guard try peopleStatements.selectOnline.step() else { return nil }
    return Timestamp(peopleStatements.selectOnline.integer(0))
  }
}
