import Clusters
import Ledgers
import Messages
import Photos

/// Reads photos and texts of requests that other hosts accepted: prepared photos from the cluster, texts from the owner's
/// ledger.
struct OwnedFiles: Sendable {
  let link: ClusterLink
  let ledger: Ledger

  func photo(of message: QueuedMessage) async throws -> PreparedPhoto {
    guard let id = message.id else { throw Self.gone }
    let name = BlobName(record: id, part: message.position)
    let bytes: [UInt8]
    do {
      guard let blob = try await link.bytes.get(name) else { throw Self.gone }
      bytes = try link.seal.bytes(blob, as: name)
    } catch let error as QueueError {
      try Task.checkCancellation()
      throw DeliveryError(.network, error.description)
    } catch let error as SealedError {
      if case .newer(let sentence) = error { throw DeliveryError(.localResources, sentence) }
      throw DeliveryError(.photoChanged, error.description)
    }
    guard let photo = PreparedPhoto(relayed: bytes) else {
      throw DeliveryError(.localResources, "a later version relayed the photo; upgrade the hosts that publish first")
    }
    return photo
  }

  func texts(of messages: [QueuedMessage]) async throws -> [String] {
    let texts = try await ledger.ownedTexts(of: messages.map(\.message))
    // Its conversation has another owner now.
    if texts.isEmpty { throw CancellationError() }
    return texts
  }

  private static let gone = DeliveryError(.network, "the photo's bytes are not in the cluster yet")
}
