import ArgumentParser
import Composition
import Control
import Ledgers
import LogOutput
import Messages
import Spooling

struct RevealCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reveal", abstract: "Show received photos that are hidden.",
    discussion: """
      A photo that was only announced is fetched first. After the first reveal in a conversation, \
      `photospool prefs CONVERSATION --auto-reveal on` shows its later photos as they arrive; a note says so.
      """)

  @OptionGroup var options: SpoolOptions

  @Argument(help: ArgumentHelp("Photos' ids, or the ids of their messages on their network.", valueName: "message"))
  var messages: [String]

  func run() async throws {
    let viewing = try PhotoViewing(options)
    let photos = try messages.map { try viewing.photo($0) }
    for photo in photos where photo.isOwn {
      throw Failure(.usage, "\(photo.message) was sent from here and is not hidden")
    }
    let view = try LedgerView(in: viewing.spool.state)
    let first = try Set(photos.map(\.conversation)).filter { try !view.preferences(of: $0.text).hasRevealed }
    try await carryOut(.reveal(photos.map(\.message.text)), on: viewing.spool)
    for name in first.map({ escaped($0.description) }).sorted() {
      StandardError.write(
        "later photos of \(name) stay hidden until each is revealed; `photospool prefs \(name) --auto-reveal on` shows them "
          + "as they arrive\n")
    }
    let announced = photos.filter { $0.state == .offered }.map(\.message.text)
    if !announced.isEmpty { try await carryOut(.want(announced), on: viewing.spool) }
  }
}
