import Synchronization

/// The filters of a plane, down and across.
struct FilterPair {
  let down: ResamplingFilter
  let across: ResamplingFilter

  /// Those that were made last. Planes of one photo, and photos of one camera, have the same sizes; to make their
  /// filters anew takes as long as a third of the filtering. They tell nothing of a photo but its size.
  private static let made = Mutex<[PlaneResampler.Geometry: FilterPair]>([:])
  /// Pairs that are kept, and weights of one that is: four times what 12 megapixels take, and half a megabyte.
  private static let (most, longest) = (8, 1 << 18)

  /// The filters of a geometry, in which the picture may be mirrored, but is not turned.
  static func of(_ geometry: PlaneResampler.Geometry) -> FilterPair {
    if let pair = made.withLock({ $0[geometry] }) { return pair }
    let pair = FilterPair(geometry)
    if pair.down.weights.count + pair.across.weights.count > longest { return pair }
    made.withLock { made in
      if made.count >= most { made = [:] }
      made[geometry] = pair
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
