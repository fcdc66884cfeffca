import Digests
import Messages

/// The optional file `.sum`, with a line `SHA-256 LENGTH NAME` for each file of the request, to detect damage between
/// client and daemon. `photospool send` writes it last.
struct SumFile {
  struct Line: Hashable {
    let digest: SHA256Digest
    let bytes: Int
  }

  let lines: [String: Line]

  init(lines: [String: Line]) { self.lines = lines }

  /// Parses the file; throws `.badSum` with the number of the first invalid line.
  init(parsing text: String) throws(Refusal) {
    var lines = [String: Line]()
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: true).enumerated() {
      let fields = line.split(separator: " ", maxSplits: 2)
      guard fields.count == 3, let digest = SHA256Digest(hex: fields[0]), let bytes = Int(fields[1]), bytes >= 0,
        lines.updateValue(Line(digest: digest, bytes: bytes), forKey: String(fields[2])) == nil
      else { throw .badSum("line \(index + 1) is not `SHA-256 LENGTH NAME` of one file") }
    }
    self.lines = lines
  }

  var text: String {
    lines.sorted { $0.key < $1.key }
      .map { "\($0.value.digest.hex) \($0.value.bytes) \($0.key)\n" }
      .joined()
  }

  /// Throws `.badSum` unless the lines match exactly the files of `found`.
  func check(_ found: [String: Line]) throws(Refusal) {
    for name in lines.keys.sorted() where found[name] == nil {
      throw .badSum("\(escaped(name)) is listed and missing")
    }
    for (name, line) in found.sorted(by: { $0.key < $1.key }) {
      guard let expected = lines[name] else { throw .badSum("\(escaped(name)) is not listed") }
      if expected.bytes != line.bytes {
        throw .badSum("\(escaped(name)) has \(line.bytes) bytes instead of \(expected.bytes)")
      }
      if expected.digest != line.digest { throw .badSum("\(escaped(name)) does not have its SHA-256") }
    }
  }
}
