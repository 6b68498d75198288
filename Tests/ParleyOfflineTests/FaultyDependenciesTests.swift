import CParleySQLite
import Foundation
import ParleyJSON
import ParleyClient
import Synchronization
import Testing

import ParleyOffline

/// Dependencies at their worst: answers of any size, a full disk, another process on the store, a wrong
/// clock, another person's token.
@Suite("Faulty dependencies", .serialized, .timeLimit(.minutes(30)))
struct FaultyDependenciesTests {
  private let folder = TemporaryFolder()

  // MARK: Answers

  private static let megabyte = 1 << 20

  /// A server that answers each request with a head, and a body of so many bytes after a start.
  private func server(
    _ head: String, _ start: String, count: Int, _ end: String
  ) throws -> BackEnd {
    let body = Array(start.utf8) + [UInt8](repeating: 0x78, count: count) + Array(end.utf8)
    let head = Array("HTTP/1.1 \(head)\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
    let backEnd = try BackEnd()
    backEnd.state.withLock { $0.raw = head + body }
    return backEnd
  }

  @Test("a list of 50 MB is read and stored")
  func largeList() async throws {
    let count = 50 * Self.megabyte
    let backEnd = try server("200 OK", #"[{"id":1,"name":""#, count: count, #""}]"#)
    defer { backEnd.close() }
    let service = RESTService(backEnd.address)
    let outbox = try Outbox(OfflineStore(folder: folder.path), user: "ann", sender: service)
    let contacts = Repository<Contact>(RESTSource(service, "contacts"), "contacts", in: outbox)
    var lists = contacts.fetchAll(.networkOnly).makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name.utf8.count) == [count])
    var kept = contacts.fetchAll(.cacheOnly).makeAsyncIterator()
    #expect(try await kept.next()?.map(\.name.utf8.count) == [count])
  }

