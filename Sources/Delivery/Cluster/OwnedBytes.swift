import Clusters
import ServiceLifecycle
import Signalling

/// Removes photos from the cluster once their requests are over. A service of its own, so that a store that is away holds up
/// no end.
actor OwnedBytes: Service {
  private let link: ClusterLink
  private let troubles: Troubles
  private let bell = Bell()
  /// The photos to remove, oldest first. Those that could not be removed go behind the others.
  private var waiting: [(record: RecordID, photos: [Int])] = []
  private var isAway = false

  private static let work = "photos of ended requests cannot be removed from the cluster"
  /// Beyond them the oldest are left: a store that never lets go must not fill the memory.
  private static let most = 4096

  init(link: ClusterLink, troubles: Troubles) {
    self.link = link
    self.troubles = troubles
  }

  func remove(_ photos: [Int], of record: RecordID) {
    if waiting.count == Self.most { waiting.removeFirst() }
    waiting.append((record, photos))
    // While the store is away, its next try comes by time.
    if !isAway { bell.ring() }
  }

  func run() async throws {
    await bell.serve {
      try await removeAll()
      isAway = false
      troubles.end(Self.work)
    } failed: { error in
      isAway = true
      troubles.tell(Self.work, error)
      return link.times.beat / .seconds(1)
    }
    // The end of the daemon does not wait for a store that is away.
    if !isAway { try? await removeAll() }
  }

  /// Ends with the first failure.
  private func removeAll() async throws {
    while let (record, photos) = waiting.first {
      waiting.removeFirst()
      do { try await link.bytes.remove(photos, of: record) } catch {
        waiting.append((record, photos))
        throw error
      }
    }
  }
}
