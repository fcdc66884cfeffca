import Blocking
import Messages

/// The seam between the delivery of photos and the darkroom: bytes in, a photo to send out.
public protocol PhotoPreparer: Sendable {
  /// Prepares one photo. The same bytes give the same result.
  ///
  /// - Throws: a `DeliveryError` whose cause is `unsupported_image`, `truncated_image`, `image_limits` or
  ///   `too_large_after_compress`: none of them passes by itself.
  func prepare(_ photo: [UInt8]) async throws(DeliveryError) -> PreparedPhoto
}

/// Prepares photos in this process, on threads of their own.
public struct PooledPreparer: PhotoPreparer {
  private let limits: PhotoLimits
  private let pool: BlockingPool

  /// - Parameter pool: its number of threads is the number of photos that are worked on at once.
  public init(limits: PhotoLimits, pool: BlockingPool) {
    self.limits = limits
    self.pool = pool
  }

  public func prepare(_ photo: [UInt8]) async throws(DeliveryError) -> PreparedPhoto {
    let limits = limits
    do {
      return try await pool.run { try JPEGPreparer().prepare(photo, limits: limits) }
    } catch let error as DeliveryError {
      throw error
    } catch {
      // The pool throws what its work throws, and that is a DeliveryError.
      throw DeliveryError(.unsupportedImage, "this photo cannot be prepared: \(error)")
    }
  }
}
