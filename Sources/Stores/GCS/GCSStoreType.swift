import GoogleCloud
import Secrets
import SettingKit

package struct GCSStoreType: StoreType {
  package static let word = "gcs"
  package static let ownURLs: OwnURLs? = nil

  var bucket = ""
  var naming = ObjectNaming.digest
  /// The receivers' URL before `/NAME`; nil means Firebase's download addresses.
  var url: String?
  /// The key file of the service account; empty only with an emulator.
  var keyFile = ""
  /// The emulator's URL; nil means Google's service.
  var emulator: String?

  package init() {}

  package static let rows: [Setting<GCSStoreType>] = [
    Setting(
      "url", \.url, .optional(.baseURL),
      "The URL under which others find the objects; empty is the directory's or bucket's own"),
    Setting("bucket", \.bucket, .orEmpty(.bucket), "The bucket"),
    Setting("naming", \.naming, ObjectNaming.kind, "How objects are named"),
    Setting("keyFile", \.keyFile, .orEmpty(.file), "The key file of a service account of Google Cloud"),
    Setting(
      "emulator", \.emulator, .optional(.webURL("http://127.0.0.1:9199")),
      "The URL of an emulator of Cloud Storage to use instead; empty is Google's service"),
  ]

  package func isComplete(_ check: SectionCheck) -> Bool {
    [
      check.has("bucket", bucket), emulator != nil || check.has("keyFile", keyFile),
      emulator.map { check.hasBase("emulator", $0) } ?? true,
    ].allSatisfy(\.self)
  }

  package var secrets: [SecretSource] { keyFile.isEmpty ? [] : [.document(keyFile)] }
  package var isPlain: Bool { emulator.map(SettingKit.isPlain) ?? false }
  package var isOnlyHere: Bool { false }

  package func store(_ name: String, in surroundings: DestinationSurroundings) throws -> any Store {
    let service = try GoogleService(
      "Cloud Storage", at: "storage.googleapis.com", emulator: emulator, for: .objects,
      keyFile: secrets.first.map { source in { @Sendable in try source.load() } }, client: surroundings.client,
      limits: surroundings.limits)
    // The emulator serves downloads at its own address.
    let downloads = emulator == nil ? "https://firebasestorage.googleapis.com" : service.base
    return GCSStore(name: name, service, bucket: bucket, naming: naming, publicURL: url, downloads: downloads)
  }
}
