import Messages
import Photos
import Stores

/// A store that keeps nothing, and fails or waits as configured.
final actor HeldStore: Store {
  nonisolated let name = "held"
  private let isHeld: @Sendable (String) -> Bool
  private var fault: DeliveryError?
  private var held: [CheckedContinuation<Void, Never>] = []
  private(set) var kept: Set<String> = []
  private(set) var asked = 0
  private(set) var deleted = 0
  typealias Condition = @Sendable (_ asked: Int, _ kept: Set<String>) -> Bool
  private var waiters: [(Condition, CheckedContinuation<Void, Never>)] = []

  /// - Parameter isHeld: conversations whose photos wait for `release`.
  init(fault: DeliveryError? = nil, isHeld: @escaping @Sendable (String) -> Bool = { _ in false }) {
    self.fault = fault
    self.isHeld = isHeld
  }

  /// Contains the conversation, which a store does not know otherwise.
  nonisolated func objectName(_ origin: ObjectOrigin) -> ObjectName {
    ObjectName(unchecked: "\(origin.conversation)/\(origin.digest.hex)")
  }

  func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    asked += 1
    tell()
    if isHeld(String(object.text.prefix { $0 != "/" })) { await withCheckedContinuation { held.append($0) } }
    if let fault { throw fault }
    kept.insert(object.text)
    tell()
    return "held:\(object)"
  }

  func delete(_ object: ObjectName) {
    kept.remove(object.text)
    deleted += 1
    tell()
  }

  func check() -> String { "it is held" }

  func mend() { fault = nil }

  func release() {
    for waiter in held { waiter.resume() }
    held = []
  }

  /// Returns when `condition` holds for the number of calls and the objects.
  func wait(until condition: @escaping Condition) async {
    if condition(asked, kept) { return }
    await withCheckedContinuation { waiters.append((condition, $0)) }
  }

  private func tell() {
    let (asked, kept) = (asked, kept)
    for (_, waiter) in waiters.filter({ $0.0(asked, kept) }) { waiter.resume() }
    waiters.removeAll { $0.0(asked, kept) }
  }
}

struct EasyPreparer: PhotoPreparer {
  func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto {
    PreparedPhoto(
      jpeg: [1, 2, 3], width: 1, height: 1, thumbnail: [1], blurred: [1], blurhash: "", quality: nil,
      original: OriginalPhoto(format: .jpeg, bytes: 3, width: 1, height: 1, orientation: 1), stripped: [])
  }
}
