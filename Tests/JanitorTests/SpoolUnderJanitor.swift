import Digests
import Foundation
import GRDB
import Messages
import Settings
import Spooling
import TestSupport
import Testing

@testable import Janitor
@testable import Ledgers

/// A spool with a ledger and without a daemon; photos enter it as from the daemon.
struct SpoolUnderJanitor {
  let scratch: TemporaryDirectory
  let spool: Spool
  let ledger: Ledger
  var settings = Settings()
  static let now = Timestamp(milliseconds: 1_800_000_000_000)

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    ledger = try Ledger(in: spool.state)
  }

  /// Prepares, caches and, unless it is to wait, sends a photo. Its original has `bytes` bytes, thumbnail and blurred
  /// preview 10 each.
  @discardableResult
  func send(
    _ name: String, from inbox: String = "me", to conversation: String = "family", bytes: Int = 100, ends: Bool = true,
    remoteUntil: Timestamp = now.advanced(seconds: 86_400)
  ) async throws -> MessageID {
    let message = MessageID(unchecked: name)
    let request = NewRequest(
      name, inode: UInt64.random(in: 1...(1 << 60)), to: conversation, from: inbox,
      parts: [NewRequest.Part("photo", message: message, bytes: bytes)])
    _ = try await ledger.accept([request], at: Self.now)
    let row = try await ledger.read {
      try Int64.fetchOne($0, sql: "SELECT id FROM conversations WHERE conversation = ?", arguments: [conversation])
    }
    let waiting = try await ledger.head(of: try #require(row), limit: 1000)
    let queued = try #require(waiting.first { $0.message == message })
    let photo = PhotoRow.prepared(
      originalBytes: bytes, bytes: bytes,
      path: queued.place.path, thumbnailBytes: 20)
    let ten = [UInt8](repeating: 7, count: 10)
    try PhotoCache(spool).keep(
      original: [UInt8](repeating: 7, count: bytes), thumbnail: ten, blurred: ten, at: queued.place)
    _ = try await ledger.beginUploading(
      queued, photo: photo, store: "store", object: "o-\(name)", isSealed: true, at: Self.now)
    guard ends else { return message }
    _ = try await ledger.beginPublishing(queued, at: Self.now)
    _ = try await ledger.markSent(
      queued, Published(at: Self.now, attachment: Self.attachment, remoteUntil: remoteUntil), at: Self.now)
    return message
  }

  static let attachment = Messages.Attachment("https://example.org/o", isSealed: true)

  func janitor(at now: Timestamp = now, sinceBoot: Double = 1000) -> SpoolJanitor {
    SpoolJanitor(
      spool: spool, ledger: ledger, settings: settings,
      clock: JanitorClock(now: now, sinceBoot: sinceBoot, boot: "this one"))
  }

  func clear(inbox: InboxID?, conversation: ConversationID?) async throws -> EvictionCount {
    try await CacheClearing(spool: spool, ledger: ledger).run(inbox: inbox, conversation: conversation).count
  }

  func files(_ name: String, from inbox: String = "me", to conversation: String = "family") throws -> [String] {
    let path = spool.photos.path(of: "\(inbox)/\(conversation)/\(name)")
    return (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }

  /// Compares totals, rows and files.
  func isExact() async throws -> Bool {
    let rows = try await ledger.read {
      try Int.fetchOne($0, sql: "SELECT coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0) FROM photos")
    }
    var bytes = 0
    let walk = FileManager.default.enumerator(
      at: URL(fileURLWithPath: spool.photos.path), includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey])
    while let url = walk?.nextObject() as? URL {
      let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      if values.isRegularFile == true { bytes += values.fileSize ?? 0 }
    }
    let uses = try await ledger.cacheUse()
    return rows == bytes && uses[0].bytes == bytes && uses.dropFirst().reduce(0) { $0 + $1.bytes } == bytes
  }
}
