import Foundation
import ParleyOffline
import ParleyUI
import SwiftUI

struct Contact: OfflineModel {
  var id = ResourceID.temporary()
  var name: String
}

func openContacts() throws -> Repository<Contact> {
  let folder = URL.applicationSupportDirectory.appending(path: "contacts").path
  let service = RESTService("https://api.example.org/v1")
  let outbox = try Outbox(OfflineStore(folder: folder), user: "ann", sender: service)
  return Repository(RESTSource(service, "contacts"), "contacts", in: outbox)
}

struct ContactsView: View {
  let repository: Repository<Contact>

  var body: some View {
    RepositoryList(repository) { contact in Text(contact.name) }
  }
}

@main struct ContactsApp: App {
  @State private var contacts = try? openContacts()

  var body: some Scene {
    WindowGroup { if let contacts { ContactsView(repository: contacts) } }
  }
}
