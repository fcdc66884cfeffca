import Digests
import Messages
import TestSupport
import Testing

@testable import Ledgers

/// Steps of received photos.
extension LedgerSuite {
  func new(_ remote: String, in conversation: String = "family", text: String = "x", photos: Int = 1)
    -> NewReceived
  {
    NewReceived(
      inbox: InboxID(unchecked: "me"), conversation: ConversationID(unchecked: conversation), remote: remote,
      digest: SHA256Digest(of: Array(text.utf8)),
      photos: (0..<photos).map { RemotePhoto(url: "https://example.org/\($0)", secret: "aa") })
  }

  func receive(_ message: NewReceived, fetch: FetchPolicy = .known) async throws -> Reception {
    try #require(try await ledger.receive([message], fetch: fetch, at: now).first)
  }

  func id(_ remote: String, _ position: Int = 0) -> MessageID {
    NewReceived.message(inbox: InboxID(unchecked: "me"), remote: remote, position: position)
  }

  func story(_ remote: String) throws -> PhotoStory {
    try #require(try LedgerView(in: state).photos(called: remote).first)
  }

  var row: PhotoRow {
    .prepared(bytes: 9, path: "photos/me/family/m", thumbnailBytes: 2)
  }

  func end(_ wanted: WantedPhoto, isThere: Bool = true) async throws -> DownloadEnd {
    try await ledger.endDownload(of: wanted, as: row, file: "f", remoteUntil: now, at: now, isThere: { isThere })
  }
}
