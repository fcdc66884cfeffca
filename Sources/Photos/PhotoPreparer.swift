import Messages

/// The seam between the delivery of photos and the darkroom: bytes in, a photo to send out.
package protocol PhotoPreparer: Sendable {
  /// Prepares one photo. The same bytes for the same use give the same result.
  ///
  /// - Throws: a `DeliveryError` with one of these causes.
  ///   `unsupported_image`, `truncated_image`, `image_limits`, `too_large_after_compress`: it lies in the photo and does
  ///   not pass by itself.
  ///   `local_resources`: this computer has no memory or process to spare; it passes.
  ///   `config_error`: the darkroom cannot be started, and says why.
  ///   `cancelled`: the task was.
  func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto
}

extension PhotoPreparer {
  /// Prepares the photo of a message.
  package func prepare(_ photo: PhotoBytes) async throws(DeliveryError) -> PreparedPhoto {
    try await prepare(photo, for: .message)
  }
}

/// What a photo is prepared for.
package enum PhotoUse: Sendable {
  case message
  /// A square out of its middle, as small as the limits for that say.
  case profile
}
