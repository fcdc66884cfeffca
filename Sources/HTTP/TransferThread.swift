import CCurl
import Foundation
import Glibc
import Synchronization

/// The thread that owns libcurl's multi handle and all transfers. It waits in `curl_multi_poll(3)` without a timeout,
/// so an idle client never wakes.
final class TransferThread: Sendable {
  private struct Mailbox {
    var orders: [TransferOrder] = []
    var isStopping = false
  }

  private let mailbox = Mutex(Mailbox())
  private let options: HTTPOptions
  // Other threads may call curl_multi_wakeup only. The thread frees the handle after it reads `isStopping` under the
  // lock that wake-ups hold, except those of `begin`, which come before.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

  private static let library = ccurl_start()

  init(_ options: HTTPOptions) {
    guard Self.library == CURLE_OK, let multi = ccurl_multi() else {
      preconditionFailure("libcurl does not start: its installation is damaged")
    }
    self.options = options
    self.multi = multi
    let thread = Thread { self.run() }
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Must not be called during or after `stop`.
  func begin(_ order: TransferOrder) {
    let isFirst = mailbox.withLock { mailbox in
      mailbox.orders.append(order)
      return mailbox.orders.count == 1
    }
    // The first order wakes the thread, which takes all of them. Outside of the lock, for which it would wait at once.
    if isFirst { ccurl_multi_wake(multi) }
  }

  /// Makes the thread check for cancelled transfers.
  func wake() {
    mailbox.withLock { mailbox in
      if !mailbox.isStopping { ccurl_multi_wake(multi) }
    }
  }

  func stop() {
    mailbox.withLock { mailbox in
      mailbox.isStopping = true
      ccurl_multi_wake(multi)
    }
  }

  // MARK: The thread

  private func run() {
    // Foundation names only the calling thread.
    Thread.current.name = "http"
    Self.blockSignals()
    ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, options.idleConnections)
    let handles = EasyHandles(keeping: options.idleConnections)
    var transfers = [UnsafeMutableRawPointer: Transfer]()
    while true {
      let (orders, isStopping) = take()
      for order in orders {
        guard let transfer = Transfer(order, options, handles) else { continue }
        guard ccurl_multi_add(multi, transfer.easy) == CURLM_OK else {
          transfer.end(CURLE_FAILED_INIT)
          continue
        }
        transfers[transfer.easy] = transfer
      }
      for transfer in transfers.values where isStopping || transfer.isCancelled {
        end(transfer, CURLE_ABORTED_BY_CALLBACK, &transfers)
      }
      if isStopping { break }
      work(&transfers)
    }
    ccurl_multi_free(multi)
  }

  /// Runs all transfers that can continue, then waits.
  private func work(_ transfers: inout [UnsafeMutableRawPointer: Transfer]) {
    var (running, result): (Int32, CURLcode) = (0, CURLE_OK)
    var isWell = ccurl_multi_perform(multi, &running) == CURLM_OK
    while let easy = ccurl_next_ended(multi, &result) {
      if let transfer = transfers[easy] { end(transfer, result, &transfers) }
    }
    isWell = ccurl_multi_wait(multi) == CURLM_OK && isWell
    // A lasting error must not spin.
    if !isWell { usleep(100_000) }
  }

  private func end(
    _ transfer: Transfer, _ result: CURLcode, _ transfers: inout [UnsafeMutableRawPointer: Transfer]
  ) {
    ccurl_multi_remove(multi, transfer.easy)
    transfers[transfer.easy] = nil
    transfer.end(result)
  }

  private func take() -> ([TransferOrder], Bool) {
    mailbox.withLock { mailbox in
      defer { mailbox.orders = [] }
      return (mailbox.orders, mailbox.isStopping)
    }
  }

  /// Blocks all signals: OpenSSL causes SIGPIPE on closed connections, and other threads await the rest.
  private static func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}
