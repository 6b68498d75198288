import Foundation
import SwiftUI

struct Contact: Codable, Identifiable, Sendable {
  var id: Int
  var name: String
}

struct ContactsView: View {
  @State private var contacts: [Contact] = []

  var body: some View {
    List {
      ForEach(contacts) { contact in Text(contact.name) }
    }
    .task {
      guard let address = URL(string: "https://api.example.org/v1/contacts"),
        let (data, _) = try? await URLSession.shared.data(from: address)
      else { return }
      contacts = (try? JSONDecoder().decode([Contact].self, from: data)) ?? []
    }
  }
}

@main struct ContactsApp: App {
  var body: some Scene { WindowGroup { ContactsView() } }
}
