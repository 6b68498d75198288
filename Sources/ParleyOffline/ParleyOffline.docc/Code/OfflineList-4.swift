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
  @State private var model: RepositoryModel<Contact>
  @State private var name = ""

  init(_ repository: Repository<Contact>) {
    _model = State(initialValue: RepositoryModel(repository, by: { $0.name < $1.name }))
  }

  var body: some View {
    VStack {
      TextField("New contact", text: $name).onSubmit {
        let contact = Contact(name: name)
        name = ""
        Task { await model.save(contact) }
      }
      RepositoryList(model) { contact in Text(contact.name) }
    }
  }
}

@main struct ContactsApp: App {
  @State private var contacts = try? openContacts()

  var body: some Scene {
    WindowGroup { if let contacts { ContactsView(contacts) } }
  }
}
