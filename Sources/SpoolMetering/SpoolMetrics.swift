import Ledgers
import Messages
import MetricText
import Settings

/// The metrics of a spool. Names and labels never change once released.
package enum SpoolMetrics {
  /// Metrics from the ledger, with or without a daemon.
  package static func families(_ counts: Counts, _ limits: Settings.Cache) -> [MetricFamily] {
    let families = [
      MetricFamily(
        "photospool_messages_waiting", .gauge, "Messages that wait to be sent or are being sent, by state; no drafts.",
        by: "state", words(counts.waiting)),
      MetricFamily("photospool_drafts", .gauge, "Drafts that are uploaded ahead.", Double(counts.drafts)),
      MetricFamily(
        "photospool_conversations_waiting", .gauge, "Conversations in which something waits.",
        Double(counts.conversations)),
      MetricFamily(
        "photospool_conversations_held", .gauge, "Conversations in which something waits because of `hold`.",
        Double(counts.heldConversations)),
      MetricFamily(
        "photospool_conversations_parked", .gauge, "Conversations in which something waits for a store or network.",
        Double(counts.parkedConversations)),
      MetricFamily(
        "photospool_requests_accepted_total", .counter, "Requests that were accepted to be sent.",
        Double(counts.accepted)),
      MetricFamily(
        "photospool_requests_ended_total", .counter, "Requests that came to an end, by outcome.", by: "outcome",
        words(counts.ended)),
      MetricFamily(
        "photospool_messages_sent_total", .counter, "Messages that were published, by kind.", by: "kind",
        words(counts.sent)),
      MetricFamily(
        "photospool_setbacks_total", .counter, "How often a message could not go on, by cause.", by: "cause",
        words(counts.setbacks)),
      MetricFamily(
        "photospool_photos_prepared_total", .counter, "Photos that were prepared.", Double(counts.preparedPhotos)),
      MetricFamily(
        "photospool_photo_original_bytes_total", .counter, "Size of the photos that were prepared, as dropped.",
        Double(counts.originalBytes)),
      MetricFamily(
        "photospool_photo_prepared_bytes_total", .counter, "Size of the photos that were prepared, as sent.",
        Double(counts.preparedBytes)),
    ]
    return families + cache(counts, limits) + receiving(counts)
      + time(
        "photospool_oldest_waiting_timestamp_seconds",
        "When the request was accepted that waits longest; absent while none waits.", counts.oldest)
      + time("photospool_last_sent_timestamp_seconds", "When a message was last published.", counts.lastSent)
  }

  private static func cache(_ counts: Counts, _ limits: Settings.Cache) -> [MetricFamily] {
    func byInbox(_ value: (CacheUse) -> Int) -> [String: Double] {
      var values = [String: Double]()
      for use in counts.cache { if let inbox = use.inbox { values[inbox.text] = Double(value(use)) } }
      return values
    }
    let families = [
      MetricFamily(
        "photospool_cache_bytes", .gauge, "What the photos of an inbox take in the cache, thumbnails and all.",
        by: "inbox", byInbox(\.bytes)),
      MetricFamily(
        "photospool_cache_photos", .gauge, "Photos of an inbox whose originals are in the cache.", by: "inbox",
        byInbox(\.photos)),
      MetricFamily(
        "photospool_cache_limit_bytes", .gauge, "What the janitor leaves of the cache to one inbox, and in total.",
        by: "scope", ["inbox": Double(limits.inbox), "total": Double(limits.total)]),
      MetricFamily(
        "photospool_cache_evictions_total", .counter, "Photos of which files were evicted from the cache.",
        by: "files",
        ["original": Double(counts.evicted.photos), "thumbnails": Double(counts.evicted.thumbnails)]),
      MetricFamily(
        "photospool_cache_evicted_bytes_total", .counter, "Bytes that were evicted from the cache.",
        Double(counts.evicted.bytes)),
      MetricFamily(
        "photospool_cache_views_total", .counter, "Photos that were viewed or exported, by where they were found.",
        by: "source", ["cache": Double(counts.viewsOfCached), "fetched": Double(counts.viewsOfFetched)]),
    ]
    return families
      + time("photospool_janitor_last_run_timestamp_seconds", "When the janitor last ended a pass.", counts.janitorRan)
  }

  private static func receiving(_ counts: Counts) -> [MetricFamily] {
    [
      MetricFamily(
        "photospool_received_photos", .gauge, "Photos that others announced and that are not purged, by state.",
        by: "state", words(counts.received)),
      MetricFamily(
        "photospool_photos_announced_total", .counter, "Photos that others announced.", Double(counts.announced)),
      MetricFamily(
        "photospool_photos_downloaded_total", .counter,
        "Photos that came into the cache; also those of ours that were fetched again.", Double(counts.downloads)),
      MetricFamily(
        "photospool_download_setbacks_total", .counter, "How often a photo could not be fetched, by cause.",
        by: "cause", words(counts.downloadSetbacks)),
    ]
  }

  /// Whether a daemon answers, and the version.
  package static func up(_ isUp: Bool) -> [MetricFamily] {
    [
      MetricFamily("photospool_up", .gauge, "Whether the daemon runs and answers.", isUp ? 1 : 0),
      MetricFamily(
        "photospool_build_info", .gauge, "Always 1; the version is in the label.", by: "version", [programVersion: 1]),
    ]
  }

  /// All that is told of a spool, as Prometheus text.
  ///
  /// - Parameters:
  ///   - counts: those of the ledger; nil if there is none.
  ///   - daemon: the text of the running daemon; nil if none answers.
  package static func text(_ counts: Counts?, _ limits: Settings.Cache, daemon: String?) -> String {
    let all = up(daemon != nil) + (counts.map { families($0, limits) } ?? [])
    return all.map(\.text).joined() + (daemon ?? "")
  }

  /// A missing time is left out: zero would look very old.
  private static func time(_ name: String, _ help: String, _ time: Timestamp?) -> [MetricFamily] {
    time.map { [MetricFamily(name, .gauge, help, $0.seconds)] } ?? []
  }

  private static func words<Word: RawRepresentable<String>>(_ values: [Word: Int]) -> [String: Double] {
    Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, Double($0.value)) })
  }
}

extension Timestamp {
  package var seconds: Double { Double(milliseconds) / 1000 }
}
