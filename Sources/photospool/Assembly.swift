import Blocking
import Darkroom
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
    // A third is left for what is made of what was decoded.
    limits.decoderBytes = settings.photo.memory / 3 * 2
    return limits
  }

  /// How many photos are prepared at once.
  var photoThreads: Int {
    settings.photo.threads > 0 ? settings.photo.threads : ProcessInfo.processInfo.activeProcessorCount
  }

  func darkroom() -> DarkroomPool {
    var options = DarkroomPool.Options(program: DarkroomProgram.path)
    options.processes = photoThreads
    options.memory = settings.photo.memory
    options.seconds = Int(settings.photo.time.seconds.rounded(.up))
    options.limits = photoLimits
    return DarkroomPool(options)
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
