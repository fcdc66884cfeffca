/// Where the sealed photos of relayed requests are until their requests end. Calls may come from many tasks at once.
package protocol BlobStore: Sendable {
  /// Stores bytes under a name. Later ones replace them as a whole: nobody gets a mixture.
  func put(_ bytes: [UInt8], as name: BlobName) async throws(QueueError)

  /// The bytes of that name; nil if there are none.
  func get(_ name: BlobName) async throws(QueueError) -> [UInt8]?

  /// Removes the bytes of a record, which has them at these parts. Repeatable.
  func remove(_ parts: [Int], of record: RecordID) async throws(QueueError)
}

/// The most bytes of one name: more than a photo has, and its seal.
package let mostBlobBytes = 64 << 20
