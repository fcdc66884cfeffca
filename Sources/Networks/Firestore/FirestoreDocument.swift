import Matrix
import Messages

/// A document as Firestore's REST API has it.
struct FirestoreDocument: Codable {
  /// `projects/P/databases/D/documents/…`.
  let name: String
  let fields: [String: FirestoreCoded]?
  /// Absent in a document that is written.
  var createTime: String?

  /// The field that photospool adds to each message: its id, and a photo's attachment with its keys. It tells our message
  /// from a document of somebody else with the same id, and which upload of a photo was published.
  static let ownField = "photospool"

  static func own(_ message: OutgoingMessage) -> JSONValue {
    var members = ["message": JSONValue.text(message.message.text)]
    if let attachment = message.content.attachment { members["attachment"] = JSONValue(attachment) }
    return .object(members)
  }

  /// The publication, if the document is that message.
  func publication(of message: MessageID) -> Publication? {
    guard let own = fields?[Self.ownField]?.value, own["message"]?.text == message.text else { return nil }
    return Publication(
      publishedAt: createTime.flatMap(Timestamp.init(firestore:)) ?? .now(), remoteID: nil,
      attachment: own["attachment"]?.attachment)
  }
}

/// The body of `documents:commit`: writes that all happen or none.
struct FirestoreCommit: Encodable {
  struct Write: Encodable {
    let update: FirestoreDocument
    var updateMask: Mask?
    let updateTransforms: [Transform]
    var currentDocument: Precondition?
  }

  struct Mask: Encodable {
    let fieldPaths: [String]
  }

  struct Transform: Encodable {
    let fieldPath: String
    let setToServerValue = "REQUEST_TIME"
  }

  struct Precondition: Encodable {
    let exists: Bool
  }

  let writes: [Write]
}

/// The answer to a commit.
struct FirestoreCommitted: Decodable {
  let commitTime: String
}

extension Timestamp {
  /// A time of Firestore, which has up to nine digits of fractions of a second.
  init?(firestore text: String) {
    guard let parts = text.wholeMatch(of: /([0-9T:-]+)(?:\.([0-9]{1,9}))?Z/)?.output else { return nil }
    let digits = String((parts.2.map(String.init) ?? "").prefix(3))
    self.init("\(parts.1).\(digits)\(String(repeating: "0", count: 3 - digits.count))Z")
  }
}
