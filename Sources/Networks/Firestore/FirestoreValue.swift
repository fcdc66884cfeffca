import FoundationEssentials
import Messages

/// A value of a document. As `Codable` it has the form of Firestore's REST API: an object with one member, its type.
enum FirestoreValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case list([FirestoreValue])
  case map([String: FirestoreValue])

  subscript(_ name: String) -> FirestoreValue? {
    guard case .map(let members) = self else { return nil }
    return members[name]
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}

extension FirestoreValue: Codable {
  private enum CodingKeys: String, CodingKey {
    case nullValue, booleanValue, integerValue, doubleValue, stringValue, arrayValue, mapValue
  }

  private struct List: Codable {
    let values: [FirestoreValue]?
  }

  private struct Fields: Codable {
    let fields: [String: FirestoreValue]?
  }

  /// Types that photospool does not write, such as times, are null.
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    if let text = try members.decodeIfPresent(String.self, forKey: .stringValue) {
      self = .string(text)
    } else if let digits = try members.decodeIfPresent(String.self, forKey: .integerValue), let number = Int64(digits) {
      self = .integer(number)
    } else if let flag = try members.decodeIfPresent(Bool.self, forKey: .booleanValue) {
      self = .boolean(flag)
    } else if let fields = try members.decodeIfPresent(Fields.self, forKey: .mapValue) {
      self = .map(fields.fields ?? [:])
    } else if let list = try members.decodeIfPresent(List.self, forKey: .arrayValue) {
      self = .list(list.values ?? [])
    } else if let number = try? members.decodeIfPresent(Double.self, forKey: .doubleValue) {
      self = .double(number)
    } else {
      self = .null
    }
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .null: try members.encodeNil(forKey: .nullValue)
    case .boolean(let flag): try members.encode(flag, forKey: .booleanValue)
    case .integer(let number): try members.encode(String(number), forKey: .integerValue)
    case .double(let number): try members.encode(number, forKey: .doubleValue)
    case .string(let text): try members.encode(text, forKey: .stringValue)
    case .list(let values): try members.encode(List(values: values), forKey: .arrayValue)
    case .map(let fields): try members.encode(Fields(fields: fields), forKey: .mapValue)
    }
  }
}

/// A value as ordinary JSON.
struct PlainValue: Codable {
  let value: FirestoreValue

  init(_ value: FirestoreValue) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      value = .null
    } else if let flag = try? container.decode(Bool.self) {
      value = .boolean(flag)
    } else if let number = try? container.decode(Int64.self) {
      value = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      value = .double(number)
    } else if let text = try? container.decode(String.self) {
      value = .string(text)
    } else if let values = try? container.decode([PlainValue].self) {
      value = .list(values.map(\.value))
    } else {
      value = .map(try container.decode([String: PlainValue].self).mapValues(\.value))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .null: try container.encodeNil()
    case .boolean(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .double(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .list(let values): try container.encode(values.map(PlainValue.init))
    case .map(let members): try container.encode(members.mapValues(PlainValue.init))
    }
  }
}

extension FirestoreValue {
  /// An attachment with the members of a published line.
  init?(_ attachment: Attachment) {
    guard let bytes = try? json(attachment), let plain = try? JSONDecoder().decode(PlainValue.self, from: Data(bytes))
    else { return nil }
    self = plain.value
  }

  /// The attachment of such a value; nil for any other.
  var attachment: Attachment? {
    guard let bytes = try? json(PlainValue(self)) else { return nil }
    return try? JSONDecoder().decode(Attachment.self, from: Data(bytes))
  }
}
