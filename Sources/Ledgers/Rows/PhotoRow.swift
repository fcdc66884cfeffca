import Messages

/// A row of `photos`. `Schema.swift` explains the columns.
package struct PhotoRow: TableRow {
  package var message = MessageID(unchecked: "")
  package var inbox = InboxID(unchecked: "")
  package var conversationRow: Int64 = 0
  package var file = ""
  package var format = ""
  package var originalBytes = 0
  package var originalWidth = 0
  package var originalHeight = 0
  package var bytes = 0
  package var width = 0
  package var height = 0
  /// SHA-256 of the prepared photo, in hexadecimal.
  package var digest = ""
  /// The directory, relative to the spool.
  package var path = ""
  package var thumbnailBytes = 0
  package var url: String?
  package var urlExpiresAt: Timestamp?
  package var attachment: String?
  package var createdAt = Timestamp(milliseconds: 0)
  package var uploadedAt: Timestamp?
  package var downloadedAt: Timestamp?
  package var viewedAt: Timestamp?
  package var cachedBytes = 0
  package var cachedThumbnailBytes = 0
  package var isPinned = false
  package var isFetchable = false
  package var recency: Int64 = 0
  package var evicting = 0

  static let table = Table("photos", of: Self.self)

  package init() {}

  mutating func visit(_ column: inout some ColumnVisitor) {
    column("message", &message, "inbox", &inbox, "conversation_id", &conversationRow)
    column("file", &file, "format", &format, "original_bytes", &originalBytes)
    column("original_width", &originalWidth, "original_height", &originalHeight, "bytes", &bytes)
    column("width", &width, "height", &height, "digest", &digest)
    column("path", &path, "thumbnail_bytes", &thumbnailBytes, "url", &url)
    column("url_expires_at", &urlExpiresAt, "attachment", &attachment, "created_at", &createdAt)
    column("uploaded_at", &uploadedAt, "downloaded_at", &downloadedAt, "viewed_at", &viewedAt)
    column("cached_bytes", &cachedBytes, "cached_thumbnail_bytes", &cachedThumbnailBytes, "pinned", &isPinned)
    column("fetchable", &isFetchable, "recency", &recency, "evicting", &evicting)
  }

  /// The row of a prepared photo.
  package init(
    format: String, originalBytes: Int, originalWidth: Int, originalHeight: Int, bytes: Int, width: Int, height: Int,
    digest: String, path: String, thumbnailBytes: Int
  ) {
    self.init()
    self.format = format
    self.originalBytes = originalBytes
    self.originalWidth = originalWidth
    self.originalHeight = originalHeight
    self.bytes = bytes
    self.width = width
    self.height = height
    self.digest = digest
    self.path = path
    self.thumbnailBytes = thumbnailBytes
    cachedBytes = bytes
    cachedThumbnailBytes = thumbnailBytes
  }
}
