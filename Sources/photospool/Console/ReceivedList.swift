import Control
import Ledgers
import Messages
import Spooling

/// The list of `photos --received`: all announced photos in order of arrival.
struct ReceivedList {
  let isJSON: Bool
  let inbox: String?
  let conversation: String?

  func print(_ view: LedgerView, in spool: Spool) throws {
    // Without an answer of the daemon the list has no progress.
    let progress = (try? ControlClient.ask(.progress, in: spool.state))?.progress ?? [:]
    try view.forEachReceived(inbox: inbox, conversation: conversation) { photo in
      var photo = photo
      photo.progress = progress[photo.message]
      if isJSON { return try printJSON(photo) }
      let fields = [
        photo.message, photo.progress.map { "\(photo.state.rawValue) \(Int($0 * 100)) %" } ?? photo.state.rawValue,
        photo.hidden ? "hidden" : "shown", photo.bytes.map { sizeInWords($0) } ?? "-",
        Terminal.age(since: photo.receivedAt), escaped(photo.inbox), escaped(photo.conversation),
        photo.sender.map { escaped($0) } ?? "-", escaped(photo.remote),
      ]
      Swift.print(fields.joined(separator: "  "))
      if let error = photo.error {
        Swift.print("    (\(escaped(error))\(photo.nextAttempt.map { "; next attempt \($0)" } ?? ""))")
      }
    }
  }
}
