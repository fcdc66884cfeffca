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
      A file is sent once it was left alone, nobody writes it and it is complete. Then it goes into .sent/ beside it, or is \
      deleted. Without --folder, the folders are those of `watch` in the configuration. It may be killed at any time.
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

  @Option(name: .long, help: ArgumentHelp("With --folder, move or delete what was sent.", valueName: "word"))
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
    FolderWatch(folders, spool: try options.path(), log: log).run()
  }

  /// The folder of the command line; nil without one.
  private func given() throws -> [WatchedFolder]? {
    guard let folder else {
      if to != nil || from != nil { throw ValidationError("--to and --from belong to --folder") }
      return nil
    }
    guard let to else { throw ValidationError("--folder needs --to, the conversation to send to") }
    guard let after = WatchedFolder.After(rawValue: after) else {
      throw ValidationError("--after is \(after); it has to be move or delete")
    }
    let path = URL(fileURLWithPath: folder).standardizedFileURL.path
    return [
      WatchedFolder(
        folder: path, conversation: try RequestReader.conversation(to).text,
        inbox: try from.map { try RequestReader.inbox($0) },
        after: after)
    ]
  }
}
