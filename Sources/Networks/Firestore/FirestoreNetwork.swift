import GoogleCloud
import HTTP
import Messages
import Seals

/// Publishes each message as a document of Cloud Firestore, whose id is the message's.
///
/// The document is created only if it does not exist, in one commit with the summary of the conversation. A repeated commit
/// is refused as a whole, however long ago the first one was; the first content stays. A refused commit is success once the
/// document shows our own field.
///
/// As a service account photospool stands above the security rules of the app.
package struct FirestoreNetwork: Network {
  /// Where and how documents are written.
  struct Layout: Sendable {
    var project: String
    var database: String
    var collection = CollectionPath.standard
    var fields: FieldMap
    /// The fields of the document that holds the collection; none by default.
    var summary = FieldMap.empty
  }

  package let name: String
  package let takesBatches = true
  private let layout: Layout
  private let service: GoogleService

  /// `projects/P/databases/D/documents`.
  private var root: String { "projects/\(layout.project)/databases/\(layout.database)/documents" }

  init(name: String = "firestore", _ layout: Layout, _ service: GoogleService) {
    self.name = name
    self.layout = layout
    self.service = service
  }

  package func reserve(_ message: OutgoingMessage) -> String? { nil }
  package func stop() {}

  /// - Throws: `malformed_request` for a conversation whose name Firestore does not take for an id; `rejected` for a
  ///   profile photo.
  package func admit(_ address: Address, sealedWith seal: SealKind) throws(DeliveryError) {
    if address.isProfile {
      throw DeliveryError(
        .rejected, "\(service.name) has no profile photos; name another network in `profile.network`")
    }
    _ = try collection(of: address)
  }

  /// - Throws: the error of `GoogleFaults`; `conflict` if the document is somebody else's.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    if message.content.kind.isOfProfile { try admit(message.address, sealedWith: .unsealed) }
    let collection = try collection(of: message.address)
    let body: [UInt8]
    do { body = try json(commit(message, in: collection)) } catch {
      throw DeliveryError(.malformedRequest, "the message cannot be written as a document; check `fields`")
    }
    let answer = try await service.ask(.post, "/v1/\(root.escapedPath):commit", body)
    if answer.status == 409, answer.word == "ALREADY_EXISTS" {
      return try publication(of: message.message, in: await get(message.message, collection))
    }
    guard answer.isSuccess, let committed = answer.decoded(as: FirestoreCommitted.self) else {
      throw service.faults.error(answer)
    }
    return Publication(
      publishedAt: Timestamp(firestore: committed.commitTime) ?? .now(), remoteID: nil,
      attachment: message.content.attachment)
  }

  /// A missing document may still be written by a request on its way; publishing the message again finds out.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    if message.address.isProfile { return .unknown }
    let answer = try await get(message.message, collection(of: message.address))
    if answer.status == 404, answer.word == "NOT_FOUND" { return .unknown }
    return .published(try publication(of: message.message, in: answer))
  }

  /// Asks for a missing document, which tests project, database and account.
  package func check() async throws(DeliveryError) -> String {
    let missing = "\(root)/photospool/check-\(UInt64.random(in: 0...(.max)))"
    let body: [UInt8]
    do { body = try json(["documents": [missing]]) } catch {
      throw DeliveryError(.configError, "the name of the project or the database cannot be sent; check both")
    }
    let answer = try await service.ask(.post, "/v1/\(root.escapedPath):batchGet", body)
    guard answer.isSuccess else { throw service.faults.error(answer) }
    return "writes documents of \(layout.project) as \(service.account), above security rules, to \(service.name)"
  }

  private func commit(_ message: OutgoingMessage, in collection: String) -> FirestoreCommit {
    var (fields, times) = layout.fields.filled(with: message)
    fields[FirestoreDocument.ownField] = FirestoreDocument.own(message)
    var writes = [
      FirestoreCommit.Write(
        update: FirestoreDocument(
          name: "\(root)/\(collection)/\(message.message.text)", fields: fields.mapValues(FirestoreCoded.init)),
        updateTransforms: times.map { .init(fieldPath: $0) }, currentDocument: .init(exists: false))
    ]
    if let end = collection.lastIndex(of: "/"), !layout.summary.fields.isEmpty {
      let (fields, times) = layout.summary.filled(with: message)
      // Other fields of the conversation are the app's.
      writes.append(
        FirestoreCommit.Write(
          update: FirestoreDocument(
            name: "\(root)/\(collection[..<end])", fields: fields.mapValues(FirestoreCoded.init)),
          updateMask: .init(fieldPaths: fields.keys.map(FieldMap.segment).sorted()),
          updateTransforms: times.map { .init(fieldPath: $0) }))
    }
    return FirestoreCommit(writes: writes)
  }

  private func collection(of address: Address) throws(DeliveryError) -> String {
    if let path = layout.collection.filled(with: address) { return path }
    throw DeliveryError(
      .malformedRequest,
      "the conversation \(address) cannot be the id of a document; give it another name with `as` in its route")
  }

  private func get(_ message: MessageID, _ collection: String) async throws(DeliveryError) -> GoogleAnswer {
    try await service.ask(.get, "/v1/\(root)/\(collection)/\(message)".escapedPath)
  }

  private func publication(of message: MessageID, in answer: GoogleAnswer) throws(DeliveryError) -> Publication {
    guard answer.isSuccess, let document = answer.decoded(as: FirestoreDocument.self) else {
      throw service.faults.error(answer)
    }
    if let publication = document.publication(of: message) { return publication }
    throw DeliveryError(
      .conflict, "\(service.name) has another document with the id of the message \(message); remove that one")
  }
}

extension String {
  fileprivate var escapedPath: String { percentEncoded(keeping: "/()") }
}
