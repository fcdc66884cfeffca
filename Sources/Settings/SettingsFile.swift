import Glibc
import SettingKit

/// The bytes of a configuration file.
enum SettingsFile {
  /// The size limit in bytes.
  static let limit = 1 << 20

  /// The file's text without a byte order mark; nil if it does not exist.
  static func read(_ path: String) throws(SettingsProblem) -> String? {
    guard let bytes = try bytes(of: path) else { return nil }
    if bytes.count > limit {
      throw SettingsProblem(
        place: path, sentence: "the file is larger than \(SizeText.show(limit)); is it the right one?")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SettingsProblem(
        place: "\(path):\(lineOfInvalidText(bytes))", sentence: "this is not UTF-8 text; save the file as UTF-8")
    }
    return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
  }

  /// At most one byte more than the limit.
  private static func bytes(of path: String) throws(SettingsProblem) -> [UInt8]? {
    guard let stream = fopen(path, "re") else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(path)
    }
    defer { fclose(stream) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = fread(&bytes, 1, bytes.count, stream)
    if ferror(stream) != 0 { throw unreadable(path) }
    return Array(bytes.prefix(count))
  }

  private static func unreadable(_ path: String) -> SettingsProblem {
    SettingsProblem(place: path, sentence: "cannot read the file: \(String(cString: strerror(errno)))")
  }

  private static func lineOfInvalidText(_ bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
  }
}
