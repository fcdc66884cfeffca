import Digests
import DurableFiles
import Messages
import Spooling

/// The positions of listeners: `state/listening/NETWORK`, one line each. A position is stored after all earlier
/// messages are durably in `incoming/new/`.
struct ListeningPlaces: Sendable {
  static let longest = 1 << 16

  private let directory: Directory

  init(_ spool: Spool) throws { directory = try spool.state.directory(creating: "listening") }

  /// The stored position; nil at the beginning.
  func place(of network: String) throws -> String? {
    let file: File
    do { file = try directory.file(Self.fileName(network)) } catch  where error.isMissing { return nil }
    guard let bytes = try file.contents(limit: Self.longest), let text = String(validating: bytes, as: UTF8.self),
      text.hasSuffix("\n")
    else { return nil }
    return String(text.dropLast())
  }

  /// Stores a position durably.
  func keep(_ place: String, of network: String) throws {
    guard place.utf8.count < Self.longest, !place.utf8.contains(UInt8(ascii: "\n")) else {
      throw DeliveryError(.network, "the place that \(network) gives to go on listening from is too long to be kept")
    }
    try directory.write(Array("\(place)\n".utf8), as: Self.fileName(network))
    try directory.sync()
  }

  private static func fileName(_ network: String) -> String { ConversationID(unchecked: network).fileName }
}
