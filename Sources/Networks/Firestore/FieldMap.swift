import Matrix
import Messages
import SettingKit

/// The fields of a document: an app's names with constants and placeholders, such as `{"senderId":"{inbox}"}`.
///
/// A text that is one placeholder gets its value, with its type; in a longer text it is inserted. `{time}` is the server's
/// time of the write. A field is left out if its placeholder does not apply to the message: `{text}` of a photo, `{url}` of a
/// text. So are a map and an entry of a list, if that is true of anything in them.
struct FieldMap: Sendable, Hashable {
  indirect enum Part: Sendable, Hashable {
    case constant(JSONValue)
    case time
    case placeholder(Placeholder)
    case text([Part])
    case list([Part])
    case map([String: Part])
  }

  enum Placeholder: String, CaseIterable, Sendable {
    case message, request, conversation, inbox, kind
    case text
    case url, bytes, filename, mimeType, width, height, digest
    // Only with some seals, or some photos.
    case secret, salt, nonce, blurhash
  }

  /// The map as JSON, as it was written.
  let json: String
  let fields: [String: Part]

  static let empty = FieldMap(json: "{}", fields: [:])

  /// Limits of Firestore on a field's name, and of ours on the depth of a map.
  private static let longestName = 1500
  private static let deepest = 10

  private init(json: String, fields: [String: Part]) {
    self.json = json
    self.fields = fields
  }

  /// nil for anything but an object with valid names and known placeholders.
  init?(_ json: String) {
    guard case .object(let members)? = JSONValue(strictly: Array(json.utf8)) else { return nil }
    var fields: [String: Part] = [:]
    for (name, value) in members {
      // The field that photospool itself adds.
      guard name != FirestoreDocument.ownField, let part = Self.part(name, value, 1) else { return nil }
      fields[name] = part
    }
    self.init(json: json, fields: fields)
  }

  /// - Parameter isListed: within a list, where Firestore allows neither a list nor the server's time.
  private static func part(
    _ name: String, _ value: JSONValue, _ depth: Int, isListed: Bool = false, isEntry: Bool = false
  ) -> Part? {
    let isReserved = name.hasPrefix("__") && name.hasSuffix("__")
    guard 1...longestName ~= name.utf8.count, !isReserved, !hasControlCharacter(name), depth <= deepest
    else { return nil }
    switch value {
    case .text(let text):
      let part = part(text)
      return part == .time && isListed ? nil : part
    case .list(let values):
      let parts = values.compactMap { Self.part(name, $0, depth + 1, isListed: true, isEntry: true) }
      return isEntry || parts.count < values.count ? nil : .list(parts)
    case .object(let members):
      var parts: [String: Part] = [:]
      for (name, value) in members {
        guard let part = part(name, value, depth + 1, isListed: isListed) else { return nil }
        parts[name] = part
      }
      return .map(parts)
    default: return .constant(value)
    }
  }

  /// A text with placeholders; nil if one is unknown.
  private static func part(_ text: String) -> Part? {
    if text == "{time}" { return .time }
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}"),
        let placeholder = Placeholder(rawValue: String(rest[rest.index(after: open)..<close]))
      else { return nil }
      if open > rest.startIndex { parts.append(.constant(.text(String(rest[..<open])))) }
      parts.append(.placeholder(placeholder))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty || parts.isEmpty { parts.append(.constant(.text(String(rest)))) }
    return parts.count == 1 ? parts[0] : .text(parts)
  }

  /// Such maps in the configuration.
  static let kind = SettingKind<FieldMap>(
    expects: "a map of an app's field names to texts, numbers, `true`, `false`, maps and lists, with the placeholders "
      + choice((Placeholder.allCases.map(\.rawValue) + ["time"]).map { "{\($0)}" }) + ", the last one not in a list",
    isMap: true, parse: { FieldMap($0) }, show: \.json)

  /// The values for a message, and the paths of the fields that get the server's time.
  func filled(with message: OutgoingMessage) -> (fields: [String: JSONValue], times: [String]) {
    var filling = Filling(message: message)
    let values = filling.members(fields, path: [])
    return (values, filling.times.sorted())
  }

  /// A segment of a field's path, quoted unless it is a plain name.
  static func segment(_ name: String) -> String {
    if name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil { return name }
    return "`\(name.replacing("\\", with: "\\\\").replacing("`", with: "\\`"))`"
  }
}

/// The filling of a map with the values of one message.
private struct Filling {
  let message: OutgoingMessage
  var times: [String] = []

  mutating func members(_ parts: [String: FieldMap.Part], path: [String]) -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for (name, part) in parts where applies(part) { values[name] = value(part, path: path + [name]) }
    return values
  }

  /// Whether the message's kind has everything in the part.
  private func applies(_ part: FieldMap.Part) -> Bool {
    switch part {
    case .constant, .time, .list: true
    case .text(let parts): parts.allSatisfy(applies)
    case .map(let parts): parts.values.allSatisfy(applies)
    case .placeholder(let placeholder):
      switch placeholder {
      case .message, .request, .conversation, .inbox, .kind: true
      case .text: message.content.kind == .text
      case .url, .bytes, .filename, .mimeType, .width, .height, .digest, .secret, .salt, .nonce, .blurhash:
        message.content.attachment != nil
      }
    }
  }

  private mutating func value(_ part: FieldMap.Part, path: [String]) -> JSONValue? {
    switch part {
    case .constant(let value): return value
    case .placeholder(let placeholder): return value(placeholder)
    case .time:
      times.append(path.map(FieldMap.segment).joined(separator: "."))
      return nil
    case .text(let parts):
      return .text(parts.compactMap { value($0, path: path)?.written }.joined())
    case .list(let parts):
      return .list(parts.filter(applies).compactMap { value($0, path: path) })
    case .map(let parts):
      return .object(members(parts, path: path))
    }
  }

  private func value(_ placeholder: FieldMap.Placeholder) -> JSONValue? {
    let photo = message.content.attachment
    return switch placeholder {
    case .message: .text(message.message.text)
    case .request: .text(message.request)
    case .conversation: .text(message.address.text)
    case .inbox: .text(message.inbox.text)
    case .kind: .text(message.content.kind.rawValue)
    case .text: if case .text(let text) = message.content { .text(text) } else { nil }
    case .url: photo.map { .text($0.url) }
    case .bytes: photo.map { .whole(Int64($0.contentLength)) }
    case .filename: photo.map { .text($0.filename) }
    case .mimeType: photo.map { .text($0.mimeType) }
    case .width: photo.map { .whole(Int64($0.width)) }
    case .height: photo.map { .whole(Int64($0.height)) }
    case .digest: photo.map { .text($0.contentDigest) }
    case .secret: photo?.secret.map { .text($0) }
    case .salt: photo?.salt.map { .text($0) }
    case .nonce: photo?.nonce.map { .text($0) }
    case .blurhash: photo?.blurhash.map { .text($0) }
    }
  }
}

extension JSONValue {
  /// The value within a text.
  fileprivate var written: String? {
    switch self {
    case .text(let text): text
    case .whole(let number): String(number)
    default: nil
    }
  }
}
