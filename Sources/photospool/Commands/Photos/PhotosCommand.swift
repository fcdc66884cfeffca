import ArgumentParser
import Control
import Ledgers
import Messages
import Spooling

struct PhotosCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photos", abstract: "Print the photos of the cache, least recently viewed first.",
    discussion: """
      One line per photo: its message, its cached parts, whether it is hidden, pixels, bytes, age, time of the \
      last view, inbox, conversation, sender (- for a photo sent from here, or if unknown), and path in the spool.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line.")
  var json = false

  @Flag(name: .long, help: "Print photos that others announced, cached or not.")
  var received = false

  @Option(name: .long, help: "Only photos of this inbox.")
  var inbox: String?

  @Option(name: .long, help: ArgumentHelp("Only photos of this conversation.", valueName: "conversation"))
  var to: String?

  func run() throws {
    let spool = try options.openSpool()
    guard let view = try LedgerView(ifThereIsOneIn: spool.state) else { return }
    if received { return try printReceived(view, in: spool) }
    var hasHeading = json
    try view.forEachPhoto(inbox: inbox, conversation: to) { photo in
      if json { return try printJSON(photo) }
      if !hasHeading {
        print(Terminal.bold(row(Self.heading)))
        hasHeading = true
      }
      let fields = [
        photo.message, photo.cached, photo.hidden ? "hidden" : "shown", "\(photo.width)x\(photo.height)",
        sizeInWords(photo.bytes), Terminal.age(since: photo.createdAt), photo.viewedAt?.description ?? "never",
        escaped(photo.inbox), escaped(photo.conversation), photo.sender.map { escaped($0) } ?? "-", photo.path,
      ]
      print(row(fields))
    }
  }

  /// Prints all announced photos in order of arrival.
  private func printReceived(_ view: LedgerView, in spool: Spool) throws {
    // Without an answer of the daemon the list has no progress.
    let progress = (try? ControlClient.ask(.progress, in: spool.state))?.progress ?? [:]
    try view.forEachReceived(inbox: inbox, conversation: to) { photo in
      var photo = photo
      photo.progress = progress[photo.message]
      if json { return try printJSON(photo) }
      let fields = [
        photo.message, photo.progress.map { "\(photo.state.rawValue) \(Int($0 * 100)) %" } ?? photo.state.rawValue,
        photo.hidden ? "hidden" : "shown", photo.bytes.map { sizeInWords($0) } ?? "-",
        Terminal.age(since: photo.receivedAt), escaped(photo.inbox), escaped(photo.conversation),
        photo.sender.map { escaped($0) } ?? "-", escaped(photo.remote),
      ]
      print(fields.joined(separator: "  "))
      if let error = photo.error {
        print("    (\(escaped(error))\(photo.nextAttempt.map { "; next attempt \($0)" } ?? ""))")
      }
    }
  }

  private func row(_ fields: [String]) -> String {
    Terminal.outputColumns.map { Terminal.folded(fields, separator: "  ", to: $0) } ?? fields.joined(separator: "  ")
  }

  /// A message's id has 32 characters; the other columns follow without padding.
  private static let heading = [
    "MESSAGE                         ", "CACHED", "SHOWN", "PIXELS", "BYTES", "AGE", "VIEWED", "INBOX", "CONVERSATION",
    "SENDER", "PATH",
  ]
}
