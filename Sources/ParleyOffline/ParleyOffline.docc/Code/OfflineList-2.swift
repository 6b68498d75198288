import Foundation
import ParleyOffline
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
  @State private var contacts: [Contact] = []

  var body: some View {
    List {
      ForEach(contacts) { contact in Text(contact.name) }
    }
    .task {
      do {
        for try await list in repository.fetchAll() { contacts = list }
      } catch {
        contacts = []
      }
    }
  }
}

@main struct ContactsApp: App {
  @State private var contacts = try? openContacts()

  var body: some Scene {
    WindowGroup { if let contacts { ContactsView(repository: contacts) } }
  }
}
