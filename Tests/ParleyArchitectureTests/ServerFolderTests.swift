import Testing

/// The folders inside `ParleyServer`, in layers.
@Suite("Folders of the server")
struct ServerFolderTests {
  private static let table = FolderTable(
    root: "Sources/ParleyServer",
    allowed: [
      "Loops": [
        "Mail", "Operations", "Page", "Provider", "Settings", "SignIn", "Stores", "System",
        "Values",
        "Webhooks",
      ],
      "Operations": [
        "Provider", "Settings", "SignIn", "Stores", "System", "Values", "Webhooks",
      ],
      "Mail": ["Settings", "SignIn", "Stores", "System", "Values", "Webhooks"],
      "Page": ["System", "Values"],
      "Provider": ["SignIn", "System", "Values"],
      "Settings": ["Page", "Provider", "SignIn", "System", "Values"],
      "SignIn": ["System", "Values"],
      "Stores": ["Settings", "SignIn", "System"],
      "System": ["Values"],
      "Values": [],
      "Webhooks": ["Settings", "Stores", "System", "Values"],
    ])

  @Test("each folder names the folders that it may, and those alone")
  func names() throws { try Self.table.check(SourceTree()) }

  @Test("no folder is both above and below another")
  func order() { #expect(Self.table.circle.isEmpty, "a circle goes through some of these") }

  @Test("two folders that name each other are a circle")
  func pairs() {
    let table = FolderTable(root: "", allowed: ["A": ["B", "C"], "B": ["A", "C"], "C": []])
    #expect(table.circle == ["A", "B"])
  }
}
