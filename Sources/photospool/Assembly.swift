import Blocking
import Delivery
import Foundation
import Messages
import Networks
import Photos
import Seals
import Settings
import Spooling
import Stores

/// Makes of the configuration what delivery works with. The only place that knows both.
struct Assembly {
  let settings: Settings

  var options: DeliveryOptions {
    var options = DeliveryOptions()
    options.inbox = settings.inbox
    options.rescan = settings.intake.rescan.seconds
    options.settle = settings.intake.settle.seconds
    options.conversations = settings.delivery.conversations
    options.lookahead = settings.delivery.lookahead
    options.uploads = settings.delivery.uploads
    options.lifetime = settings.delivery.lifetime.seconds
    options.retry = RetryPolicy(
      first: settings.delivery.backoff.first.seconds, longest: settings.delivery.backoff.longest.seconds)
    return options
  }

  var photoLimits: PhotoLimits {
    var limits = PhotoLimits()
    limits.longestSide = settings.photo.longestSide
    limits.outputBytes = settings.photo.bytes
    limits.bestQuality = settings.photo.bestQuality
    limits.worstQuality = settings.photo.worstQuality
    limits.inputBytes = settings.photo.inputBytes
    limits.pixels = settings.photo.pixels
    limits.thumbnailSide = settings.photo.thumbnailSide
    return limits
  }

  func preparer() -> any PhotoPreparer {
    let threads = settings.photo.threads > 0 ? settings.photo.threads : ProcessInfo.processInfo.activeProcessorCount
    return PooledPreparer(limits: photoLimits, pool: BlockingPool(label: "photos", threads: threads))
  }

  func destinations(for spool: Spool) throws -> Destinations {
    let seal: any Seal =
      switch settings.seal {
      case .xmtp: XMTPSeal()
      case .unsealed: NoSeal()
      }
    let pool = BlockingPool(label: "destinations", threads: 8)
    let store: any Store =
      switch settings.store.type {
      case .directory:
        try DirectoryStore(
          directory: settings.store.directory ?? spool.objects.path, baseURL: settings.store.url, pool: pool)
      }
    let network: any Network =
      switch settings.network.type {
      case .local: try LocalNetwork(directory: spool.published.path, pool: pool)
      }
    return Destinations(standard: Route(seal: seal, store: store, network: network))
  }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}
