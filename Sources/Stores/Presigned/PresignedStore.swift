import HTTP
import Messages
import Secrets

/// Stores objects through an endpoint, which returns an upload URL for each object.
///
/// The request is `GET ENDPOINT?contentType=TYPE&filename=NAME`. The answer is the JSON object `{objectKey, uploadUrl,
/// assetUrl}` with optional `headers` for the upload.
///
/// Objects cannot be deleted, so `delete` silently does nothing. Lifecycle rules of the store should remove old ones.
/// Such an object is sealed, and its keys are gone.
package struct PresignedStore: Store {
  package let name: String
  private let endpoint: String
  private let isSecure: Bool
  private let token: Renewable<Secret?>
  private let client: HTTPClient
  private let limits: HTTPLimits
  private let faults: StoreFaults

  /// Upload URLs per upload. More than one expired URL is no coincidence.
  private static let mostTickets = 2

  /// - Parameter token: sent to the endpoint only, as `Authorization: Bearer`.
  /// - Throws: `.configError` for an invalid URL.
  package init(
    name: String = "presigned", endpoint: String, token: Renewable<Secret?>, client: HTTPClient,
    limits: HTTPLimits = HTTPLimits()
  ) throws(DeliveryError) {
    guard let address = HTTPAddress(endpoint) else {
      throw DeliveryError(
        .configError, "the upload endpoint has to be a URL such as `https://photos.example.org/upload`")
    }
    self.name = name
    self.endpoint = endpoint + (address.query == nil ? "?" : "&")
    isSecure = address.scheme == "https"
    self.token = token
    self.client = client
    self.limits = limits
    faults = StoreFaults(store: "the upload endpoint at \(address.authority)")
  }

  /// - Parameter object: the file name for the endpoint; the store behind it names the object.
  /// - Throws: the error of `StoreFaults`; `.urlExpired` if the URLs are expired.
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
      // 412: the object exists; the answer to an earlier request was lost.
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

  /// Asks for an upload URL without using it.
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

  /// Services answer 403 or 400, often without a reason.
  private static func isExpired(_ ticket: UploadTicket, _ answer: StoreAnswer) -> Bool {
    guard answer.status == 403 || answer.status == 400 || answer.status == 401, !answer.isPage else { return false }
    return answer.says("expired") || ticket.hasExpired(at: .now())
  }
}
