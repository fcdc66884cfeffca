/// A value of a JSON object whose key is there also when the value is absent, as `null`.
@propertyWrapper
package struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  package init(from decoder: any Decoder) throws { wrappedValue = try Value?(from: decoder) }

  package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}
