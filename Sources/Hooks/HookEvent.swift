/// What a program can be told of. The raw values are the words of the configuration, the log and the metrics.
public enum HookEvent: String, CaseIterable, Sendable, Codable {
  /// All of a request is published.
  case sent
  /// A request was refused or given up.
  case failed
  /// A photo that somebody else sent is in the cache.
  case received
}

/// Who is told, and how much that may cost.
public struct HookOptions: Sendable, Equatable {
  /// By event: the absolute path of the program.
  public var programs: [HookEvent: String] = [:]
  /// Seconds that a program may take for one event.
  public var timeLimit = 10.0
  /// How often each of them may be started within a minute.
  public var perMinute = 60

  public init() {}
}
