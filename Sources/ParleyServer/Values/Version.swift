/// The version of this Parley.
public enum Version {
  /// Major, minor, patch (semver.org); the same as the newest heading in CHANGELOG.md.
  public static let current = "0.1.0"
}
