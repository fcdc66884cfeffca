import Composition
import DurableFiles
import Foundation
import Messages
import Photos

/// The output directory of `prepare`. Equal file names get a number.
struct PreparedFolder {
  private let directory: Directory
  private let replaces: Bool
  private var taken = Set<String>()
  private var numbers = [String: Int]()

  init(_ directory: Directory, replaces: Bool) {
    self.directory = directory
    self.replaces = replaces
  }

  /// Writes a prepared photo. Returns a line about it for people.
  mutating func add(_ photo: PreparedPhoto, of file: String) throws -> String {
    let name = name(for: file)
    if try !replaces && directory.entry(name) != nil {
      throw Failure(.cannotCreate, "\(directory.path(of: name)) is there already; use --force to replace it")
    }
    try directory.write(photo.jpeg, as: name, mode: 0o644)
    let how = photo.isLossless ? "kept without loss" : "quality \(photo.quality ?? 0)"
    let stripped = photo.stripped.isEmpty ? "" : ", without " + photo.stripped.joined(separator: ", ")
    return "\(escaped(file)) -> \(escaped(directory.path(of: name))): \(photo.width)x\(photo.height), "
      + "\(sizeInWords(photo.original.bytes)) -> \(sizeInWords(photo.jpeg.count)), \(how)\(stripped)"
  }

  private mutating func name(for file: String) -> String {
    let base = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    var name = "\(base).jpg"
    while !taken.insert(name).inserted {
      let number = numbers[base, default: 1] + 1
      numbers[base] = number
      name = "\(base)-\(number).jpg"
    }
    return name
  }
}
