import Synchronization

/// The filters of a plane, down and across.
struct FilterPair {
  let down: ResamplingFilter
  let across: ResamplingFilter

  /// Those that were made last. Planes of one photo, and photos of one camera, have the same sizes; to make their
  /// filters anew takes as long as a third of the filtering. They tell nothing of a photo but its size.
  private static let made = Mutex<(pairs: [PlaneResampler.Geometry: FilterPair], weights: Int)>(([:], 0))
  /// Weights that are kept, four megabytes of them: photos of 12 megapixels with all of their planes, their thumbnails and
  /// their previews, of every way in which cameras halve colours.
  private static let most = 1 << 21

  /// The filters of a geometry, in which the picture may be mirrored, but is not turned.
  static func of(_ geometry: PlaneResampler.Geometry) -> FilterPair {
    if let pair = made.withLock({ $0.pairs[geometry] }) { return pair }
    let pair = FilterPair(geometry)
    let weights = pair.down.weights.count + pair.across.weights.count
    if weights > most / 4 { return pair }
    made.withLock { made in
      if made.weights + weights > most { made = ([:], 0) }
      // Another photo may have made the same meanwhile.
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
