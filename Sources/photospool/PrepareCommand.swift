import ArgumentParser
import DurableFiles
import Foundation
import Messages
import Photos
import Spooling

struct PrepareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prepare", abstract: "Show exactly what would be sent of photos: write it into a directory.",
    discussion: "Exit status 65 when a photo was refused; the others are written all the same.")

  @OptionGroup var options: SpoolOptions

  @Option(name: .shortAndLong, help: ArgumentHelp("Where to write the prepared photos.", valueName: "directory"))
  var output: String

  @Flag(name: .long, help: "Replace files that are there.")
  var force = false

  @Argument(help: ArgumentHelp("Photos.", valueName: "file"))
  var files: [String]

  func run() async throws {
    let settings = try options.settings()
    if mkdir(output, 0o755) != 0 && errno != EEXIST { throw FileError("make directory", output) }
    let directory = try Directory(path: output)
    let preparer = Assembly(settings: settings).preparer()
    var names = Set<String>()
    var refused = 0
    // A few ahead of the one being told of, so that all processors work and the lines keep the order of the arguments.
    let ahead = ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup(of: (Int, Result<(Int, PreparedPhoto), any Error>).self) { group in
      var done = [Int: Result<(Int, PreparedPhoto), any Error>]()
      var started = 0
      func startNext() {
        guard started < files.count else { return }
        let (index, file) = (started, files[started])
        started += 1
        group.addTask { (index, await Self.prepare(file, with: preparer)) }
      }
      for _ in 0...ahead { startNext() }
      for index in files.indices {
        while done[index] == nil, let (finished, result) = try await group.next() {
          done[finished] = result
          startNext()
        }
        guard let result = done.removeValue(forKey: index) else { break }
        do {
          let (bytes, photo) = try result.get()
          try write(photo, bytes: bytes, of: files[index], into: directory, taken: &names)
        } catch {
          refused += 1
          Terminal.complain("\(files[index]): \(error)")
        }
      }
    }
    if refused > 0 { throw Failure(.badData, "\(refused) of \(files.count) photos were refused") }
  }

  private static func prepare(
    _ path: String, with preparer: any PhotoPreparer
  ) async -> Result<(Int, PreparedPhoto), any Error> {
    do {
      let file = try File(reading: path)
      guard let bytes = try file.contents(limit: RequestLimits.photoBytes) else {
        throw Refusal.tooLarge(file: path, bytes: try file.entry().size, limit: RequestLimits.photoBytes)
      }
      return .success((bytes.count, try await preparer.prepare(bytes)))
    } catch {
      return .failure(error)
    }
  }

  private func write(
    _ photo: PreparedPhoto, bytes: Int, of file: String, into directory: Directory, taken: inout Set<String>
  ) throws {
    let base = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    var name = "\(base).jpg"
    var number = 1
    while !taken.insert(name).inserted {
      number += 1
      name = "\(base)-\(number).jpg"
    }
    if try !force && directory.entry(name) != nil {
      throw Failure(.cannotCreate, "\(directory.path(of: name)) is there already; use --force to replace it")
    }
    try directory.write(photo.jpeg, as: name, mode: 0o644)
    let how = photo.isLossless ? "kept without loss" : "quality \(photo.quality ?? 0)"
    let stripped = photo.stripped.isEmpty ? "" : ", without " + photo.stripped.joined(separator: ", ")
    print(
      "\(escaped(file)) -> \(escaped(directory.path(of: name))): \(photo.width)x\(photo.height), "
        + "\(Terminal.bytes(bytes)) -> \(Terminal.bytes(photo.jpeg.count)), \(how)\(stripped)")
  }
}
