/// The events for hooks. Raw values are the words of the configuration, the log and the metrics.
package enum HookEvent: String, CaseIterable, Sendable, Codable {
  /// A request is completely published.
  case sent
  /// A request was refused or has failed.
  case failed
  /// A photo of somebody else is in the cache.
  case received
}
