import Synchronization

/// When the daemon was told last that somebody has viewed a photo: at most once a minute for each.
final class ViewedPhotos: Sendable {
  private static let pause = Duration.seconds(60)
  private static let most = 1000
  private let told = Mutex([String: ContinuousClock.Instant]())

  /// - Parameter tell: tells the daemon; false if none heard it.
  func tell(_ photo: String, at now: ContinuousClock.Instant = .now, _ tell: () -> Bool) {
    let isDue = told.withLock { told in told[photo].map { now - $0 >= Self.pause } ?? true }
    guard isDue, tell() else { return }
    told.withLock { told in
      if told.count >= Self.most { told = told.filter { now - $0.value < Self.pause } }
      if told.count < Self.most { told[photo] = now }
    }
  }
}