  @Test("a list longer than the limit of answers is rejected, and the stored list stays")
  func endlessList() async throws {
    let backEnd = try server("200 OK", #"[{"id":1,"name":""#, count: 70 * Self.megabyte, #""}]"#)
    defer { backEnd.close() }
    let service = RESTService(backEnd.address)
    let store = try OfflineStore(folder: folder.path)
    let outbox = try Outbox(store, user: "ann", sender: service)
    let interface = CachedInterface<Contact>(
      "contacts", RESTSource(service, "contacts"), in: store)
    try await interface.keep([Contact(id: 1, name: "Ada")], for: .all, as: "ann")
    let contacts = Repository(interface, in: outbox)
    var problems = await contacts.fetchProblems.makeAsyncIterator()
    #expect(await problems.next() == .some(nil))
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name) == ["Ada"])
    guard case .unreachable(let reason)? = await problems.next() else {
      Issue.record("no problem")
      return
    }
    #expect(reason.contains("over 67108864 bytes"))
  }

  @Test("an answer of 50 MB to a change is read, and a long reason of a refusal is shortened")
  func largeAnswers() async throws {
    let count = 50 * Self.megabyte
    let request = MutationRequest(
      key: "k", user: "ann", kind: .create, resource: "contacts", id: nil,
      body: Array(#"{"name":"Ada"}"#.utf8), base: nil)
    let made = try server("201 Created", #"{"id":7,"name":""#, count: count, #""}"#)
    defer { made.close() }
    guard case .done(let id, let body, _) = await RESTService(made.address).send(request) else {
      Issue.record("it was not made")
      return
    }
    #expect(id == 7)
    #expect((body?.count ?? 0) > count)
    let refusing = try server("422 No", #"{"message":""#, count: count, #""}"#)
    defer { refusing.close() }
    let refusal = await RESTService(refusing.address).send(request)
    #expect(refusal == .refused(status: 422, reason: String(repeating: "x", count: 300)))
    let failing = try server("500 No", "", count: count, "")
    defer { failing.close() }
    #expect(await RESTService(failing.address).send(request) == .busy())
  }

  // MARK: Disks

  @Test("while the disk is full changes are refused and fetched lists shown; free space ends this")
  func fullStore() async throws {
    let server = FakeServer()
    server.set { $0.contacts = [Contact(id: 1, name: "Ada")] }
    let store = try OfflineStore(folder: folder.path)
    let outbox = try Outbox(store, user: "ann", sender: server)
    let contacts = Repository(server.source, "contacts", in: outbox)
    var lists = contacts.fetchAll().makeAsyncIterator()
    #expect(try await lists.next()?.map(\.name) == ["Ada"])
    // As many pages as it has now.
    try store.perform { (file) throws(OfflineStoreError) in
      try file.execute("PRAGMA max_page_count = 1")
    }
    let large = Contact(name: String(repeating: "x", count: 100_000))
    await #expect(throws: OutboxError.storage(.full)) { try await contacts.save(large) }
    #expect(await outbox.count == 0)
    server.set { $0.contacts.append(large) }
    await contacts.refresh()
    #expect(try await lists.next()?.map(\.name.utf8.count) == [3, 100_000])
    try store.perform { (file) throws(OfflineStoreError) in
      try file.execute("PRAGMA max_page_count = 1000000")
    }
    let bea = Contact(name: "Bea")
    for await _ in try await contacts.save(bea) {}
    #expect(server.state.withLock { $0.requests.count } == 1)
    #expect(await outbox.count == 0)
  }

  /// Whether a file system of its own can be had here.
  private static let mayMount: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments = ["-rm", "sh", "-c", "mount -t tmpfs -o size=16k none /mnt"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  @Test("stored changes and edits survive a disk that becomes full", .enabled(if: mayMount))
  func fullDisk() async throws {
    let script = """
      mount -t tmpfs -o size=600k none "$FOLDER" || exit 9
      "$VICTIM" "$PARLEY" http://127.0.0.1:1 "$FOLDER" 0 100000
      echo "ended $?"
      mount -o remount,size=64m "$FOLDER" || exit 9
      exec "$VICTIM" "$PARLEY" "$API" "$FOLDER" 100000 0
      """
    try await filled(by: "/usr/bin/unshare", ["-rm", "sh", "-c", script], full: "disk is full")
  }

  @Test("stored changes and edits survive a file that may not grow further")
  func largestFile() async throws {
    let script = """
      (trap '' XFSZ; ulimit -f 800; exec "$VICTIM" "$PARLEY" http://127.0.0.1:1 "$FOLDER" 0 100000)
      echo "ended $?"
      exec "$VICTIM" "$PARLEY" "$API" "$FOLDER" 100000 0
      """
    try await filled(by: "/bin/sh", ["-c", script], full: "device's disk")
  }

  /// Runs a script in which one process fills the disk, and the next one has room again.
  private func filled(by program: String, _ arguments: [String], full words: String) async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let helper = try Helper(
      URL(fileURLWithPath: program), arguments,
      environment: [
        "FOLDER": folder.path, "VICTIM": Helper.program("parley-offline-victim").path,
        "PARLEY": server.address, "API": backEnd.address,
      ])
    var (kept, edited): (Set<Int>, Set<Int>) = ([], [])
    var others: [String] = []
    while let line = await helper.line() {
      let words = line.split(separator: " ")
      if words.count == 2, let number = Int(words[1]), words[0] == "kept" {
        kept.insert(number)
      } else if words.count == 2, let number = Int(words[1]), words[0] == "edited" {
        edited.insert(number)
      } else {
        others.append(line)
      }
    }
    #expect(others.count == 5, "\(others)")
    #expect(others.first == "open")
    #expect(others.dropFirst().first?.contains(words) == true, "\(others)")
    #expect(others.dropFirst(2) == ["ended 3", "open", "done"])
    #expect(!kept.isEmpty)
    let made = backEnd.made.compactMap { line in
      line.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) }
    }
    #expect(Set(made).count == made.count, "changes came twice")
    #expect(kept.subtracting(made).isEmpty, "kept changes are missing")
    let text = try await ParleyService(server.address, as: "B", timeout: .seconds(600)).note("n")
      .text()
    let edits = text.split(separator: "<").compactMap { Int($0.dropLast()) }
    #expect(Set(edits).count == edits.count, "edits came twice")
    #expect(edited.subtracting(edits).isEmpty, "confirmed edits are missing")
  }

  // MARK: Processes

  @Test("a second process on a store is refused, and the first process is not disturbed")
  func twoProcesses() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    func open(_ first: Int, count: Int) throws -> Helper {
      try Helper(
        "parley-offline-victim",
        [server.address, backEnd.address, folder.path, "\(first)", "\(count)"])
    }
    let first = try open(0, count: 100_000)
    #expect(await first.shows("edited 3"))
    for number in 1...3 {
      let second = try open(100_000 * number, count: 1)
      #expect(await second.line() == "refused: \(OfflineStoreError.inUse)")
      #expect(await second.line() == nil)
    }
    #expect(await first.shows("edited 20"))
    first.kill()
    let third = try open(900_000, count: 1)
    #expect(await third.shows("done"))
    let made = backEnd.made.compactMap { line in
      line.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) }
    }
    #expect(Set(made).count == made.count)
    #expect(Set(made).isSuperset(of: 0...20))
    #expect(made.filter { $0 >= 100_000 } == [900_000])
  }

  // MARK: Clocks

  @Test(
    "a device whose clock is a day off sends everything, with a token expired by that clock",
    arguments: [-86_400, 86_400])
  func clock(seconds: Int) async throws {
    let server = try GatewayProgram(
      "--hmac-secret-file", "secret", "--audience", "parley", "--clock-skew", "0s")
    let token = try server.token(for: "me", lasting: "10m")
    try await server.makeNote("n", token: token)
    let backEnd = try BackEnd()
    defer { backEnd.close() }
    backEnd.state.withLock {
      $0.token = token
      // Dates are the server's, whatever the device's clock says.
      $0.failures = [(503, "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n")]
    }
    let library = try shiftedClock()
    let helper = try Helper(
      "parley-offline-victim", [server.address, backEnd.address, folder.path, "0", "10"],
      environment: [
        "LD_PRELOAD": library, "CLOCK_SHIFT": "\(seconds)", "PARLEY_TOKEN": token,
      ])
    #expect(await helper.shows("done"))
    #expect(backEnd.made.count == 10)
    let text = try await ParleyService(server.address, as: "B", timeout: .seconds(600)) { token }
      .note("n").text()
    #expect(text == (0..<10).map { "<\($0)>" }.joined())
    // The clock it had was another one.
    let date = try Helper(
      URL(fileURLWithPath: "/bin/date"), ["+%s"],
      environment: ["LD_PRELOAD": library, "CLOCK_SHIFT": "\(seconds)"])
    let shown = await date.line().flatMap { Double($0) }
    let offset = try #require(shown) - Date().timeIntervalSince1970
    #expect(abs(offset - Double(seconds)) < 3_600)
  }

  /// A library that has a process see another time of day.
  private func shiftedClock() throws -> String {
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let (source, library) = (folder.path + "-clock.c", folder.path + "-clock.so")
    let code = """
      #define _GNU_SOURCE
      #include <stdlib.h>
      #include <sys/syscall.h>
      #include <sys/time.h>
      #include <time.h>
      #include <unistd.h>
      static long shift(void) { const char *text = getenv("CLOCK_SHIFT"); return text ? atol(text) : 0; }
      int clock_gettime(clockid_t clock, struct timespec *time) {
        long code = syscall(SYS_clock_gettime, clock, time);
        if (code == 0 && clock == CLOCK_REALTIME) time->tv_sec += shift();
        return code;
      }
      int gettimeofday(struct timeval *time, void *zone) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        time->tv_sec = now.tv_sec;
        time->tv_usec = now.tv_nsec / 1000;
        return 0;
      }
      time_t time(time_t *time) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        if (time) *time = now.tv_sec;
        return now.tv_sec;
      }
      """
    try Data(code.utf8).write(to: URL(fileURLWithPath: source))
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["cc", "-shared", "-fPIC", "-o", library, source]
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0, "a C compiler is needed")
    try FileManager.default.removeItem(atPath: source)
    return library
  }

  // MARK: People

  @Test("waiting changes of one person are sent with their own token, after they sign in again")
  @MainActor func otherPerson() async throws {
    let server = try GatewayProgram("--hmac-secret-file", "secret", "--audience", "parley")
    let tokens = ["ann": try server.token(for: "ann"), "ben": try server.token(for: "ben")]
    try await server.makeNote("n", token: tokens["ann"])
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let person = Person("ann")
    let store = try OfflineStore(folder: folder.path)
    let service = RESTService("http://127.0.0.1:\(proxy.port)/api") { _ in
      person.name.withLock { name in
        tokens[name].map { Credentials(user: name, token: $0) }
      }
    }
    // Its first try is over before another user signs in, and the next one is far away.
    let sender = LossySender(service, losing: 1)
    var settings = OutboxSettings()
    settings.pauseMin = 600_000
    settings.pauseMax = 600_000
    let outbox = try Outbox(store, user: "ann", sender: sender, settings: settings)
    let parley = Parley(proxy.address, as: "A", storage: store) {
      person.name.withLock { tokens[$0] }
    }
    let note = parley.note("n")
    try await note.opened()
    proxy.cut()
    await until { note.state == .offline }
    try note.append("of ann")
    let annsNote = try await outbox.add(
      MutationDraft(.create, "notes", .temporary(), body: Array(#"{"title":"of ann"}"#.utf8)))
    await sender.waitUntilLost(1)

    person.name.withLock { $0 = "ben" }
    service.signOut()
    await outbox.use(by: "ben")
    proxy.mend()
    parley.signedIn()
    await outbox.networkChanged()
    let bensNote = try await outbox.add(
      MutationDraft(.create, "notes", .temporary(), body: Array(#"{"title":"of ben"}"#.utf8)))
    for await _ in bensNote {}
    await until { parley.connection == .stopped(.otherPerson) || note.unsaved == 0 }
    #expect(parley.connection == .stopped(.otherPerson))
    #expect(note.unsaved == 1)
    #expect(await outbox.count == 1)
    #expect(try await titles(server, tokens["ben"]) == ["A note", "of ben"])
    let ben = ParleyService(server.address, as: "B", timeout: .seconds(600)) { tokens["ben"] }
    #expect(try await ben.note("n").text() == "")

    person.name.withLock { $0 = "ann" }
    service.signOut()
    await outbox.use(by: "ann")
    parley.signedIn()
    for await _ in annsNote {}
    try await note.saved()
    #expect(try await titles(server, tokens["ben"]) == ["A note", "of ann", "of ben"])
    #expect(try await ben.note("n").text() == "of ann")
  }

  private final class Person: Sendable {
    let name: Mutex<String>
    init(_ name: String) { self.name = Mutex(name) }
  }

  private func titles(_ server: GatewayProgram, _ token: String?) async throws -> [String] {
    let response = try await SystemWebTransport().send(
      WebRequest(
        "GET", "http://127.0.0.1:\(server.port)/api/notes",
        headers: [("Authorization", "Bearer \(token ?? "")")]))
    let notes = try #require(JSONFields(response.body)?["notes"]?.elements)
    return notes.compactMap { $0.fields?["title"]?.string }.sorted()
  }
}
