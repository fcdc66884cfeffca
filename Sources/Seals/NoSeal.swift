import Messages

/// Leaves photos unencrypted, so that everybody who can read the store sees them. Only `seal: none` selects it.
package struct NoSeal: Seal {
  package init() {}

  package func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto {
    SealedPhoto(bytes: photo.bytes, contentType: photo.mimeType, opening: .none, of: photo)
  }
}
