import Secrets
import SettingKit

package struct DirectoryStoreType: StoreType {
  package static let word = "directory"
  package static let ownURLs: OwnURLs? = nil

  /// nil means `objects` in the spool. A relative path starts in the working directory.
  package let path: String?
  /// The receivers' URL before `/NAME`; nil means the `file://` URL of the directory.
  package let url: String?

  package struct Section: SettingsSection {
    var directory: String?
    var url: String?

    package init() {}

    package static let rows: [Setting<Section>] = [
      Setting(
        "directory", \.directory, .optional(.directory),
        "Where the directory store keeps its objects; empty is objects/ in the spool"),
      Setting(
        "url", \.url, .optional(.baseURL),
        "The URL under which others find the objects; empty is the directory's or bucket's own"),
    ]
  }

  /// The standard store of a configuration that names none.
  package static let inSpool = DirectoryStoreType(path: nil, url: nil)

  package var secrets: [SecretSource] { [] }
  package var isPlain: Bool { false }
  package var isOnlyHere: Bool { url == nil }

  package func store(_ name: String, in surroundings: StoreSurroundings) throws -> any Store {
    try DirectoryStore(
      name: name, directory: path ?? surroundings.objects, baseURL: url, pool: .ofDestination(name))
  }
}

extension DirectoryStoreType {
  package init?(_ section: Section, _ check: SectionCheck) {
    // Only one store may use the spool's own directory.
    if !check.isStandard, check.need("directory", section.directory) == nil { return nil }
    self.init(path: section.directory, url: section.url)
  }
}
