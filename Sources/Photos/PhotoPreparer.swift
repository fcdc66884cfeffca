import Messages

/// Prepares photos, in the darkroom.
package protocol PhotoPreparer: Sendable {
  /// Prepares one photo. The same bytes for the same use give the same result.
  ///
  /// - Throws: a `DeliveryError`. Permanent causes of the photo: `unsupported_image`, `truncated_image`,
  ///   `image_limits`, `too_large_after_compress`. Others: `local_resources`, no memory or process, temporary;
  ///   `config_error`, the darkroom cannot be started; `cancelled`, with the task.
  func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto
}

extension PhotoPreparer {
  package func prepare(_ photo: PhotoBytes) async throws(DeliveryError) -> PreparedPhoto {
    try await prepare(photo, for: .message)
  }
}

package enum PhotoUse: Sendable {
  case message
  /// The centre square, within its own limits.
  case profile
}
