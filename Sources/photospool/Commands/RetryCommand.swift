import ArgumentParser
import Composition
import DurableFiles
import Ledgers
import Messages
import Spooling

struct RetryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Send failed requests again; published messages are not sent twice.",
    discussion: "The same as `mv failed/NAME new/`.")

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "All failed requests, in the order in which they failed.")
  var all = false

  @Argument(
    help: ArgumentHelp("Names of failed requests; - reads them from standard input, one a line.", valueName: "name"),
    completion: Completion.failedRequests)
  var names: [String] = []

  func validate() throws {
    if all != names.isEmpty { throw ValidationError("give the names of failed requests, or --all") }
  }

  func run() throws {
    let spool = try options.openSpool()
    let ledger = try? LedgerView(ifThereIsOneIn: spool.state)
    var faults = [String]()
    for name in all ? try failed(in: spool) : expanded(names) {
      // The newest request dropped under the name, if it failed.
      let newest = all ? nil : try ledger?.newest(name)
      let failed = try [newest, name].compactMap { $0 }.first {
        try RequestName($0) != nil && spool.failed.entry($0) != nil
      }
      guard let failed else {
        faults.append("failed/ holds no \(escaped(name)); see `ls \(spool.path)/failed`")
        continue
      }
      if let fault = try retry(failed, in: spool) { faults.append(fault) } else { print("\(escaped(name)): retried") }
    }
    try spool.new.sync()
    try spool.failed.sync()
    guard let last = faults.popLast() else { return }
    for fault in faults { Terminal.complain(fault) }
    if all { return Terminal.complain(last) }
    throw Failure(.noInput, last)
  }

  /// - Returns: why it cannot be sent, without a change; nil after success.
  private func retry(_ name: String, in spool: Spool) throws -> String? {
    let directory = try spool.failed.directory(name)
    let entry = try directory.entry("entry")
    if let entry, entry.kind != .directory {
      return """
        \(name) is \(entry.kind.noun) and no request, and stays in failed/\(name)/entry; make a directory with the files to, \
        photo and text, and move that into new/
        """
    }
    // A request with an invalid name gets that of its place.
    let isMoved =
      try entry == nil
      ? spool.failed.move(name, to: spool.new, as: name) : directory.move("entry", to: spool.new, as: name)
    guard isMoved else { return "new/ holds another \(name) just now; try again in a moment" }
    if entry != nil {
      try spool.new.sync()
      try spool.failed.removeTree(name)
    }
    return nil
  }

  private func failed(in spool: Spool) throws -> [String] {
    try spool.failed.names().compactMap { name in try spool.failed.entry(name).map { ($0.changed, name) } }
      .sorted { $0 < $1 }.map(\.1)
  }
}
