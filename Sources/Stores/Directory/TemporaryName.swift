import Digests

/// The names of objects that are not whole yet: `.upload-` and 16 random hexadecimal characters, another one for every
/// upload, so that two uploads of one object never write into one file.
enum TemporaryName {
  private static let prefix = Array(".upload-".utf8)
  private static let digits = 16

  static func make() -> String {
    let random = (0..<digits / 2).map { _ in UInt8.random(in: 0...255) }
    return String(decoding: prefix, as: UTF8.self) + random.hex
  }

  /// Whether `name` has the form of ours; other files of the directory are nobody's leftovers.
  static func isOurs(_ name: [UInt8]) -> Bool {
    name.starts(with: prefix) && name.count == prefix.count + digits
      && name.dropFirst(prefix.count).allSatisfy("0123456789abcdef".utf8.contains)
  }
}
