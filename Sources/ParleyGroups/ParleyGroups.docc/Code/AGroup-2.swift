import ParleyGroups
import ParleyOffline

func plan(_ data: GroupData) async throws {
  let hikers = ChatGroup(name: "Hikers")
  try await data.createGroup(hikers)
  try await data.add([ChatMember(group: hikers.id, personId: "ben", nickname: "Ben")])
  try await data.send("Sunday at nine?", to: hikers.id)
}
