import ParleyGatewayPorts

extension Route {
  /// All routes of the HTTP API. A test compares them with `openapi.json`.
  package static let all: [Route] = [
    // Notes.
    Route("GET", "/api/notes", .notes(.read)) { try $0.notes.listNotes($1) },
    Route("POST", "/api/notes", .newNote(.manage), .json) { try $0.notes.createNote($1) },
    Route("GET", "/api/notes/{id}", .note(.read)) { try $0.notes.readNote($1) },
    Route("PUT", "/api/notes/{id}", .chosenNote(.manage), .json) { try $0.notes.putNote($1) },
    Route("PATCH", "/api/notes/{id}", .note(.manage), .json) { try $0.notes.describeNote($1) },
    Route("DELETE", "/api/notes/{id}", .note(.manage)) { try $0.notes.deleteNote($1) },
    Route("GET", "/api/search", .notes(.read)) { try $0.search.find($1) },

    // Folders of notes.
    Route("GET", "/api/folders", .notes(.read)) { try $0.folders.list($1) },
    Route("POST", "/api/folders/move", .folders(.manage), .json) { try $0.folders.moveAll($1) },

    Route("GET", "/api/tags", .notes(.read)) { try $0.search.listTags($1) },

    // Texts of notes.
    Route("GET", "/api/notes/{id}/text", .note(.read)) { try $0.notes.readText($1) },
    Route("PUT", "/api/notes/{id}/text", .note(.write), .text, evaluatesIfMatch: true) {
      try $0.notes.replaceText($1)
    },
    Route("POST", "/api/notes/{id}/changes", .note(.write), .json, evaluatesIfMatch: true) {
      try $0.notes.changeText($1)
    },

    // Files of notes.
    Route("GET", "/api/notes/{id}/files", .note(.read)) { try $0.files.list($1) },
    Route("POST", "/api/notes/{id}/files", .note(.write), .bytes) { try $0.files.upload($1) },
    Route("GET", "/api/notes/{id}/files/{hash}/{name}", .note(.read)) { try $0.files.read($1) },

    // Comments on notes.
    Route("GET", "/api/notes/{id}/comments", .note(.read)) { try $0.comments.list($1) },
    Route("POST", "/api/notes/{id}/comments", .note([.read, .comment]), .json) {
      try $0.comments.make($1)
    },
    Route("PATCH", "/api/notes/{id}/comments/{comment}", .note([.read, .comment]), .json) {
      try $0.comments.change($1)
    },
    Route("DELETE", "/api/notes/{id}/comments/{comment}", .note([.read, .comment])) {
      try $0.comments.remove($1)
    },

    // Notices of the caller.
    Route("GET", "/api/notices", .person) { try $0.notices.list($1) },
    Route("GET", "/api/notices/unread", .person) { try $0.notices.countUnread($1) },
    Route("POST", "/api/notices/read", .person, .json) { try $0.notices.markRead($1) },

    // History of notes.
    Route("GET", "/api/notes/{id}/history", .note(.read)) { try $0.notes.readHistory($1) },
    Route("GET", "/api/notes/{id}/sessions", .note(.read)) { try $0.notes.readSessions($1) },
    Route("GET", "/api/notes/{id}/diff", .note(.read)) { try $0.notes.readDifference($1) },
    Route("GET", "/api/notes/{id}/versions", .note(.read)) { try $0.notes.listVersions($1) },
    Route("POST", "/api/notes/{id}/versions", .note(.write), .json) {
      try $0.notes.nameVersion($1)
    },
    Route("DELETE", "/api/notes/{id}/versions/{revision}", .note(.write)) {
      try $0.notes.deleteVersion($1)
    },
    Route("POST", "/api/notes/{id}/restore", .note(.write), .json) { try $0.notes.restore($1) },

    // Links to notes.
    Route("GET", "/api/notes/{id}/share", .note(.manage)) { try $0.links.list($1) },
    Route("POST", "/api/notes/{id}/share", .note(.manage), .json) { try $0.notes.share($1) },
    Route("DELETE", "/api/notes/{id}/share", .note(.manage)) { try $0.links.endAll($1) },
    Route("DELETE", "/api/notes/{id}/share/{link}", .note(.manage)) { try $0.links.end($1) },
    Route("POST", "/api/links/open", .link, .json, page: .link),

    // Names of published notes.
    Route("GET", "/api/notes/{id}/name", .note(.manage)) { try $0.links.tellName($1) },
    Route("PUT", "/api/notes/{id}/name", .note([.read, .manage]), .json) {
      try $0.links.publish($1)
    },
    Route("DELETE", "/api/notes/{id}/name", .note(.manage)) { try $0.links.withdrawName($1) },
    Route("GET", "/api/names/{name}", .setting, page: .publicName),

    // Deleted notes.
    Route("GET", "/api/deleted", .notes(.manage)) { try $0.notes.listDeleted($1) },
    Route("POST", "/api/deleted/{id}/restore", .note(.manage)) { try $0.notes.bringBack($1) },
    Route("DELETE", "/api/deleted/{id}", .note(.manage)) { try $0.notes.removeDeleted($1) },

    // Rooms.
    Route("POST", "/api/rooms/{room}/publish", .room(.publish), .json) { try $0.rooms.publish($1) },
    Route("GET", "/api/rooms/{room}/history", .room(.read)) { try $0.rooms.readRoomHistory($1) },
    Route("GET", "/api/rooms/{room}/presence", .room(.presence)) {
      try $0.rooms.readRoomPresence($1)
    },
    Route("POST", "/api/publish", .rooms(.publish), .json) { try $0.rooms.publishBatch($1) },

    // Values of rooms, and signals.
    Route("GET", "/api/rooms/{room}/values", .room(.read)) { try $0.values.read($1) },
    Route("PATCH", "/api/rooms/{room}/values", .room(.publish), .json) {
      try $0.values.change($1)
    },
    Route("POST", "/api/rooms/{room}/signal", .room(.signal), .json) { try $0.values.signal($1) },

    // Groups, likes and read positions.
    Route("GET", "/api/groups", .person) { try $0.groups.listGroups($1) },
    Route("GET", "/api/rooms/{room}/group", .room(.read)) { try $0.groups.readGroup($1) },
    Route("PUT", "/api/rooms/{room}/group", .room(.publish), .json) { try $0.groups.putGroup($1) },
    Route("DELETE", "/api/rooms/{room}/group", .room(.publish)) { try $0.groups.deleteGroup($1) },
    Route("GET", "/api/rooms/{room}/members", .room(.read)) { try $0.groups.listMembers($1) },
    Route("PUT", "/api/rooms/{room}/members", .room(.publish), .json) {
      try $0.groups.putMember($1)
    },
    Route("DELETE", "/api/rooms/{room}/members", .room(.publish)) {
      try $0.groups.removeMember($1)
    },
    Route("GET", "/api/rooms/{room}/likes", .room(.read)) { try $0.groups.listLikes($1) },
    Route("PUT", "/api/rooms/{room}/likes", .room(.publish), .json) { try $0.groups.like($1) },
    Route("DELETE", "/api/rooms/{room}/likes", .room(.publish)) { try $0.groups.unlike($1) },
    Route("PUT", "/api/rooms/{room}/read", .room(.read), .json) { try $0.groups.noteRead($1) },
    // After the others: a room's name may end with the word values.
    Route("GET", "/api/rooms/{room}/values/{name}", .room(.read)) { try $0.values.readOne($1) },
    Route("GET", "/api/badges", .person) { try $0.groups.listBadges($1) },

    // The caller's own sessions.
    Route("GET", "/api/sessions", .person) { try $0.sessions.list($1) },
    Route("DELETE", "/api/sessions", .person) {
      try $0.sessions.end(.others(than: $1.identity.tokenID ?? ""), for: $1)
    },
    Route("DELETE", "/api/sessions/{id}", .person) {
      try $0.sessions.end(.one($1.name), for: $1)
    },

    // For operators.
    Route("GET", "/api/connections", .operatorKey) { try $0.operators.listConnections($1) },
    Route("POST", "/api/connections/{id}/disconnect", .operatorKey, .json) {
      try $0.operators.disconnectConnection($1)
    },
    Route("POST", "/api/users/{user}/disconnect", .operatorKey, .json) {
      try $0.operators.disconnectUser($1)
    },
    Route("POST", "/api/users/{user}/refresh-rights", .operatorKey, .json) {
      try $0.operators.refreshRightsOfUser($1)
    },
    Route("GET", "/api/rooms", .operatorKey) { try $0.operators.listRooms($1) },
    Route("POST", "/api/revoke", .operatorKey, .json) { try $0.operators.revoke($1) },
    Route("POST", "/api/tokens", .operatorKey, .json) { try $0.operators.makeToken($1) },
    Route("GET", "/api/audit", .operatorKey) { try $0.audit.list($1) },
    Route("GET", "/api/stats", .operatorKey, page: .statistics),

    // Signing in, and information about the server.
    Route("POST", "/api/user/login", .password, .json, page: .login),
    Route("POST", "/api/user/refresh", .refreshToken, .json, page: .refresh),
    Route("POST", "/api/user/logout", .refreshToken, .json, page: .logout),
    Route("POST", "/api/user/join", .invitation, .json, page: .join),
    Route("POST", "/api/user/password", .password, .json, page: .password),
    Route("POST", "/api/user/forgot", .nothing, .json, page: .forgot),
    Route("POST", "/api/user/reset", .reset, .json, page: .reset),
    Route("POST", "/api/user/name", .refreshToken, .json, page: .name),
    Route("GET", "/api/user/ways", .nothing, page: .ways),
    Route("GET", "/api/user/provider", .nothing, page: .provider),
    Route("GET", "/api/user/provider/return", .provider, page: .providerReturn),
    Route("POST", "/api/user/provider", .provider, .json, page: .provider),
    Route("GET", "/api/openapi.json", .nothing, page: .description),
    Route("GET", "/sdk/version.json", .nothing, page: .version),
    Route("GET", "/health", .nothing, page: .health),
    Route("GET", "/ready", .nothing, page: .readiness),
    Route("GET", "/metrics", .setting, page: .metrics),
  ]
}
