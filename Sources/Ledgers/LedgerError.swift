/// Why the ledger cannot be used.
public enum LedgerError: Error, CustomStringConvertible {
  case notDurable(String)
  case damaged(path: String, fault: String)
  case newer(path: String)
  case missing(path: String)

  public var description: String {
    switch self {
    case .notDurable(let fault):
      "the ledger cannot keep its promises: \(fault)"
    case .damaged(let path, let fault):
      "the ledger \(path) is damaged: \(fault); stop photospool and restore it, or move it away"
    case .newer(let path):
      "the ledger \(path) was written by a newer photospool; install that version again"
    case .missing(let path):
      "there is no ledger at \(path) yet; `photospool run` makes it"
    }
  }
}
