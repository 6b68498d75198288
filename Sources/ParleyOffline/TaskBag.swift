import Synchronization

/// Tasks that are cancelled with their owner.
package final class TaskBag: Sendable {
  private let tasks = Mutex<[Task<Void, Never>]>([])

  package func add(_ more: [Task<Void, Never>]) { tasks.withLock { $0 += more } }

  deinit { tasks.withLock { for task in $0 { task.cancel() } } }
}
