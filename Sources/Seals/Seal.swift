import Messages

/// The seam between the photo pipeline and an encryption scheme.
package protocol Seal: Sendable {
  /// The scheme's word in the configuration, the log and the ledger.
  var name: String { get }

  /// Seals `photo` under fresh keys. The result is another one with every call.
  func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto
}

extension Seal {
  /// The same seal, once it has sealed nothing in particular: what OpenSSL has no memory to load when it is first used it
  /// does not find later either, and at the start of a program there is some.
  ///
  /// - Throws: what keeps it from sealing.
  package func loaded() throws(DeliveryError) -> Self {
    _ = try seal(PhotoFile(bytes: [0], filename: "a", mimeType: "image/jpeg", width: 1, height: 1))
    return self
  }
}

/// A prepared photo, as the receiver is to find it.
package struct PhotoFile: Sendable {
  package let bytes: [UInt8]
  package let filename: String
  package let mimeType: String
  /// Pixels, upright.
  package let width: Int
  /// Pixels, upright.
  package let height: Int
  /// A few colours to show until the photo is there, as blurha.sh has them; nil is none.
  package let blurhash: String?

  package init(
    bytes: [UInt8], filename: String, mimeType: String, width: Int, height: Int, blurhash: String? = nil
  ) {
    self.bytes = bytes
    self.filename = filename
    self.mimeType = mimeType
    self.width = width
    self.height = height
    self.blurhash = blurhash
  }
}
