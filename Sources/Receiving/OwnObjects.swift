import DurableFiles
import Foundation
import Messages

/// Objects in local `directory` stores, for photos that were sent from here. Announcements of others never lead here.
struct OwnObjects: Sendable {
  let directories: [String]

  /// The object of a `file://` URL directly below one of the directories; nil for any other URL.
  ///
  /// - Throws: `.notFound` if it is missing, `.tooLarge` beyond `limit`.
  func object(at url: String, limit: Int) throws -> [UInt8]? {
    guard url.hasPrefix("file:///"), let path = URL(string: url)?.path(percentEncoded: false) else { return nil }
    let url = URL(fileURLWithPath: path)
    let parent = url.deletingLastPathComponent().standardizedFileURL.path
    guard directories.contains(where: { URL(fileURLWithPath: $0).standardizedFileURL.path == parent }) else {
      return nil
    }
    do {
      guard let bytes = try Directory(path: parent).file(url.lastPathComponent).contents(limit: limit) else {
        throw DeliveryError(.tooLarge, "the object of the photo has more than \(limit) bytes")
      }
      return bytes
    } catch let error as FileError where error.isMissing {
      throw DeliveryError(.notFound, "the photo's store does not have it any more")
    }
  }
}
