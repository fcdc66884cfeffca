import Digests

/// The key with which members of an XMTP group seal their profile photos, as in the Convos app. Every member knows it.
/// Logs and debugger dumps do not show it.
package struct GroupImageKey: Sendable, CustomStringConvertible, CustomReflectable {
  let bytes: [UInt8]

  /// nil unless there are 32 bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  package var description: String { "(key material)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Source: the Convos app's `conversation_custom_metadata.proto`. A group's app data is that protobuf in URL-safe
/// base64, or 0x1F, the protobuf's length in 4 bytes and the deflated protobuf.
extension GroupImageKey {
  private static let packedMark: UInt8 = 0x1f
  private static let keyField: UInt64 = 4
  /// The size limit of the protobuf; XMTP limits app data to 8 KiB.
  private static let limit = 1 << 20

  /// The key in a group's app data, if there is one.
  ///
  /// - Throws: `.notAnAttachment`, `.compressed`, `.tooLarge` or `.badKeyMaterial` for invalid app data.
  package static func find(inAppData text: String) throws(SealError) -> GroupImageKey? {
    guard var metadata = [UInt8](base64: text) else { throw .notAnAttachment }
    if metadata.first == packedMark {
      guard metadata.count > 5 else { throw .compressed }
      metadata = try Inflation.inflated(Array(metadata.dropFirst(5)), limit: limit)
    }
    var reader = ProtobufReader(metadata[...])
    var found: [UInt8]?
    while let (field, value) = try reader.next() {
      if field == keyField { found = Array(try value.asBytes()) }
    }
    guard let found, !found.isEmpty else { return nil }
    guard let key = GroupImageKey(found) else { throw .badKeyMaterial }
    return key
  }
}
