extension Duration {
  package static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
  package static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
  package static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

  package var seconds: Double { self / .seconds(1) }
}
