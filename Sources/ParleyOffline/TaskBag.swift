import Synchronization

/// Tasks that end with their owner.
final class TaskBag: Sendable {
  private let tasks = Mutex<[Task<Void, Never>]>([])

  func add(_ more: [Task<Void, Never>]) { tasks.withLock { $0 += more } }

  deinit { tasks.withLock { for task in $0 { task.cancel() } } }
}
