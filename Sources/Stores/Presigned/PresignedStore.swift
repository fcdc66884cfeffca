import Digests
import HTTP
import Messages
import Secrets

/// Keeps objects where an endpoint says: it is asked for leave with every upload, and answers with a URL that takes one
/// object.
///
/// The request is `GET ENDPOINT?contentType=TYPE&filename=NAME`, the answer the JSON object `{objectKey, uploadUrl,
/// assetUrl}` and, if there are any to be sent with the upload, `headers`.
///
/// There is no way to delete what was uploaded: `delete` does nothing, and says nothing, as nobody could mend it.
/// Whoever runs the store has its lifecycle rules remove what nobody fetches. Such an object is sealed, and its keys
/// are gone.
package struct PresignedStore: Store {
  package let name: String
  private let endpoint: String
  private let isSecure: Bool
  private let token: Renewable<Secret?>
  private let client: HTTPClient
  private let limits: HTTPLimits
  private let faults: StoreFaults

  /// URLs that are asked for within one upload. More than one expired at once is no accident.
  private static let mostTickets = 2

  /// - Parameters:
  ///   - name: the store's word in the configuration, the log and the ledger.
  ///   - token: is shown to the endpoint, as `Authorization: Bearer`, and to nobody else.
  ///   - rereadToken: reads it again once it was refused; nil is that it never changes.
  /// - Throws: `.configError` for what is no URL.
  package init(
    name: String = "presigned", endpoint: String, token: Secret? = nil,
    rereadToken: (@Sendable () throws -> Secret?)? = nil, client: HTTPClient, limits: HTTPLimits = HTTPLimits()
  ) throws(DeliveryError) {
    guard let address = HTTPAddress(endpoint) else {
      throw DeliveryError(
        .configError, "the upload endpoint has to be a URL such as `https://photos.example.org/upload`")
    }
    self.name = name
    self.endpoint = endpoint + (address.query == nil ? "?" : "&")
    isSecure = address.scheme == "https"
    self.token = Renewable(token, read: rereadToken)
    self.client = client
    self.limits = limits
    faults = StoreFaults(store: "the upload endpoint at \(address.authority)")
  }

  /// - Parameter object: is only told to the endpoint as the file's name; the store behind it names the object.
  /// - Throws: what `StoreFaults` makes of an answer or of none; `.urlExpired` when the URLs come expired.
  package func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    let rising = RisingProgress(progress)
    for _ in 1...Self.mostTickets {
      let ticket = try await ticket(for: object, contentType: contentType)
      let store = StoreFaults(store: "the store at \(HTTPAddress(ticket.uploadUrl)?.authority ?? "an upload URL")")
      var request = HTTPRequest(
        .put, ticket.uploadUrl, headers: ticket.headers(contentType: contentType), body: bytes, limits: limits)
      request.successBytes = StoreAnswer.telling
      let answer: StoreAnswer
      do { answer = StoreAnswer(try await client.send(request) { rising.sent($0) }) } catch { throw store.error(error) }
      // Already there: an earlier answer to this request was lost.
      if answer.isSuccess || answer.status == 412 {
        rising.end()
        return ticket.assetUrl
      }
      guard Self.isExpired(ticket, answer) else { throw store.error(answer) }
    }
    throw DeliveryError(
      .urlExpired, "\(faults.store) gives upload URLs that have expired already; check the clocks of both")
  }

  package func delete(_ object: ObjectName) async throws(DeliveryError) {}

  /// Asks for leave to upload, and makes no use of it.
  package func check() async throws(DeliveryError) -> String {
    _ = try await ticket(for: ObjectName(unchecked: "photospool-check"), contentType: "application/octet-stream")
    return "\(faults.store) answers with an upload URL"
  }

  private func ticket(for object: ObjectName, contentType: String) async throws(DeliveryError) -> UploadTicket {
    let url = "\(endpoint)contentType=\(contentType.percentEncoded())&filename=\(object.text.percentEncoded())"
    var headers = [HTTPHeader("Accept", "application/json")]
    if let token = token.current { headers.append(HTTPHeader("Authorization", "Bearer \(token.reveal())")) }
    let answer: StoreAnswer
    do {
      answer = StoreAnswer(try await client.send(HTTPRequest(.get, url, headers: headers, limits: limits)))
    } catch {
      throw faults.error(error)
    }
    guard answer.isSuccess else {
      let error = faults.error(answer)
      if error.cause == .authExpired { token.refuse() }
      throw error
    }
    guard let ticket = UploadTicket(answer.response.body) else {
      throw DeliveryError(
        .configError,
        "\(faults.store) answered without an `objectKey`, `uploadUrl` and `assetUrl` that can be used; check its URL")
    }
    guard !isSecure || HTTPAddress(ticket.uploadUrl)?.scheme == "https" else {
      throw DeliveryError(.configError, "\(faults.store) wants the upload to go unencrypted; it has to give `https://`")
    }
    return ticket
  }

  /// Services call it 403 or 400; not all of them say why.
  private static func isExpired(_ ticket: UploadTicket, _ answer: StoreAnswer) -> Bool {
    guard answer.status == 403 || answer.status == 400 || answer.status == 401, !answer.isPage else { return false }
    return answer.says("expired") || ticket.hasExpired(at: .now())
  }
}
