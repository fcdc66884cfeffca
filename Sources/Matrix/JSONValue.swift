import FoundationEssentials

/// Any JSON value, for writing it again in one canonical form.
package enum JSONValue: Codable, Sendable, Hashable {
  case null
  case flag(Bool)
  case whole(Int64)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let whole = try? value.decode(Int64.self) {
      self = .whole(whole)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([Element].self) {
      self = .list(list.map(\.value))
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .flag(let flag): try value.encode(flag)
    case .whole(let whole): try value.encode(whole)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let members): try value.encode(members)
    }
  }

  /// Far deeper than any event of a client, and far less than what the decoder refuses.
  static let depth = 64

  /// Any JSON; nil when it is none. Deeper values are empty.
  package init?(parsing text: [UInt8]) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(Self.text(text, cutAt: Self.depth))) else {
      return nil
    }
    self = value
  }

  /// Any JSON; nil when it is none, or when a value in it cannot be decoded.
  package init?(strictly text: [UInt8]) {
    let decoder = JSONDecoder()
    if let strict = Self.strict { decoder.userInfo[strict] = true }
    guard let value = try? decoder.decode(JSONValue.self, from: Data(text)) else { return nil }
    self = value
  }

  private static let strict = CodingUserInfoKey(rawValue: "strict")

  /// A member of an object; nil for other values.
  package subscript(_ name: String) -> JSONValue? { members[name] }

  /// An element of a list. One that cannot be decoded becomes null, so that it does not spoil the others; not if read
  /// strictly.
  private struct Element: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
      do { value = try JSONValue(from: decoder) } catch {
        if let strict = JSONValue.strict, decoder.userInfo[strict] != nil { throw error }
        value = .null
      }
    }
  }

  package var text: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }

  /// The members of an object; none for other values.
  package var members: [String: JSONValue] {
    guard case .object(let members) = self else { return [:] }
    return members
  }

  /// The elements of a list; none for other values.
  package var elements: [JSONValue] {
    guard case .list(let elements) = self else { return [] }
    return elements
  }

  /// A text of JSON whose arrays and objects below `depth` are empty: a decoder refuses a whole text for the depth of one
  /// value.
  static func text(_ text: [UInt8], cutAt depth: Int) -> [UInt8] {
    var level = 0
    var (isString, isEscaped) = (false, false)
    return text.filter { byte in
      if isString {
        (isString, isEscaped) = (isEscaped || byte != UInt8(ascii: "\""), !isEscaped && byte == UInt8(ascii: "\\"))
        return level <= depth
      }
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        level += 1
        return level <= depth + 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): level -= 1
      default: isString = byte == UInt8(ascii: "\"")
      }
      return level <= depth
    }
  }
}
