import Dispatch

/// A queue for actors whose work goes to the disk, so that other threads never wait for it.
package final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "parley.offline")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
