import Messages
import SettingKit

extension Settings {
  /// The profile photos of one's own inboxes.
  package struct Profile: SettingsSection {
    package var network: String?
    package var conversation: ConversationID?
    package var side = 512
    package var bytes = 200_000

    package init() {}

    package static let rows: [Setting<Profile>] = [
      Setting(
        "network", \.network, .optional(.name),
        "The network that profile photos are set on; empty is the standard one"),
      Setting(
        "conversation", \.conversation, .optional(.identifier),
        "The group that profile photos are set in, on XMTP, which has them for each group"),
      Setting("side", \.side, .count(16...2048, of: "pixels"), "The side of a profile photo, at most"),
      Setting("bytes", \.bytes, .bytes(10_000...999_999), "The size of a profile photo, at most"),
    ]
  }
}
