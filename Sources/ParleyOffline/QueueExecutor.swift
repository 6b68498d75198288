import Dispatch

/// An executor for actors that use the disk. Its own queue lets other threads continue meanwhile.
package final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "parley.offline")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
