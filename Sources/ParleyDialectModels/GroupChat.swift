/// The models of group chats over Bayeux, with the names of their fields on the wire.
public enum GroupChat {
  /// The name and the id of the user who speaks for the service.
  public static let systemName = "GroupMe"
  /// The id of the user who speaks for the service.
  public static let systemUserID = "system"
  /// Messages on one page of a group's history.
  public static let pageMessages = 20
}
