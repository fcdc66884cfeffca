/// A value of a JSON object whose key is there also when the value is absent, as `null`.
@propertyWrapper
public struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws { wrappedValue = try Value?(from: decoder) }

  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}
