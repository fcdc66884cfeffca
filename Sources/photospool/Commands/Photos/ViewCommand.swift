import ArgumentParser

struct ViewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view", abstract: "Print the path of a photo, or of its preview while it is hidden.",
    discussion: """
      A photo that is not in the cache is fetched first: one that was only announced, or that was evicted. Exit status \
      75 if it is not there in time, 69 if it cannot be fetched.
      """)

  @OptionGroup var options: SpoolOptions

  @OptionGroup var wanted: WantedPhoto

  func run() async throws {
    let viewing = try PhotoViewing(options)
    let photo = try viewing.photo(wanted.message)
    let path = try await viewing.shown(photo, timeout: wanted.timeout.seconds)
    print("\(viewing.spool.path)/\(path)")
    await viewing.note(photo)
  }
}
