import Blocking
import Messages
import Photos
import Testing

@Suite struct PooledPreparerTests {
  private let preparer: any PhotoPreparer = PooledPreparer(
    limits: PhotoLimits(), pool: BlockingPool(label: "photos under test", threads: 2))

  @Test("Many photos at once come out as they do one by one")
  func together() async throws {
    let camera = try Camera()
    let photos = try (1...8).map {
      try camera.photograph(.landscape(width: 100 + $0, height: 80), tags: ["Orientation=\($0)"])
    }
    let alone = try photos.map { try prepare($0) }
    let preparer = preparer
    let together = try await withThrowingTaskGroup(of: (Int, PreparedPhoto).self) { group in
      for (index, photo) in photos.enumerated() { group.addTask { (index, try await preparer.prepare(photo)) } }
      return try await group.reduce(into: [Int: PreparedPhoto]()) { $0[$1.0] = $1.1 }
    }
    for (index, photo) in alone.enumerated() { #expect(together[index] == photo) }
  }

  @Test("A refusal comes through as it is")
  func refused() async {
    await #expect(throws: DeliveryError(.unsupportedImage, "this file is empty; send a photo")) {
      try await preparer.prepare([])
    }
  }
}
