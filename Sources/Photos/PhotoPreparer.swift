import Blocking
import Messages

/// The seam between the photo line and whoever turns dropped photos into what is sent.
public protocol PhotoPreparer: Sendable {
  /// Prepares the bytes of one photo, which are hostile.
  ///
  /// - Throws: a `DeliveryError` whose sentence says what is wrong with the photo and what to do.
  func prepare(_ photo: [UInt8]) async throws(DeliveryError) -> PreparedPhoto
}

/// Prepares photos on a pool of threads, as many at a time as the pool has.
public struct PooledPreparer: PhotoPreparer {
  private let preparer: JPEGPreparer
  private let pool: BlockingPool

  public init(limits: PhotoLimits, pool: BlockingPool) {
    preparer = JPEGPreparer(limits: limits)
    self.pool = pool
  }

  public func prepare(_ photo: [UInt8]) async throws(DeliveryError) -> PreparedPhoto {
    do {
      return try await pool.run { [preparer] in try preparer.prepare(photo) }
    } catch let error as DeliveryError {
      throw error
    } catch {
      throw DeliveryError(.unsupportedImage, "the photo cannot be prepared: \(error)")
    }
  }
}
