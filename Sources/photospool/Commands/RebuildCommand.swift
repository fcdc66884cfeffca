import ArgumentParser
import Composition
import Foundation
import Messages
import Rebuilding
import Settings
import Spooling

struct RebuildCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild",
    abstract: "Build the ledger again from the spool, if it is damaged, lost or too old.",
    discussion: """
      For a spool whose daemon is stopped. Waiting requests keep their order; before a message is published, its \
      network is asked whether it was published before. The new ledger includes receipts and cached photos. Holds, \
      preferences and keys of photos are lost, and received photos are hidden again. The old ledger is kept beside \
      the new one.
      """)

  @OptionGroup var options: SpoolOptions

  func run() async throws {
    umask(0o077)
    let (settings, spool) = try options.configured()
    let report = try await Rebuild(spool: spool, inbox: settings.inbox) { [settings] in
      settings.network(of: $0).map { type(of: $0.type).remembersMessages } ?? true
    }.run()
    print(
      "rebuilt: \(report.waiting) waiting, \(report.sent) sent, \(report.failed) failed, \(report.photos) photos in the cache"
    )
    if report.unreadable > 0 {
      print("\(report.unreadable) receipts and cached photos are left out, since they cannot be read without a ledger")
    }
    if !report.copies.isEmpty {
      let names = report.copies.prefix(10).map { escaped($0) }.joined(separator: ", ")
      print("\(report.copies.count) left out, since another one has the same contents or name: \(names)")
    }
    for conversation in report.held {
      let name = escaped(conversation.text)
      print(
        "\(name) is held: look there whether the first that waits was published, cancel it if so, then run `photospool release \(name)`"
      )
    }
    if let kept = report.kept {
      print("the old ledger is in \(kept), until a purge; delete it when nothing is missing")
    }
  }
}
