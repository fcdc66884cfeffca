import Seals

/// The identity of a store, a network or a listener: all that it is made of. Equal keys stand for the same destination,
/// also under another configuration.
package struct DestinationKey: Hashable, Sendable {
  private let parts: [any Hashable & Sendable]

  package init(_ parts: any Hashable & Sendable...) { self.parts = parts }

  package static func == (left: Self, right: Self) -> Bool {
    left.parts.map { AnyHashable($0) } == right.parts.map { AnyHashable($0) }
  }

  package func hash(into hasher: inout Hasher) {
    for part in parts { part.hash(into: &hasher) }
  }
}

/// Equal for all routes that seal photos in one way and keep them in one place: a photo that one of them has uploaded,
/// another one can publish. Credentials of the store are no part of it.
package struct RouteKey: Hashable, Sendable {
  package let seal: SealKind
  package let store: DestinationKey
  /// Whom photos are sealed for, where others cannot open them; nil where only `seal` decides.
  package let audience: DestinationKey?

  package init(seal: SealKind, store: DestinationKey, audience: DestinationKey? = nil) {
    self.seal = seal
    self.store = store
    self.audience = audience
  }
}
