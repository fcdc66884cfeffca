import Digests

/// The names of partial objects: `.upload-` and 16 random hexadecimal characters, different for each upload, so that
/// two uploads of one object never share a file.
enum TemporaryName {
  private static let prefix = Array(".upload-".utf8)
  private static let digits = 16

  static func make() -> String {
    let random = (0..<digits / 2).map { _ in UInt8.random(in: 0...255) }
    return String(decoding: prefix, as: UTF8.self) + random.hex
  }

  /// Whether `name` has this form; other files are not ours.
  static func isOurs(_ name: [UInt8]) -> Bool {
    name.starts(with: prefix) && name.count == prefix.count + digits
      && name.dropFirst(prefix.count).allSatisfy("0123456789abcdef".utf8.contains)
  }
}
