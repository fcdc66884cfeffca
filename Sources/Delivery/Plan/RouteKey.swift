import Seals

/// The identity of a store, a network or a listener: everything that it is made of. Equal keys mean the same
/// destination, also after a reload.
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

/// Equal for all routes with the same seal and store, which can share uploads. The store's credentials are not part of
/// it.
package struct RouteKey: Hashable, Sendable {
  package let seal: SealKind
  package let store: DestinationKey
  /// The recipients of a seal, if only they can open it; nil if only `seal` decides.
  package let audience: DestinationKey?

  package init(seal: SealKind, store: DestinationKey, audience: DestinationKey? = nil) {
    self.seal = seal
    self.store = store
    self.audience = audience
  }
}
