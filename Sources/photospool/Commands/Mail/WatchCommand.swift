import ArgumentParser
import Composition
import Foundation
import HotFolders
import LogOutput
import Logging
import Messages
import Settings
import Spooling

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Send the photos that others put into folders, in the foreground.",
    discussion: """
      A file is sent once it was left alone, nobody writes it and it is complete. Then it goes into .sent/ beside it, is \
      deleted, or stays. Without --folder, the folders are those of `watch` in the configuration. It may be killed at any time.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long,
    help: ArgumentHelp("Watch this folder alone, without those of the configuration.", valueName: "directory"),
    completion: .directory)
  var folder: String?

  @Option(
    name: .long, help: ArgumentHelp("With --folder, the conversation to send to.", valueName: "conversation"),
    completion: Completion.conversations)
  var to: String?

  @Option(name: .long, help: ArgumentHelp("With --folder, the inbox to send as.", valueName: "inbox"))
  var from: String?

  @Option(name: .long, help: ArgumentHelp("With --folder, move, delete or keep what was sent.", valueName: "word"))
  var after = "move"

  func run() throws {
    // The daemon and its group must be able to read the requests.
    umask(0o007)
    let settings = try options.settings()
    let folders = try given() ?? settings.watchedFolders
    if folders.isEmpty {
      throw Failure(
        .configuration, "no folder is watched; write one into `watch` of the configuration, or give --folder")
    }
    let logSetting = LogSetting(settings.log)
    let log = Logger(label: "photospool") { _ in LineLog(logSetting) }
    log.info("watching", metadata: ["folders": "\(folders.count)"])
    let state = Self.state()
    if folders.contains(where: { $0.after == .keep }) {
      try FileManager.default.createDirectory(
        atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    try FolderWatch(folders, spool: options.path(), state: state, log: log).run()
  }

  /// Where files that stay are remembered: as systemd says, or in the user's home.
  private static func state() -> String {
    let environment = ProcessInfo.processInfo.environment
    // Several directories stand with colons between them.
    if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(given) }
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = absolute("HOME") ?? NSHomeDirectory()
    return (absolute("XDG_STATE_HOME") ?? "\(home)/.local/state") + "/photospool"
  }

  /// The folder of the command line; nil without one.
  private func given() throws -> [WatchedFolder]? {
    guard let folder else {
      if to != nil || from != nil { throw ValidationError("--to and --from belong to --folder") }
      return nil
    }
    guard let to else { throw ValidationError("--folder needs --to, the conversation to send to") }
    guard let after = WatchedFolder.After(rawValue: after) else {
      throw ValidationError("--after is \(after); it has to be move, delete or keep")
    }
    let path = URL(fileURLWithPath: folder).standardizedFileURL.path
    var watched = WatchedFolder(folder: path, conversation: try RequestReader.conversation(to).text)
    watched.inbox = try from.map { try RequestReader.inbox($0) }
    watched.after = after
    return [watched]
  }
}
