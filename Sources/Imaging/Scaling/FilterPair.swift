import Synchronization

/// The vertical and horizontal filters of a plane.
struct FilterPair {
  let down: ResamplingFilter
  let across: ResamplingFilter

  /// Recently used filters. Photos of one camera have equal sizes, and making their filters takes a third of the time
  /// of filtering. They reveal only sizes.
  private static let made = Mutex<(pairs: [PlaneResampler.Geometry: FilterPair], weights: Int)>(([:], 0))
  /// The number of cached weights, four megabytes: enough for photos of 12 megapixels with all planes, thumbnails and
  /// previews, in every subsampling.
  private static let most = 1 << 21

  /// The filters for a geometry, mirrored but not turned.
  static func of(_ geometry: PlaneResampler.Geometry) -> FilterPair {
    if let pair = made.withLock({ $0.pairs[geometry] }) { return pair }
    let pair = FilterPair(geometry)
    let weights = pair.down.weights.count + pair.across.weights.count
    if weights > most / 4 { return pair }
    made.withLock { made in
      if made.weights + weights > most { made = ([:], 0) }
      // Another thread may have made the same.
      if made.pairs.updateValue(pair, forKey: geometry) == nil { made.weights += weights }
    }
    return pair
  }

  private init(_ geometry: PlaneResampler.Geometry) {
    let (source, target) = (geometry.source, geometry.target)
    down = ResamplingFilter(
      source: source.height, sourceExtent: geometry.sourceExtent.y, target: target.height,
      targetExtent: geometry.targetExtent.y, mirrored: geometry.orientation.mirrorsDown, multiple: 1,
      kernel: geometry.kernel)
    across = ResamplingFilter(
      source: source.width, sourceExtent: geometry.sourceExtent.x, target: target.width,
      targetExtent: geometry.targetExtent.x, mirrored: geometry.orientation.mirrorsAcross, multiple: 8,
      kernel: geometry.kernel)
  }
}
