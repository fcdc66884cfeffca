import DurableFiles
import Foundation
import Messages
import Spooling

/// The messages in the files of the `local` network, and their times.
struct PublishedMessages {
  private(set) var moments: [MessageID: Timestamp] = [:]

  private struct Line: Decodable {
    let message: String
    let publishedAt: String
  }

  private static let newline = UInt8(ascii: "\n")
  private static let opening = Array(#"{"message":""#.utf8)
  private static let idLength = 32

  /// Reads all of `published/`.
  ///
  /// - Parameter wanted: the messages to look for.
  init(in spool: Spool, among wanted: Set<MessageID>) throws {
    if wanted.isEmpty { return }
    for name in try spool.published.names() where try spool.published.entry(name)?.kind == .file {
      var rest = [UInt8]()
      _ = try spool.published.file(name).read(limit: .max - 1) { piece in
        rest += piece
        guard let end = rest.lastIndex(of: Self.newline) else { return }
        for line in rest[..<end].split(separator: Self.newline) { take(line, among: wanted) }
        rest = Array(rest[(end + 1)...])
      }
    }
  }

  private mutating func take(_ line: ArraySlice<UInt8>, among wanted: Set<MessageID>) {
    guard line.starts(with: Self.opening) else { return }
    let id = String(decoding: line.dropFirst(Self.opening.count).prefix(Self.idLength), as: UTF8.self)
    guard wanted.contains(MessageID(unchecked: id)),
      let found = try? JSONDecoder().decode(Line.self, from: Data(line)), let moment = Timestamp(found.publishedAt)
    else { return }
    moments[MessageID(unchecked: found.message)] = moment
  }
}
