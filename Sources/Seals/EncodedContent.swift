import Digests

/// The parts of XMTP's envelope `EncodedContent` that attachments need (proto3; xmtp/proto
/// `message_contents/content.proto`): type = 1, parameters = 2, fallback = 3, content = 4, compression = 5.
struct EncodedContent: Equatable {
  var authority = ""
  var type = ""
  var majorVersion: UInt64 = 0
  var parameters: [String: String] = [:]
  /// The text for clients that do not know the type. Ours is empty inside an attachment.
  var fallback: String?
  var content: [UInt8] = []

  /// The inner content of a remote attachment.
  static func attachment(_ bytes: [UInt8], filename: String, mimeType: String) -> EncodedContent {
    EncodedContent(
      authority: "xmtp.org", type: "attachment", majorVersion: 1,
      parameters: ["filename": filename, "mimeType": mimeType], content: bytes)
  }

  /// Readers ignore minor versions.
  var isAttachment: Bool { authority == "xmtp.org" && type == "attachment" && majorVersion == 1 }

  /// Encodes parameters in the order of their names, so that equal contents give equal bytes.
  func encoded() -> [UInt8] {
    var typeField = ProtobufWriter()
    typeField.write(1, authority)
    typeField.write(2, type)
    typeField.write(3, majorVersion)
    var writer = ProtobufWriter()
    writer.write(1, typeField.bytes)
    for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
      var entry = ProtobufWriter()
      entry.write(1, name)
      entry.write(2, value)
      writer.write(2, entry.bytes)
    }
    if let fallback { writer.write(3, fallback) }
    writer.write(4, content)
    return writer.bytes
  }
}

extension EncodedContent {
  /// Parses an envelope; skips unknown fields and decompresses the content. We never compress, but others do.
  ///
  /// - Throws: `SealError.notAnAttachment` for invalid bytes, `.compressed` for an unknown compression, `.tooLarge` for
  ///   large content.
  init(decoding bytes: [UInt8]) throws(SealError) {
    self.init()
    var reader = ProtobufReader(bytes[...])
    var isPacked = false
    while let (field, value) = try reader.next() {
      switch field {
      case 1: try readType(value.asBytes())
      case 2: try readParameter(value.asBytes())
      case 3: fallback = try value.asText()
      case 4: content = Array(try value.asBytes())
      case 5:
        _ = try value.asNumber()
        isPacked = true
      default: break
      }
    }
    if isPacked { content = try Inflation.inflated(content) }
  }

  private mutating func readType(_ bytes: ArraySlice<UInt8>) throws(SealError) {
    var reader = ProtobufReader(bytes)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: authority = try value.asText()
      case 2: type = try value.asText()
      case 3: majorVersion = try value.asNumber()
      default: break
      }
    }
  }

  private mutating func readParameter(_ bytes: ArraySlice<UInt8>) throws(SealError) {
    var reader = ProtobufReader(bytes)
    var (name, text) = ("", "")
    while let (field, value) = try reader.next() {
      switch field {
      case 1: name = try value.asText()
      case 2: text = try value.asText()
      default: break
      }
    }
    parameters[name] = text
  }
}
