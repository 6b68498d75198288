import Foundation
import Testing

@Suite("Privacy manifests")
struct PrivacyTests {
  /// Functions for which Apple's systems want a reason, by the category that a privacy manifest
  /// names.
  private static let categories = [
    "FileTimestamp": ["stat(", "getattrlist", "contentModificationDate"],
    "SystemBootTime": ["systemUptime", "mach_absolute_time"],
    "DiskSpace": ["statfs(", "statvfs(", "volumeAvailableCapacity"],
    "UserDefaults": ["UserDefaults"], "ActiveKeyboards": ["activeInputModes"],
  ]

  @Test("a module's privacy manifest has the functions that it calls, and no others")
  func privacy() throws {
    // The clients' other modules call nothing of the system.
    let clients = ["Locks", "Client", "Offline", "UI", "Chat", "Groups", "TwakeCubits"]
    for module in clients.map({ "Parley\($0)" }) {
      let folder = AppleTests.root.appendingPathComponent("Sources/\(module)")
      var code = ""
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files)
      where file.pathExtension == "swift" && !file.path.contains(".docc/") {
        code += try String(contentsOf: file, encoding: .utf8)
      }
      let manifest = (try? AppleTests.text("Sources/\(module)/PrivacyInfo.xcprivacy")) ?? ""
      for (category, functions) in Self.categories {
        #expect(
          functions.contains { code.range(of: $0) != nil }
            == manifest.contains("NSPrivacyAccessedAPICategory\(category)<"),
          "\(module): \(category)")
      }
    }
  }
}
