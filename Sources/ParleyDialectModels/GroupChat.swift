/// The models of group chats over Bayeux, with the wire's field names.
public enum GroupChat {
  /// The name of the user that represents the service.
  public static let systemName = "GroupMe"
  /// The id of the user that represents the service.
  public static let systemUserID = "system"
  /// Maximum messages on one page of a group's history.
  public static let pageMessages = 20
}
