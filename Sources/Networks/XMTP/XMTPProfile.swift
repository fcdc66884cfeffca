import Digests
import FoundationEssentials
import Messages
import Seals

/// Profile photos on XMTP, as in the Convos app: one per member and group, announced by a message in the group and
/// sealed with the group's image key. A change is reserved and published like any message.
extension XMTPNetwork {
  /// The seal with the group's image key, which is read from the group's app data and kept in memory only.
  ///
  /// - Throws: `rejected` if it is not a group, or a group without an image key.
  package func profileSeal(for address: Address) async throws(DeliveryError) -> (any Seal)? {
    try Self.checkGroup(address)
    let facts = try await coProcess.ask("group", ["conversation": address.text])
    guard let appData = facts.appData else { throw Self.incomplete }
    let key: GroupImageKey?
    do { key = try GroupImageKey.find(inAppData: appData) } catch {
      throw DeliveryError(
        .rejected, "the XMTP \(address) is not of the Convos app, so it has no image key; name another group")
    }
    guard let key else {
      throw DeliveryError(
        .rejected,
        "the XMTP \(address) has no image key yet; let a member set a photo in the Convos app, then retry"
      )
    }
    return GroupImageSeal(key)
  }

  func reserveProfile(_ message: OutgoingMessage) async throws(DeliveryError) -> String {
    try Self.checkGroup(message.address)
    let photo = message.content.attachment
    var content = ProfileUpdateContent.clearing
    if let photo {
      try Self.checkAddress(of: photo)
      do { content = try ProfileUpdateContent.setting(photo) } catch {
        throw DeliveryError(.conflict, "the photo was not sealed for this XMTP group; it is with the next attempt")
      }
    }
    let facts = try await askInTurn(
      message.address, "reserve", ["conversation": message.address.text, "content": content.base64])
    guard let id = facts.reserved, Self.isID(id) else { throw Self.incomplete }
    return try ReservedProfile(id: id, group: message.address.text, photo: photo).text()
  }

  func publish(_ profile: ReservedProfile) async throws(DeliveryError) -> Publication {
    let facts = try await askInTurn(Address(unchecked: profile.group), "publish", ["reserved": profile.id])
    guard let moment = facts.publishedAt else { throw Self.incomplete }
    return Publication(
      publishedAt: Timestamp(milliseconds: moment), remoteID: profile.id, attachment: profile.photo)
  }

  private static func checkGroup(_ address: Address) throws(DeliveryError) {
    guard address.isProfile else { return }
    throw DeliveryError(
      .rejected,
      "on XMTP a profile photo belongs to a group; name the group in `profile.conversation`, then retry"
    )
  }
}

/// The reservation of a profile photo. XMTP's message lacks the photo's digest and length, which are needed after a
/// crash, so this replaces the bare id. It contains no key.
struct ReservedProfile: Codable {
  /// XMTP's id of the message.
  let id: String
  let group: String
  /// nil for a removal.
  let photo: Attachment?
}

extension ReservedProfile {
  /// nil for the bare id of a message.
  init?(_ reserved: String) {
    guard reserved.hasPrefix("{"), let read = try? JSONDecoder().decode(Self.self, from: Data(reserved.utf8)) else {
      return nil
    }
    self = read
  }

  func text() throws(DeliveryError) -> String {
    do { return String(decoding: try json(self), as: UTF8.self) } catch {
      throw DeliveryError(.conflict, "the change of the profile photo cannot be noted: \(error)")
    }
  }
}
