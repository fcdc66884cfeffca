import Darkroom
import Delivery
import Foundation
import Photos
import Settings

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
    options.circuits.longestProbe = settings.delivery.probe.seconds
    options.circuits.mending = settings.delivery.mending.seconds
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
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}
