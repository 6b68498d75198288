#if canImport(Darwin)
  import Darwin
  import Foundation
#else
  import Glibc
#endif

/// Folders for a client's data.
package enum DataFolder {
  /// Returns the path of the app's folder with a name: in *Application Support* on Apple's systems,
  /// otherwise in `$XDG_DATA_HOME` or `~/.local/share`.
  ///
  /// - Parameters:
  ///   - name: Any text; it is encoded as a file's name.
  ///   - variable: Returns an environment variable.
  package static func path(
    named name: String, variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) -> String {
    let name = "/" + FileStorage.name(of: name)
    #if canImport(Darwin)
      let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
      return URL.applicationSupportDirectory.path(percentEncoded: false) + app + name
    #else
      // The specification ignores relative paths.
      let data = variable("XDG_DATA_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
      let home = data ?? (variable("HOME") ?? "") + "/.local/share"
      let program = CommandLine.arguments.first?.split(separator: "/").last.map { String($0) }
      return home + "/" + (program ?? "parley") + name
    #endif
  }

  /// Creates a folder that only its owner may access, and those above it, if they do not exist;
  /// each is on disk when this returns.
  ///
  /// - Returns: `errno`; 0 for success.
  package static func make(_ folder: String) -> Int32 {
    guard mkdir(folder, 0o700) != 0 else { return syncParent(of: folder) }
    guard errno == ENOENT else { return errno == EEXIST ? 0 : errno }
    let path = folder.reversed().drop { $0 == "/" }
    let parent = String(path.drop { $0 != "/" }.drop { $0 == "/" }.reversed())
    guard !parent.isEmpty else { return ENOENT }
    let code = make(parent)
    guard code == 0 else { return code }
    guard mkdir(folder, 0o700) != 0 else { return syncParent(of: folder) }
    return errno == EEXIST ? 0 : errno
  }

  /// Without this a power cut could remove a new folder, with all synced files in it.
  private static func syncParent(of folder: String) -> Int32 {
    let file = open(folder + "/..", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return errno }
    defer { close(file) }
    return fsync(file) == 0 ? 0 : errno
  }

  /// Excludes a folder from backups, and makes its files readable in the background once the device
  /// was unlocked. Only on Apple's systems.
  ///
  /// A restored backup would continue from an older state, and could send edits twice.
  package static func protect(_ folder: String) {
    #if canImport(Darwin)
      var url = URL(filePath: folder, directoryHint: .isDirectory)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
      #if !os(macOS)
        try? FileManager.default.setAttributes(
          [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
          ofItemAtPath: folder)
      #endif
    #endif
  }
}
