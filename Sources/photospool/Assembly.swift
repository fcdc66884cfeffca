import Darkroom
import Delivery
import DurableFiles
import Foundation
import Hooks
import Janitor
import Ledgers
import Messages
import Photos
import Settings
import Spooling

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
    options.remoteSeconds = settings.cache.remote.seconds
    options.cacheLimits = CacheLimits(inbox: settings.cache.inbox, total: settings.cache.total)
    options.textfile = settings.metrics.textfile
    options.reportPause = settings.metrics.pause.seconds
    return options
  }

  var hookOptions: HookOptions {
    var options = HookOptions()
    options.programs[.sent] = settings.hooks.sent
    options.programs[.failed] = settings.hooks.failed
    options.programs[.received] = settings.hooks.received
    options.timeLimit = settings.hooks.timeout.seconds
    options.perMinute = settings.hooks.perMinute
    return options
  }

  var janitorOptions: JanitorOptions {
    var options = JanitorOptions()
    options.inboxBytes = settings.cache.inbox
    options.totalBytes = settings.cache.total
    options.tmp = settings.janitor.tmp.seconds
    options.drafts = settings.janitor.drafts.seconds
    options.receipts = settings.janitor.receipts.seconds
    options.failed = settings.janitor.failed.seconds
    options.announced = settings.janitor.announced.seconds
    return options
  }

  func janitor(_ spool: Spool, _ ledger: Ledger) -> Janitor {
    Janitor(spool: spool, ledger: ledger, options: janitorOptions, purge: purge(spool, ledger))
  }

  func purge(_ spool: Spool, _ ledger: Ledger) -> Purge {
    Purge(
      spool: spool, ledger: ledger, publishedNames: { [settings] in settings.localNames(of: $0) },
      objects: { [settings] in try settings.objectDirectories(of: spool) })
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

  var profileLimits: PhotoLimits {
    var limits = photoLimits
    limits.longestSide = settings.profile.side
    limits.squareSide = settings.profile.side
    limits.outputBytes = settings.profile.bytes
    limits.thumbnailSide = min(limits.thumbnailSide, settings.profile.side)
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
    options.profileLimits = profileLimits
    return DarkroomPool(options)
  }
}

extension Settings {
  /// Where stores of this machine keep objects.
  func objectDirectories(of spool: Spooling.Spool) throws(FileError) -> ObjectDirectories {
    var paths: [String: String] = [:]
    for store in stores {
      if case .directory(let directory) = store.kind { paths[store.name] = directory.path ?? spool.objects.path }
    }
    return try ObjectDirectories(paths)
  }

  /// Under which names a `local` network may have published a conversation.
  fileprivate func localNames(of conversation: ConversationID) -> [ConversationID] {
    guard let route = routes.first(where: { $0.matches(conversation.text) }), let alias = route.alias,
      case .local = networks.first(where: { $0.name == route.network })?.kind
    else { return [conversation] }
    return [conversation, ConversationID(unchecked: alias)]
  }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}
