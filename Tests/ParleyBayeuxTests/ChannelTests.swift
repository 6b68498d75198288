import ParleyBayeux
import Testing

@Suite("Channels")
struct ChannelTests {
  @Test(
    "names and patterns of channels are accepted",
    arguments: ["/a", "/user/185", "/direct_message/1_2", "/a/*", "/a/**", "/-_!~()$@", "/*"])
  func names(text: String) { #expect(BayeuxChannel(text) != nil) }

  @Test(
    "malformed channels are rejected",
    arguments: [
      "", "/", "a", "//", "/a/", "/a//b", "/a?b", "/*/a", "/a*", "/a/***", "/é", "/a b", "/a/**/b",
    ])
  func noNames(text: String) { #expect(BayeuxChannel(text) == nil) }

  @Test(
    "* matches one segment, and ** matches one or more",
    arguments: [
      ("/a/*", "/a/b", true), ("/a/*", "/a/b/c", false), ("/a/*", "/a", false),
      ("/a/**", "/a/b", true), ("/a/**", "/a/b/c", true), ("/a/**", "/ab/c", false),
      ("/*", "/a", true), ("/*", "/a/b", false), ("/**", "/a/b", true), ("/a", "/a", true),
      ("/a", "/b", false), ("/user/ad", "/user/ada", false), ("/user/ada", "/user/ad", false),
      ("/user/ad/*", "/user/ada", false), ("/user/ad/**", "/user/ada/b", false),
    ])
  func matching(pattern: String, name: String, matches: Bool) throws {
    let pattern = try #require(BayeuxChannel(pattern))
    #expect(pattern.matches(try #require(BayeuxChannel(name))) == matches)
  }

  @Test(
    "every room has a channel, and that channel names the room",
    arguments: [
      "/user/185", "acc-1", "/companies/c/workspaces/w/channels?type=public&user=a=b", "a!b",
      "/a!3F",
      "previous::channels/x", "é", "/a//b/", "//", "/", "*", "/a/*", "/a/**", "/!00/x", "!00", "",
      "/a/!41", "/\u{0}/", "/\u{0}/x", "/\u{0}x", "\u{0}", "/!00/", "!00/x",
    ])
  func rooms(room: String) throws {
    let channel = BayeuxChannel(room: room)
    if room.isEmpty { return }
    let named = try #require(channel)
    #expect(!named.isPattern)
    #expect(named.room.utf8.elementsEqual(room.utf8), "\(named.text)")
  }

  @Test("a room whose name is also a valid channel has that channel")
  func same() throws {
    #expect(try #require(BayeuxChannel(room: "/group/9")).text == "/group/9")
    #expect(
      try #require(BayeuxChannel(room: "/c?type=public")).text == "/c!3Ftype!3Dpublic")
  }
}
