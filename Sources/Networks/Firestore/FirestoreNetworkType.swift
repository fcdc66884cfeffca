import GoogleCloud
import Messages
import Seals
import Secrets
import SettingKit
import Stores

package struct FirestoreNetworkType: NetworkType {
  package static let word = "firestore"
  package static let remembersMessages = true
  package static let publishesIntoSpool = false
  package static let keepsAccountInSpool = false
  package static let profilePhotos = ProfilePhotos.rejected
  package static let address = SettingKind<Address>(
    expects: "an id of a document: at most 255 bytes without `/`, and not `.`, `..` or `__…__`",
    parse: { CollectionPath.isID($0) ? try? Address($0) : nil }, show: \.text)

  var project = ""
  var database = "(default)"
  var collection = CollectionPath.standard
  var fields = FirestoreNetworkType.seedFields
  /// The fields of the conversation's document; none by default.
  var summary = FieldMap.empty
  /// The key file of the service account; empty only with an emulator.
  var keyFile = ""
  /// The emulator's URL; nil means Google's service.
  var emulator: String?

  package init() {}

  private static let seedFields =
    FieldMap(
      #"{"senderId":"{inbox}","text":"{text}","timestamp":"{time}","status":"sent","attachments":[{"id":"{message}","#
        + #""type":"image","url":"{url}","thumbnailURL":"{url}","sizeBytes":"{bytes}"}]}"#) ?? .empty

  package static let rows: [Setting<FirestoreNetworkType>] = [
    Setting("project", \.project, .orEmpty(projectID), "The Google Cloud project of the database"),
    Setting("database", \.database, databaseID, "The Firestore database"),
    Setting("collection", \.collection, CollectionPath.kind, "The collection of a conversation's messages"),
    Setting("fields", \.fields, FieldMap.kind, "The fields of a message's document, in an app's own names"),
    Setting(
      "summary", \.summary, FieldMap.kind, "The fields that are set in the conversation's document with each message"),
    Setting(
      "keyFile", \.keyFile, .orEmpty(.file),
      "The file with the XMTP account's private key, or a service account's key file"),
    Setting(
      "emulator", \.emulator, .optional(.webURL("http://127.0.0.1:8080")),
      "The URL of an emulator of Firestore to use instead; empty is Google's service"),
  ]

  package func isComplete(_ check: SectionCheck) -> Bool {
    [
      check.has("project", project), emulator != nil || check.has("keyFile", keyFile),
      emulator.map { check.hasBase("emulator", $0) } ?? true, hasSummary(check),
    ].allSatisfy(\.self)
  }

  private func hasSummary(_ check: SectionCheck) -> Bool {
    if summary.fields.isEmpty || collection.hasParent { return true }
    check.complain(
      about: "summary",
      "`\(check.path).summary` needs a document that holds the collection, and `\(collection.text)` is in none")
    return false
  }

  package var secrets: [SecretSource] { keyFile.isEmpty ? [] : [.document(keyFile)] }
  package var isPlain: Bool { emulator.map(SettingKit.isPlain) ?? false }
  package var isElsewhere: Bool { true }

  package func privacy(sealedWith seal: SealKind) -> String {
    "photos are sealed, and whoever may read the documents gets the keys"
  }

  package func network(_ name: String, in surroundings: DestinationSurroundings) throws -> any Network {
    let service = try GoogleService(
      "Firestore", at: "firestore.googleapis.com", emulator: emulator, for: .documents,
      keyFile: secrets.first.map { source in { @Sendable in try source.load() } }, client: surroundings.client,
      limits: surroundings.limits)
    return FirestoreNetwork(
      name: name,
      FirestoreNetwork.Layout(
        project: project, database: database, collection: collection, fields: fields, summary: summary), service)
  }
}

private let projectID = SettingKind<String>(
  expects: "the id of a project: 6 to 30 of `a-z`, `0-9` and `-`, beginning with a letter",
  accepts: { $0.wholeMatch(of: /[a-z][a-z0-9-]{5,29}/) != nil })
private let databaseID = SettingKind<String>(
  expects: "`(default)` or the id of a database: 4 to 63 of `a-z`, `0-9` and `-`, beginning with a letter",
  accepts: { $0 == "(default)" || $0.wholeMatch(of: /[a-z][a-z0-9-]{3,62}/) != nil })
