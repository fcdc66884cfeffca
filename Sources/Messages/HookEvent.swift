/// The events that a program can be told of. The raw values are the words of the configuration, the log and the metrics.
package enum HookEvent: String, CaseIterable, Sendable, Codable {
  /// All of a request is published.
  case sent
  /// A request was refused or given up.
  case failed
  /// A photo that somebody else sent is in the cache.
  case received
}
