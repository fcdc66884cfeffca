import DurableFiles
import Glibc

/// A file in a watched folder.
struct FoundFile {
  /// The names of the folders from the watched one to it.
  let folders: [String]
  let name: String
  let entry: Entry

  /// Its path below the watched folder.
  var path: String { (folders + [name]).joined(separator: "/") }
}

/// One walk through a watched folder. No symbolic link is followed, and no other filesystem entered.
struct FolderWalk {
  /// Folders below each other.
  static let depth = 8

  /// In order of the last change of contents, then of the path.
  private(set) var files: [FoundFile] = []
  /// Those with a name for a while, in no order.
  private(set) var passing: [FoundFile] = []
  /// The paths of all folders below the watched one that were entered; "" is that one.
  private(set) var folders: [String] = []
  /// The paths of folders that could not be entered or listed, and why.
  private(set) var leftOut: [(path: String, reason: String)] = []
  /// The folders with a `.sent`.
  private(set) var withSent: [[String]] = []

  /// - Parameters:
  ///   - folder: the path of the watched folder.
  ///   - most: files of each kind, for the memory; further files are found when these are gone, or known.
  ///   - isKnown: called for each file; whether it is passed over.
  init(
    _ folder: String, most: Int = 100_000, passingOver isKnown: (FoundFile) -> Bool = { _ in false }
  ) throws(FileError) {
    let root = try Directory(path: folder)
    let device = try root.entry().device
    var waiting: [(directory: Directory, names: [String])] = [(root, [])]
    while let (directory, names) = waiting.popLast() {
      folders.append(names.joined(separator: "/"))
      guard let found = list(directory, names) else { continue }
      for name in found {
        guard let entry = try? directory.entry(name) else { continue }
        switch entry.kind {
        case .file:
          let file = FoundFile(folders: names, name: name, entry: entry)
          let isPassing = PassingName.isPassing(name) && !HotFile.wasTaken(name)
          if isPassing, passing.count < most { passing.append(file) }
          if !isPassing, !isKnown(file), files.count < most { files.append(file) }
        case .directory where name == HotFile.sentName: withSent.append(names)
        case .directory
        where !PassingName.isIgnored(folder: name) && names.count < Self.depth:
          if let below = open(name, in: directory, names, isOther: entry.device != device) {
            waiting.append((below, names + [name]))
          }
        default: continue
        }
      }
    }
    files.sort {
      $0.entry.modified != $1.entry.modified ? $0.entry.modified < $1.entry.modified : $0.path < $1.path
    }
  }

  /// The names in a folder; nil if it vanished or forbids us.
  private mutating func list(_ directory: Directory, _ names: [String]) -> [String]? {
    do { return try directory.names() } catch {
      leftOut.append((names.joined(separator: "/"), "\(error)"))
      return nil
    }
  }

  /// A folder below another one; nil if it is of another filesystem, vanished or forbids us.
  private mutating func open(_ name: String, in directory: Directory, _ names: [String], isOther: Bool) -> Directory? {
    let path = (names + [name]).joined(separator: "/")
    do throws(FileError) {
      if isOther { throw FileError("enter", path, code: EXDEV) }
      return try directory.directory(name)
    } catch {
      if error.isMissing { return nil }
      leftOut.append((path, error.code == EXDEV ? "it is of another filesystem; watch it by itself" : "\(error)"))
      return nil
    }
  }
}
