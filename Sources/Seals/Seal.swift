import Messages

/// An encryption scheme for uploaded photos.
package protocol Seal: Sendable {
  /// Seals `photo` with new keys, and so with a new result, each time.
  func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto
}

extension Seal {
  /// The same seal after a first use, so that OpenSSL loads its parts while the program starts and has memory.
  ///
  /// - Throws: what prevents sealing.
  package func loaded() throws(DeliveryError) -> Self {
    _ = try seal(PhotoFile(bytes: [0], filename: "a", mimeType: "image/jpeg", width: 1, height: 1))
    return self
  }
}

/// A prepared photo for the receiver.
package struct PhotoFile: Sendable {
  package let bytes: [UInt8]
  package let filename: String
  package let mimeType: String
  /// Pixels, upright.
  package let width: Int
  package let height: Int
  /// A placeholder image (blurha.sh), if any.
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
