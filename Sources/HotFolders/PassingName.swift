/// Names that programs use while they write a file, and folders that are not of people.
enum PassingName {
  private static let endings = [
    "~", ".part", ".partial", ".filepart", ".tmp", ".temp", ".crdownload", ".swp", "_tmp.jpg",
  ]
  /// Thumbnails, deleted files and snapshots of network storage and Windows, in lower case.
  private static let folders: Set = [
    "@eadir", "#recycle", "@recycle", "$recycle.bin", "#snapshot", "@recently-snapshot", "system volume information",
    "lost+found",
  ]

  /// Whether a file's name is one for a while: hidden uploads of FTP servers and Syncthing, parts of browsers and others.
  static func isPassing(_ name: String) -> Bool {
    let lower = name.lowercased()
    return name.hasPrefix(".") || name.hasPrefix("~") || endings.contains { lower.hasSuffix($0) }
  }

  /// Whether a folder is left out, with all that is in it.
  static func isIgnored(folder name: String) -> Bool {
    name.hasPrefix(".") || folders.contains(name.lowercased())
  }
}
