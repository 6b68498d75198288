import ParleyGatewayPorts
import Glibc
import ParleyLocks
import ParleyServer
import Testing

@Suite("Revocations that loops share")
struct SharedRevocationsTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/revocations" }

  private func open() throws -> SharedRevocations {
    try SharedRevocations(path: path, hasOthers: false, log: SilentLog())
  }

  private func identity(_ id: String) -> Identity {
    Identity(user: "ada", tokenID: id, issuedAt: 1, grants: [])
  }

  /// Records the results of additions, in order.
  private final class Answers: Sendable {
    private let all = Monitor<[RevocationError?]>([])

    func take(_ failure: RevocationError?) {
      all.withLock { $0.append(failure) }
      all.signal()
    }

    func first(_ count: Int) -> [RevocationError?] {
      all.wait(until: { $0.count >= count }, then: { $0 })
    }

    var now: [RevocationError?] { all.withLock { $0 } }
  }

  @Test("no call waits for a file that is locked, or a disk that hangs")
  func waitsForNobody() throws {
    let answers = Answers()
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    let revocations = try open()
    for number in 1...3 { revocations.add([.token("t\(number)")], then: answers.take) }
    revocations.refresh(now: 5_000)
    // These calls are made on this thread, as on a loop's, and must not block.
    #expect(!revocations.isRevoked(identity("t1")))
    #expect(revocations.generation == 0)
    #expect(answers.now.isEmpty)
    flock(descriptor, LOCK_UN)
    close(descriptor)
    #expect(answers.first(3) == [nil, nil, nil])
    for number in 1...3 { #expect(revocations.isRevoked(identity("t\(number)"))) }
    revocations.stop()
    let again = try RevocationFile(path: path)
    for number in 1...3 { #expect(again.isRevoked(identity("t\(number)"))) }
  }

  @Test("the number of revocations that wait for the disk is limited")
  func bounded() throws {
    let answers = Answers()
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    let revocations = try open()
    // The thread may already have taken some when the others arrive.
    let count = 2 * SharedRevocations.additionsMax + 2
    for number in 0..<count { revocations.add([.token("t\(number)")], then: answers.take) }
    #expect(!answers.now.isEmpty && answers.now.allSatisfy { $0 == .busy })
    flock(descriptor, LOCK_UN)
    close(descriptor)
    let all = answers.first(count)
    #expect(all.contains(nil))
    revocations.stop()
    let kept = all.count { $0 == nil }
    #expect(try RevocationFile(path: path).all.count == kept)
  }

  @Test("a revocation that cannot be stored is refused; those of other processes apply")
  func unwritable() throws {
    let answers = Answers()
    let broken = try SharedRevocations(
      path: path + "/no/such/folder", hasOthers: false, log: SilentLog())
    broken.add([.token("t")], then: answers.take)
    #expect(answers.first(1) == [.unwritable])
    #expect(!broken.isRevoked(identity("t")))
    broken.stop()
    let revocations = try open()
    #expect(RevocationFile.append(.token("t"), to: path))
    revocations.refresh(now: 5_000)
    // `stop()` waits until the thread has finished reading.
    revocations.stop()
    #expect(revocations.isRevoked(identity("t")))
    #expect(revocations.generation == 1)
    #expect(revocations.takeUnshared(atMost: 9) == [.token("t")])
  }
}
