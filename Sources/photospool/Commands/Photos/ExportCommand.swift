import ArgumentParser
import Composition
import DurableFiles
import Foundation
import Spooling

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Save a photo elsewhere; a hidden one has to be revealed first.")

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Replace a file that is there.")
  var force = false

  @OptionGroup var wanted: WantedPhoto

  @Argument(help: "Where to save it.")
  var file: String

  func run() async throws {
    let viewing = try PhotoViewing(options)
    let photo = try viewing.photo(wanted.message)
    if photo.isHidden {
      throw Failure(
        .noPermission, "\(photo.message) is hidden; `photospool reveal \(photo.message)` shows it, then export it again"
      )
    }
    let target = URL(fileURLWithPath: file)
    let directory = try Directory(path: target.deletingLastPathComponent().path)
    let name = target.lastPathComponent
    if let entry = try directory.entry(name) {
      if entry.kind == .directory { throw Failure(.cannotCreate, "\(file) is a directory; name a file in it") }
      if !force { throw taken }
    }
    _ = try await viewing.shown(photo, timeout: wanted.timeout.seconds)
    let original = try PhotoCache(viewing.spool).original(at: photo.place)
    guard let bytes = try original.contents(limit: 100_000_000) else {
      throw Failure(.inputOutput, "\(original.path) is larger than any photo; it was not written by photospool")
    }
    try write(bytes, as: name, in: directory)
    await viewing.note(photo)
  }

  private var taken: Failure { Failure(.cannotCreate, "\(file) is there already; use --force to replace it") }

  /// Writes the file atomically.
  private func write(_ bytes: [UInt8], as name: String, in directory: Directory) throws {
    if force {
      try directory.write(bytes, as: name, mode: 0o644)
    } else {
      let temporary = ".photospool-\(UUID().uuidString)"
      try directory.write(bytes, as: temporary, mode: 0o644)
      if try !directory.move(temporary, to: directory, as: name) {
        try directory.remove(temporary)
        throw taken
      }
    }
    try directory.sync()
  }
}
