import Digests
import Messages
import Seals

/// A store of uploaded objects, which never change.
package protocol Store: Sendable {
  /// Its name in the configuration, the log and the ledger.
  var name: String { get }

  /// The name for `put`, which the ledger records before the first byte is sent.
  func objectName(_ origin: ObjectOrigin) -> ObjectName

  /// Stores `bytes` as `object`, unless that exists: names are digests.
  ///
  /// - Parameter progress: gets the sent share, 0 to 1, never falling.
  /// - Returns: the URL for receivers, once the object is stored durably.
  func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String

  /// Deletes an object, if it exists.
  func delete(_ object: ObjectName) async throws(DeliveryError)

  /// Tests the store without storing anything. Returns a sentence.
  ///
  /// - Throws: the problem and its remedy.
  func check() async throws(DeliveryError) -> String

  /// Removes partial uploads of a process that died. Called once, before the first upload.
  func removeLeftovers() throws
}

extension Store {
  package func objectName(_ origin: ObjectOrigin) -> ObjectName { ObjectName(origin.digest) }

  package func removeLeftovers() throws {}
}

/// The name of an object in its store: the digest of its bytes, which reveals nothing about conversations, unless a
/// template says otherwise.
package struct ObjectName: Hashable, Sendable, CustomStringConvertible {
  package let text: String
  /// The digest that the name was made from, which need not be computed again.
  let digest: SHA256Digest?

  package init(_ digest: SHA256Digest) { self.init(digest.hex, of: digest) }

  init(_ text: String, of digest: SHA256Digest) {
    self.text = text
    self.digest = digest
  }

  /// Accepts a name from the ledger without a check.
  package init(unchecked text: String) {
    self.text = text
    digest = nil
  }

  package static func == (one: Self, other: Self) -> Bool { one.text == other.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  package var description: String { text }
}

/// A photo with a stored object and its keys, in memory only.
package struct UploadedPhoto: Sendable {
  package let object: ObjectName
  package let url: String
  private let sealed: SealedFacts

  package init(object: ObjectName, url: String, sealed: SealedFacts) {
    self.object = object
    self.url = url
    self.sealed = sealed
  }

  /// The attachment for receivers.
  package var attachment: Attachment { sealed.attachment(at: url) }
}
