import Messages

/// Leaves photos as they are: whoever reads the store sees them. Only the configuration's `seal: none` chooses it.
package struct NoSeal: Seal {
  package let name = "none"

  package init() {}

  package func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto {
    SealedPhoto(bytes: photo.bytes, contentType: photo.mimeType, opening: .none, of: photo)
  }
}
