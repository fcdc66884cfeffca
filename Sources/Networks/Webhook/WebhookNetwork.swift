import HTTP
import Messages
import Seals
import Secrets

/// Publishes each message as a signed HTTP request (Standard Webhooks).
///
/// The body is `{"type":"message.photo","timestamp":…,"data":{…}}`, or `message.text`, `profile.set`,
/// `profile.removed`. `data` has the members of a published line except `publishedAt`, which includes the keys of a
/// sealed photo. `webhook-id` is the message's id in all attempts, by which the receiver recognises a repetition.
/// Signature and time belong to the attempt.
///
/// Only 2xx is success; redirects are not followed. 410 holds the network instead of failing the message, so that
/// nothing is lost to an address that was closed by mistake.
package struct WebhookNetwork: Network {
  package let name: String
  package let takesBatches = true
  private let url: String
  private let reach: HTTPRequest.Reach
  private let signature: Renewable<WebhookSignature>
  private let client: HTTPClient
  private let limits: HTTPLimits
  private let faults: WebhookFaults
  private let clock: @Sendable () -> Timestamp

  /// The time limit of a receiver in seconds.
  package static let timeLimit = 30.0

  /// - Parameters:
  ///   - url: `https://…`; `http://` only to this computer, or if private addresses are allowed.
  ///   - secrets: at least one, `whsec_` and base64. All sign: to change one, add the new one, change the receiver, and
  ///     remove the old one.
  ///   - rereadSecrets: reads them again after a refusal; nil if they never change.
  ///   - allowsPrivateAddresses: whether the receiver may be in a private network. Otherwise no connection is made to such
  ///     an address, whatever its name. This machine may be reached by its own name or address in any case.
  /// - Throws: `.configError` for an invalid URL or secret.
  package init(
    name: String = "webhook", url: String, secrets: [Secret], rereadSecrets: (@Sendable () throws -> [Secret])? = nil,
    allowsPrivateAddresses: Bool = false, client: HTTPClient, clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws(DeliveryError) {
    self.name = name
    guard let address = HTTPAddress(url) else {
      throw DeliveryError(.configError, "the webhook has to be a URL such as `https://photos.example.org/webhook`")
    }
    self.url = url
    reach =
      allowsPrivateAddresses ? .anyAddress : address.isThisComputer ? .thisComputer : .publicAddresses
    let reread = rereadSecrets.map { read in { @Sendable in try WebhookSignature(read()) } }
    signature = Renewable(try WebhookSignature(secrets), read: reread)
    self.client = client
    limits = HTTPLimits(total: .seconds(Self.timeLimit))
    faults = WebhookFaults(receiver: "the webhook at \(address.authority)")
    self.clock = clock
  }

  package func admit(_ address: Address, sealedWith seal: SealKind) {}
  package func reserve(_ message: OutgoingMessage) -> String? { nil }
  package func stop() {}

  /// - Throws: the error of `WebhookFaults`.
  package func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    let now = clock()
    let body = body(of: message, at: message.firstTriedAt ?? now)
    let (id, seconds) = (message.message.text, now.milliseconds / 1000)
    let headers = [
      HTTPHeader("Content-Type", "application/json"), HTTPHeader("webhook-id", id),
      HTTPHeader("webhook-timestamp", String(seconds)),
      HTTPHeader("webhook-signature", signature.current.header(id: id, seconds: seconds, body: body)),
    ]
    var request = HTTPRequest(.post, url, headers: headers, body: body, limits: limits)
    request.reach = reach
    request.successBytes = 0
    let response: HTTPResponse
    do { response = try await client.send(request) } catch { throw faults.error(error) }
    guard response.isSuccess else {
      let error = faults.error(response, now: now)
      if error.cause == .authExpired { signature.refuse() }
      throw error
    }
    return Publication(publishedAt: clock(), remoteID: nil, attachment: message.content.attachment)
  }

  /// A receiver cannot be asked; it recognises a repetition by its id.
  package func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting { .unknown }

  /// Sends nothing, because a webhook has no test request.
  package func check() async throws(DeliveryError) -> String {
    "posts to \(faults.receiver.dropFirst("the ".count)), which only a message can try"
  }

  private func body(of message: OutgoingMessage, at moment: Timestamp) -> [UInt8] {
    let type =
      switch message.content {
      case .photo: "message.photo"
      case .text: "message.text"
      case .profile: "profile.set"
      case .profileRemoval: "profile.removed"
      }
    let body: JSONObjectText = ["type": type, "timestamp": moment.description, "data": message.members]
    return body.bytes
  }
}
