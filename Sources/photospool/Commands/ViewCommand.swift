import ArgumentParser

struct ViewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view", abstract: "Print the path of a photo, or of its preview while it is hidden.",
    discussion: """
      A photo that is not in the cache is fetched first: one that was only announced, or that was evicted. Exit status \
      75 if it is not there in time, 69 if it cannot be fetched.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long,
    help: ArgumentHelp("How long to wait for a photo that has to be fetched, as 90, 90s, 5m or 2h.", valueName: "time"))
  var timeout = TimeLimit(seconds: 60)

  @Argument(help: "A photo's id, or the id of its message on its network.")
  var message: String

  func run() async throws {
    let viewing = try PhotoViewing(options)
    let photo = try viewing.photo(message)
    let path = try await viewing.shown(photo, timeout: timeout.seconds)
    print("\(viewing.spool.path)/\(path)")
    await viewing.note(photo)
  }
}
