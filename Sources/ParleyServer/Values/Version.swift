/// The version of this program.
public enum Version {
  /// Major, minor and patch version (semver.org), as in the newest heading of CHANGELOG.md.
  public static let current = "0.1.0"
}
