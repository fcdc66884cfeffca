extension Duration {
  public static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
  public static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
  public static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

  /// As a number of seconds.
  public var seconds: Double { self / .seconds(1) }
}
