import ParleyClient
import ParleyGroups
import ParleyOffline

func show(_ group: ResourceID, _ data: GroupData) async throws {
  for try await lines in data.fetchMessages(of: group) {
    for line in lines { print(line.personId ?? "?", line.text ?? "") }
  }
}

@MainActor func follow(_ group: ResourceID, _ data: GroupData, _ parley: Parley) async {
  await data.follow(parley.room(GroupData.room(of: group)).updates)
}
