import ParleyDialectModels

/// The user's selections and token, for all cubits of an app.
@MainActor public final class Globals: Cubit<Globals.Values> {
  /// The values.
  public struct Values: Sendable, Hashable {
    /// The selected company.
    public var companyID: String?
    /// The selected workspace.
    public var workspaceID: String?
    /// The selected channel.
    public var channelID: String?
    /// The selected thread.
    public var threadID: String?
    /// The token for requests.
    public var token: String?
    /// The user who is signed in.
    public var userID: String?

    /// Creates values without a selection.
    public init() {}
  }

  /// Creates globals. The app passes in values of an earlier process.
  public override init(_ values: Values = Values()) { super.init(values) }

  /// The number of sign-outs; responses to earlier requests are dropped, and not stored.
  package private(set) var session = 0

  /// Clears the values: no user is signed in.
  package func endSession() {
    session += 1
    emit(Values())
  }

  /// Changes values.
  public func set(_ change: (inout Values) -> Void) {
    var values = state
    change(&values)
    emit(values)
  }
}
