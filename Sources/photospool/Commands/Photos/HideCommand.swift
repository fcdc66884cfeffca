import ArgumentParser
import Composition
import Spooling

struct HideCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hide", abstract: "Hide received photos again.",
    discussion: """
      `photospool view` then shows the blurred preview, and `export` refuses until the next `reveal`. Later photos of \
      the conversation are shown or hidden as before. Copies that were exported stay.
      """)

  @OptionGroup var options: SpoolOptions

  @Argument(help: ArgumentHelp("Photos' ids, or the ids of their messages on their network.", valueName: "message"))
  var messages: [String]

  func run() async throws {
    let viewing = try PhotoViewing(options)
    let photos = try messages.map { try viewing.photo($0) }
    for photo in photos where photo.isOwn {
      throw Failure(.usage, "\(photo.message) was sent from here and cannot be hidden")
    }
    try await carryOut(.hide(photos.map(\.message.text)), on: viewing.spool)
  }
}
