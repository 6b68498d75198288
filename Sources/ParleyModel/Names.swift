/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Timestamp = Int64

/// The name of a room: an opaque string.
public typealias RoomName = String

/// The id of a person: the user of a token, or a client's id where nobody has one.
public typealias PersonID = String
