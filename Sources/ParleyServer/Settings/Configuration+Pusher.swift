import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyPusher

/// Apps of Pusher's protocol.
extension Configuration {
  /// The apps' profiles.
  var pusherProfiles: [PusherProfile] { pusherApps.compactMap { try? PusherProfile($0) } }

  /// The apps, with their secrets.
  ///
  /// - Throws: `JWTKeyError` for a file that holds no usable secret.
  func readPusherApps() throws(JWTKeyError) -> [PusherApp] {
    var apps: [PusherApp] = []
    for profile in pusherProfiles { apps.append(try profile.app()) }
    return apps
  }

  /// Checks that no two apps are taken for each other.
  func validatePusherApps() throws(ConfigurationError) {
    let profiles = pusherProfiles
    for (index, profile) in profiles.enumerated() {
      for other in profiles[..<index] {
        guard profile.key != other.key, profile.id != other.id,
          !profile.roomPrefix.utf8.starts(with: other.roomPrefix.utf8),
          !other.roomPrefix.utf8.starts(with: profile.roomPrefix.utf8)
        else {
          throw .conflict(
            "pusher-app expects another key, id and rooms for each app; \(profile.key) and "
              + "\(other.key) share some")
        }
      }
    }
  }
}
