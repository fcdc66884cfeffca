import Digests
import Messages
import Seals

/// The seam between the photo pipeline and a place that keeps uploaded objects. Objects are never changed.
package protocol Store: Sendable {
  /// The store's word in the configuration, the log and the ledger.
  var name: String { get }

  /// The name under which `put` is to keep an object, so that it is known, and remembered, before the first byte goes.
  func objectName(_ origin: ObjectOrigin) -> ObjectName

  /// Keeps `bytes` under `object`, unless an object of that name is there already, which is as good: names are digests.
  ///
  /// - Parameter progress: is told 0 to 1, never falling, as the bytes go.
  /// - Returns: the URL at which receivers fetch the object. When it returns, the object is kept for good.
  func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String

  /// Deletes an object; missing is as good as deleted.
  func delete(_ object: ObjectName) async throws(DeliveryError)

  /// Says what is good about the store, without keeping anything.
  ///
  /// - Throws: what is wrong and how to mend it.
  func check() async throws(DeliveryError) -> String

  /// Removes what uploads of a process that died left half-done. Called once, before the first upload.
  func removeLeftovers() throws
}

extension Store {
  /// Most stores learn nothing of conversations.
  package func objectName(_ origin: ObjectOrigin) -> ObjectName { ObjectName(origin.digest) }

  /// Most stores keep nothing half-done.
  package func removeLeftovers() throws {}
}

/// The name of an object in its store: the digest of its bytes, so that the store learns nothing of conversations,
/// unless a template says otherwise.
package struct ObjectName: Hashable, Sendable, CustomStringConvertible {
  package let text: String
  /// Of the object's bytes, where the name was made for them: they need not be hashed again.
  let digest: SHA256Digest?

  package init(_ digest: SHA256Digest) { self.init(digest.hex, of: digest) }

  init(_ text: String, of digest: SHA256Digest) {
    self.text = text
    self.digest = digest
  }

  /// Takes a name back from the ledger.
  package init(unchecked text: String) {
    self.text = text
    digest = nil
  }

  package static func == (one: Self, other: Self) -> Bool { one.text == other.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  package var description: String { text }
}

/// A photo whose object is in its store, with what opens it, in memory only.
package struct UploadedPhoto: Sendable {
  package let object: ObjectName
  package let url: String
  private let sealed: SealedFacts

  package init(object: ObjectName, url: String, sealed: SealedFacts) {
    self.object = object
    self.url = url
    self.sealed = sealed
  }

  /// What the message tells the receivers.
  package var attachment: Attachment { sealed.attachment(at: url) }
}
