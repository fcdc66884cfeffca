import Foundation

/// The real program, as it was built beside the tests.
enum DarkroomUnderTest {
  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("photospool-darkroom").path
}
