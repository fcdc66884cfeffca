import FoundationEssentials
import Matrix
import Messages

/// A value of a document in the form of Firestore's REST API: an object with one member, its type.
struct FirestoreCoded: Codable {
  let value: JSONValue

  private enum CodingKeys: String, CodingKey {
    case nullValue, booleanValue, integerValue, doubleValue, stringValue, arrayValue, mapValue
  }

  private struct List: Codable {
    let values: [FirestoreCoded]?
  }

  private struct Fields: Codable {
    let fields: [String: FirestoreCoded]?
  }

  init(_ value: JSONValue) { self.value = value }

  /// Types that photospool does not write, such as times, are null.
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    if let text = try members.decodeIfPresent(String.self, forKey: .stringValue) {
      value = .text(text)
    } else if let digits = try members.decodeIfPresent(String.self, forKey: .integerValue), let number = Int64(digits) {
      value = .whole(number)
    } else if let flag = try members.decodeIfPresent(Bool.self, forKey: .booleanValue) {
      value = .flag(flag)
    } else if let fields = try members.decodeIfPresent(Fields.self, forKey: .mapValue) {
      value = .object((fields.fields ?? [:]).mapValues(\.value))
    } else if let list = try members.decodeIfPresent(List.self, forKey: .arrayValue) {
      value = .list((list.values ?? []).map(\.value))
    } else if let number = try? members.decodeIfPresent(Double.self, forKey: .doubleValue) {
      value = .number(number)
    } else {
      value = .null
    }
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch value {
    case .null: try members.encodeNil(forKey: .nullValue)
    case .flag(let flag): try members.encode(flag, forKey: .booleanValue)
    case .whole(let number): try members.encode(String(number), forKey: .integerValue)
    case .number(let number): try members.encode(number, forKey: .doubleValue)
    case .text(let text): try members.encode(text, forKey: .stringValue)
    case .list(let values): try members.encode(List(values: values.map(FirestoreCoded.init)), forKey: .arrayValue)
    case .object(let fields):
      try members.encode(Fields(fields: fields.mapValues(FirestoreCoded.init)), forKey: .mapValue)
    }
  }
}

extension JSONValue {
  /// An attachment with the members of a published line.
  init?(_ attachment: Attachment) {
    guard let bytes = try? json(attachment) else { return nil }
    self.init(strictly: bytes)
  }

  /// The attachment of such a value; nil for any other.
  var attachment: Attachment? {
    guard let bytes = try? json(self) else { return nil }
    return try? JSONDecoder().decode(Attachment.self, from: Data(bytes))
  }
}
