import Secrets
import SettingKit

package struct DirectoryStoreType: StoreType {
  package static let word = "directory"
  package static let ownURLs: OwnURLs? = nil

  /// nil means `objects` in the spool. A relative path starts in the working directory.
  package var directory: String?
  /// The receivers' URL before `/NAME`; nil means the `file://` URL of the directory.
  var url: String?

  package init() {}

  package static let rows: [Setting<DirectoryStoreType>] = [
    Setting(
      "directory", \.directory, .optional(.directory),
      "Where the directory store keeps its objects; empty is objects/ in the spool"),
    Setting(
      "url", \.url, .optional(.baseURL),
      "The URL under which others find the objects; empty is the directory's or bucket's own"),
  ]

  /// Only one store may use the spool's own directory.
  package func isComplete(_ check: SectionCheck) -> Bool {
    check.isStandard || check.has("directory", directory ?? "")
  }

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { false }
  package var isOnlyHere: Bool { url == nil }

  package func store(_ name: String, in surroundings: DestinationSurroundings) throws -> any Store {
    try DirectoryStore(
      name: name, directory: directory ?? surroundings.objects, baseURL: url, pool: .ofDestination(name))
  }
}
