import Ledgers
import Logging

extension Logger {
  func tell(_ acceptance: Acceptance, of request: NewRequest) {
    var metadata: Logger.Metadata = ["request": "\(acceptance.request)"]
    if case .success(let contents) = request.contents {
      metadata["conversation"] = "\(contents.conversation)"
      metadata["messages"] = "\(contents.parts.count)"
      metadata["bytes"] = "\(contents.parts.reduce(0) { $0 + $1.bytes })"
    }
    if acceptance.request != acceptance.droppedAs { metadata["dropped-as"] = "\(acceptance.droppedAs)" }
    if let error = acceptance.error { metadata["error"] = "\(error)" }
    if acceptance.state == .failed {
      // A request that stays in new/ was refused before.
      if acceptance.wasKnown { return }
      warning("refused", metadata: metadata)
    } else {
      info(acceptance.wasKnown ? "found again" : "accepted", metadata: metadata)
    }
  }
}
