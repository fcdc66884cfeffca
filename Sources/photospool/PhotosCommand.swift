import ArgumentParser
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Spooling

struct PhotosCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photos", abstract: "Print the photos of the cache, least recently viewed first.",
    discussion: """
      One line per photo: its message, what of it is in the cache, whether it is hidden, size, age, when it was last \
      viewed, inbox, conversation, who sent it (- for one of ours, and where nobody said so), and where it lies in the spool.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line.")
  var json = false

  @Flag(name: .long, help: "What others announced, whether it is in the cache or not.")
  var received = false

  @Option(name: .long, help: "Only photos of this inbox.")
  var inbox: String?

  @Option(name: .long, help: ArgumentHelp("Only photos of this conversation.", valueName: "conversation"))
  var to: String?

  func run() throws {
    let spool = try options.openSpool()
    guard let view = try LedgerView(ifThereIsOneIn: spool.state) else { return }
    if received { return try ReceivedList(isJSON: json, inbox: inbox, conversation: to).print(view, in: spool) }
    var hasHeading = json
    try view.forEachPhoto(inbox: inbox, conversation: to) { photo in
      let line = PhotoLine(photo)
      if json { return try printJSON(line) }
      if !hasHeading {
        print(Terminal.bold(row(Self.heading)))
        hasHeading = true
      }
      let fields = [
        line.message, line.cached, line.hidden ? "hidden" : "shown", "\(line.width)x\(line.height)",
        Terminal.bytes(line.bytes), Terminal.age(since: photo.createdAt), line.viewedAt ?? "never", escaped(line.inbox),
        escaped(line.conversation),
        line.sender.map { escaped($0) } ?? "-", line.path,
      ]
      print(row(fields))
    }
  }

  private func row(_ fields: [String]) -> String {
    Terminal.outputColumns.map { Terminal.folded(fields, separator: "  ", to: $0) } ?? fields.joined(separator: "  ")
  }

  /// A message's id has 26 characters; what stands behind it is as long as it is.
  private static let heading = [
    "MESSAGE                   ", "CACHED", "SHOWN", "PIXELS", "BYTES", "AGE", "VIEWED", "INBOX", "CONVERSATION",
    "SENDER", "PATH",
  ]
}

/// One line of `photos --json`. The keys are never renamed once released.
private struct PhotoLine: Encodable {
  let message: String
  let inbox: String
  let conversation: String
  /// Of one that somebody else sent, as far as that was said.
  let sender: String?
  let hidden: Bool
  /// `photo`, `thumbnail` (the original was evicted) or `none`.
  let cached: String
  /// Its request is not over, so that it is not evicted.
  let pinned: Bool
  let file: String
  let path: String
  let width: Int
  let height: Int
  /// Bytes in the cache.
  let bytes: Int
  let url: String?
  let urlExpiresAt: String?
  let createdAt: String
  let uploadedAt: String?
  let downloadedAt: String?
  let viewedAt: String?

  init(_ photo: PhotoRecord) {
    message = photo.message.text
    inbox = photo.inbox
    conversation = photo.conversation
    sender = photo.sender
    hidden = photo.isHidden
    cached = photo.cachedBytes > 0 ? "photo" : photo.cachedThumbnailBytes > 0 ? "thumbnail" : "none"
    pinned = photo.isPinned
    file = photo.file
    path = photo.path
    width = photo.width
    height = photo.height
    bytes = photo.cachedBytes + photo.cachedThumbnailBytes
    url = photo.url
    urlExpiresAt = photo.urlExpiresAt?.description
    createdAt = photo.createdAt.description
    uploadedAt = photo.uploadedAt?.description
    downloadedAt = photo.downloadedAt?.description
    viewedAt = photo.viewedAt?.description
  }

  private enum CodingKeys: CodingKey {
    case message, inbox, conversation, sender, hidden, cached, pinned, file, path, width, height, bytes, url,
      urlExpiresAt, createdAt
    case uploadedAt, downloadedAt, viewedAt
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(message, forKey: .message)
    try container.encode(inbox, forKey: .inbox)
    try container.encode(conversation, forKey: .conversation)
    try container.encode(sender, forKey: .sender)
    try container.encode(hidden, forKey: .hidden)
    try container.encode(cached, forKey: .cached)
    try container.encode(pinned, forKey: .pinned)
    try container.encode(file, forKey: .file)
    try container.encode(path, forKey: .path)
    try container.encode(width, forKey: .width)
    try container.encode(height, forKey: .height)
    try container.encode(bytes, forKey: .bytes)
    try container.encode(url, forKey: .url)
    try container.encode(urlExpiresAt, forKey: .urlExpiresAt)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encode(uploadedAt, forKey: .uploadedAt)
    try container.encode(downloadedAt, forKey: .downloadedAt)
    try container.encode(viewedAt, forKey: .viewedAt)
  }
}
