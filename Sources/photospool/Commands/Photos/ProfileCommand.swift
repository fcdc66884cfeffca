import ArgumentParser
import Composition
import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

struct ProfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile", abstract: "Set, remove or show the profile photo of an inbox.",
    discussion: """
      A change is a request like any other: it waits in order, is retried, and `queue`, `show`, `wait` and `cancel` \
      accept its printed name. The old photo stays until the new one is set, and also if that fails.
      """,
    subcommands: [SetProfile.self, RemoveProfile.self, ShowProfile.self])
}

private struct SetProfile: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Drop a new profile photo into the spool, durably, and print the request's name.",
    discussion: "The square in the middle of the photo is set, made smaller and without any metadata.")

  @OptionGroup var options: SpoolOptions
  @OptionGroup var change: ProfileChange

  @Argument(help: ArgumentHelp("The photo; - reads it from standard input.", valueName: "file"), completion: .file())
  var photo: String

  func run() async throws {
    try await change.drop(File(photo: photo), options)
  }
}

private struct RemoveProfile: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Drop the removal of the profile photo into the spool, and print its name.")

  @OptionGroup var options: SpoolOptions
  @OptionGroup var change: ProfileChange

  func run() async throws {
    try refuseInVain()
    try await change.drop(nil, options)
  }

  /// Fails at once if there is nothing to remove and no waiting change could set a photo first. With a key, only the
  /// daemon knows the answer.
  private func refuseInVain() throws {
    guard change.id == nil, let spool = try? options.openSpool() else { return }
    let inbox = try change.from.map { try InboxID($0) } ?? options.settings().inbox
    let waitsInNew = try spool.new.names().contains { !$0.hasPrefix(".") }
    guard !waitsInNew, let view = try? LedgerView(ifReadable: spool.state),
      try view.profile(of: inbox)?.message == nil,
      try view.waitingConversations(limit: 1, only: ConversationID.profile(of: inbox).text).isEmpty
    else { return }
    throw Failure(.noInput, "the inbox \(escaped(inbox.text)) has no profile photo to remove")
  }
}

private struct ProfileChange: ParsableArguments {
  @Option(name: .long, help: ArgumentHelp("The inbox. (default: the configured one)", valueName: "inbox"))
  var from: String?

  @Option(
    name: .long,
    help: ArgumentHelp("An idempotency key: the same change with the same key is made once.", valueName: "key"))
  var id: String?

  @Flag(name: .long, help: "Wait, with progress on a terminal, until it is done.")
  var wait = false

  func drop(_ photo: File?, _ options: SpoolOptions) async throws {
    // The daemon and its group must be able to read the request, whatever the user's umask.
    umask(0o007)
    let key = try id.map(IdempotencyKey.init(argument:))
    let inbox = try from.map { try InboxID($0) }
    let name = try Submission(profilePhoto: photo, of: inbox, key: key).drop(into: options.path())
    print(name)
    if wait { try await Waiting(spool: options.openSpool()).wait(for: [name.text]) }
  }
}

private struct ShowProfile: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print the path of an inbox's profile photo, and when it was set.",
    discussion: """
      The path is that of the local copy, which is kept while it is the profile photo. A waiting change \
      is not shown; `photospool queue` shows it. Exit status 66 when no profile photo is set.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object.")
  var json = false

  @Option(name: .long, help: ArgumentHelp("The inbox. (default: the configured one)", valueName: "inbox"))
  var from: String?

  func run() throws {
    let inbox = try from.map { try InboxID($0) } ?? options.settings().inbox
    let spool = try options.openSpool()
    let profile = try LedgerView(ifThereIsOneIn: spool.state)?.profile(of: inbox)
    let line = ProfileJSON(inbox, profile, spool)
    if json { return try printJSON(line) }
    guard let profile, profile.message != nil else {
      throw Failure(.noInput, "the inbox \(inbox) has no profile photo; `photospool profile set FILE` sets one")
    }
    print(line.path ?? "the local copy is gone; set the photo again")
    print("set at \(profile.changedAt) on \(profile.network)")
  }
}

/// The output of `profile show --json`. Keys are never renamed once released.
private struct ProfileJSON: Encodable {
  let inbox: String
  /// `set`, `removed`, or `none` if there never was one.
  let state: String
  @OrNull var message: String?
  @OrNull var path: String?
  @OrNull var network: String?
  @OrNull var url: String?
  @OrNull var changedAt: Timestamp?

  init(_ inbox: InboxID, _ profile: Profile?, _ spool: Spool) {
    self.inbox = inbox.text
    state = profile.map { $0.message == nil ? "removed" : "set" } ?? "none"
    message = profile?.message?.text
    let found = profile?.message.flatMap { message in
      try? PhotoCache(spool).path(
        PhotoPlace(inbox: inbox, conversation: .profile(of: inbox), message: message), isBlurred: false)
    }
    path = found.map { "\(spool.path)/\($0)" }
    network = profile?.network
    url = profile?.url
    changedAt = profile?.changedAt
  }
}
