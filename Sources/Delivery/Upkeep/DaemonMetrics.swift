import Hooks
import Messages
import MetricText
import SpoolMetering

extension Reports {
  /// The metrics that only the daemon has.
  func families() async -> [MetricFamily] {
    let open = await circuits.open
    let destinations = plan.destinations
    let names = Set(destinations.stores.map(\.name) + destinations.networks.map(\.network.name))
    let reload = reloads.now
    return [
      MetricFamily(
        "photospool_start_time_seconds", .gauge, "When the daemon started.", startedAt.seconds),
      MetricFamily(
        "photospool_destination_available", .gauge,
        "Whether a store or network is used; 0 while it is left alone after a failure.", by: "destination",
        Dictionary(uniqueKeysWithValues: names.map { ($0, open.contains($0) ? 0 : 1) })),
      MetricFamily(
        "photospool_step_duration_seconds", "How long a step of delivery took that succeeded.", by: "step", times.all),
      MetricFamily(
        "photospool_config_reload_successful", .gauge, "Whether the last reading of the configuration was good.",
        reload.isGood ? 1 : 0),
      MetricFamily(
        "photospool_config_reload_timestamp_seconds", .gauge, "When the configuration in force was read.",
        reload.at.seconds),
    ] + hookFamilies + mailFamilies + (await clusterFamilies())
  }

  private func clusterFamilies() async -> [MetricFamily] {
    guard let owner else { return [] }
    let state = await owner.state()
    return [
      MetricFamily(
        "photospool_cluster_partitions", .gauge, "The partitions of the cluster that this host owns.",
        Double(state.partitions)),
      MetricFamily(
        "photospool_cluster_lease_valid", .gauge, "Whether this host may publish for the cluster.",
        state.hasLease ? 1 : 0),
    ]
  }

  private var mailFamilies: [MetricFamily] {
    guard let counts = mail?.counts else { return [] }
    let refused = counts.refusedByReason.mapValues(Double.init)
    return [
      MetricFamily(
        "photospool_mails_total", .counter, "Mails since the start, by what became of them.", by: "end",
        [
          "taken": Double(counts.taken), "refused": refused.values.reduce(0, +),
          "dropped": Double(counts.dropped),
        ]),
      MetricFamily(
        "photospool_mails_refused_total", .counter, "Refused mails since the start, by reason.", by: "reason", refused),
    ]
  }

  private var hookFamilies: [MetricFamily] {
    guard let counts = hooks?.counts else { return [] }
    func values(_ count: (HookLine.Counts) -> Int) -> [String: Double] {
      Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, Double(count($0.value))) })
    }
    return [
      MetricFamily(
        "photospool_hooks_run_total", .counter, "How often a hook was run, by event.", by: "event", values(\.run)),
      MetricFamily(
        "photospool_hooks_failed_total", .counter, "How often a hook did not end well, by event.", by: "event",
        values(\.failed)),
      MetricFamily(
        "photospool_hooks_dropped_total", .counter, "Events that a hook was too slow to be told of, by event.",
        by: "event", values(\.dropped)),
    ]
  }
}
