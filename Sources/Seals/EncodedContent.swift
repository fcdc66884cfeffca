/// XMTP's envelope `EncodedContent`, as far as attachments need it (proto3; field numbers from xmtp/proto
/// `message_contents/content.proto`): type = 1, parameters = 2, fallback = 3, content = 4.
struct EncodedContent: Equatable {
  var authority: String
  var type: String
  var majorVersion: UInt64
  var parameters: [String: String]
  var content: [UInt8]

  /// The inner content of a remote attachment.
  static func attachment(_ bytes: [UInt8], filename: String, mimeType: String) -> EncodedContent {
    EncodedContent(
      authority: "xmtp.org", type: "attachment", majorVersion: 1,
      parameters: ["filename": filename, "mimeType": mimeType], content: bytes)
  }

  var isAttachment: Bool { authority == "xmtp.org" && type == "attachment" && majorVersion == 1 }

  /// Parameters are written in the order of their names, so that equal contents are equal bytes.
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
    writer.write(4, content)
    return writer.bytes
  }

  /// Reads an envelope; unknown fields are passed over.
  ///
  /// - Throws: `SealError.notAnAttachment` when the bytes are no envelope.
  init(decoding bytes: [UInt8]) throws(SealError) {
    self.init(authority: "", type: "", majorVersion: 0, parameters: [:], content: [])
    var reader = ProtobufReader(bytes[...])
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (1, .bytes(let bytes)): try readType(bytes)
      case (2, .bytes(let bytes)): try readParameter(bytes)
      case (4, .bytes(let bytes)): content = Array(bytes)
      default: break
      }
    }
  }

  init(authority: String, type: String, majorVersion: UInt64, parameters: [String: String], content: [UInt8]) {
    self.authority = authority
    self.type = type
    self.majorVersion = majorVersion
    self.parameters = parameters
    self.content = content
  }

  private mutating func readType(_ bytes: ArraySlice<UInt8>) throws(SealError) {
    var reader = ProtobufReader(bytes)
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (1, .bytes(let text)): authority = String(decoding: text, as: UTF8.self)
      case (2, .bytes(let text)): type = String(decoding: text, as: UTF8.self)
      case (3, .number(let number)): majorVersion = number
      default: break
      }
    }
  }

  private mutating func readParameter(_ bytes: ArraySlice<UInt8>) throws(SealError) {
    var reader = ProtobufReader(bytes)
    var (name, text) = ("", "")
    while let (field, value) = try reader.next() {
      switch (field, value) {
      case (1, .bytes(let bytes)): name = String(decoding: bytes, as: UTF8.self)
      case (2, .bytes(let bytes)): text = String(decoding: bytes, as: UTF8.self)
      default: break
      }
    }
    parameters[name] = text
  }
}
