import ArgumentParser
import Composition
import DurableFiles
import Foundation
import Photos

struct PrepareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prepare", abstract: "Write photos into a directory exactly as they would be sent.",
    discussion: """
      One line per photo, in the order of the arguments; refused photos are named on standard error with the reason. \
      Exit status 65 if a photo was refused, otherwise 73 if one could not be written; all others are written.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Where to write the prepared photos.", valueName: "directory"),
    completion: .directory)
  var output: String

  @Flag(name: .long, help: "Replace files that are there.")
  var force = false

  @Argument(help: ArgumentHelp("Photos, and directories of photos.", valueName: "file"), completion: .file())
  var files: [String]

  func run() async throws {
    let settings = try options.settings(as: .root)
    let files = try files.flatMap(Self.photos)
    if mkdir(output, 0o755) != 0 && errno != EEXIST { throw FileError("make directory", output) }
    var folder = PreparedFolder(try Self.directory(output), replaces: force)
    var progress = PrepareProgress(count: files.count)
    var unwritten = 0
    let darkroom = settings.makeDarkroom()
    defer { darkroom.close() }
    try await darkroom.prepareAll(files, ahead: 4 * darkroom.processes) { file, result in
      progress.hide()
      do {
        let photo = try result.get()
        do { print(try folder.add(photo, of: file)) } catch {
          unwritten += 1
          Terminal.complain("\(file): \(error)")
        }
      } catch {
        progress.refused += 1
        Terminal.complain("\(file): \(error)")
      }
      progress.done += 1
      progress.draw()
    }
    progress.hide()
    if progress.refused > 0 {
      throw Failure(.badData, "\(progress.refused) of \(files.count) photos were refused")
    }
    if unwritten > 0 { throw Failure(.cannotCreate, "\(unwritten) of \(files.count) photos were not written") }
  }

  private static func directory(_ path: String) throws -> Directory {
    do { return try Directory(path: path) } catch {
      if error.code == ENOTDIR { throw Failure(.cannotCreate, "\(path) is a file; name a directory to write into") }
      throw error
    }
  }

  /// A file itself, or all files below a directory, sorted, without hidden ones and links.
  private static func photos(at path: String) throws -> [String] {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
      return [path]
    }
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted().flatMap { name in
      let inner = (path as NSString).appendingPathComponent(name)
      let kind = try FileManager.default.attributesOfItem(atPath: inner)[.type] as? FileAttributeType
      let isWanted = !name.hasPrefix(".") && (kind == .typeRegular || kind == .typeDirectory)
      return isWanted ? try photos(at: inner) : []
    }
  }
}

/// The progress of `prepare`, on one line of a terminal.
private struct PrepareProgress {
  let count: Int
  var done = 0
  var refused = 0

  private var isShown: Bool { Terminal.errorIsTerminal && count > 1 }

  func draw() {
    guard isShown, done < count else { return }
    Terminal.redraw("\(done) of \(count) photos" + (refused > 0 ? ", \(refused) refused" : ""))
  }

  func hide() {
    if isShown { Terminal.redraw("") }
  }
}
