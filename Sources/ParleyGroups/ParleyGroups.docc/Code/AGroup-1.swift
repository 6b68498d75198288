import ParleyGroups
import ParleyOffline

func open() throws -> GroupData {
  try GroupData(
    OfflineStore(named: "ann"), user: "ann", "https://notes.example.org/api"
  ) { _ in Credentials(user: "ann", token: "…") }
}
