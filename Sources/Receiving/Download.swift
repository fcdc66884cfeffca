import DurableFiles
import Foundation
import HTTP
import Matrix
import Messages
import Settings
import Spooling

/// Fetches the objects of announced photos within limits of address, size and time. It checks the address of each
/// connection, also after redirects. It sends no cookie, no referrer, and credentials to our own homeserver only.
struct Download: Sendable {
  let client: HTTPClient
  let settings: Settings
  let homeserver: MatrixAccount?
  /// Gets the fetched share of the object, 0 to 1, if its length is known.
  var progress: @Sendable (Double) -> Void = { _ in }

  /// Redirects per photo, as in libxmtp.
  static let mostRedirects = 10

  /// Fetches an object into `part`, and resumes what is there. Nothing is verified here.
  func fetch(_ photo: RemotePhoto, into part: PartialObject) async throws {
    var request = try first(photo)
    for _ in 0...Self.mostRedirects {
      guard let location = try await ask(request, photo, part) else { return }
      guard let target = HTTPAddress.redirect(location, from: request.url) else {
        throw DeliveryError(.insecureURL, "\(request.host) sends to an address that cannot be asked")
      }
      request = try hop(target)
    }
    throw DeliveryError(.tooManyRedirects, "\(request.host) is the end of more than \(Self.mostRedirects) redirects")
  }

  private struct Hop {
    let url: String
    let host: String
    var headers: [HTTPHeader] = []
    var isHomeserver = false
  }

  private func first(_ photo: RemotePhoto) throws -> Hop {
    guard photo.url.hasPrefix("mxc://") else { return try hop(photo.url) }
    guard let homeserver else {
      throw DeliveryError(
        .configError, "the photo lies in Matrix, and no network of type matrix is configured to fetch it through")
    }
    guard let (url, headers) = homeserver.download(photo.url), let address = HTTPAddress(url) else {
      throw DeliveryError(.insecureURL, "the photo's mxc:// address names no server and object")
    }
    return Hop(url: url, host: address.authority, headers: headers, isHomeserver: true)
  }

  private func hop(_ url: String) throws -> Hop {
    // The fragment is not for the server.
    let url = String(url.prefix { $0 != "#" })
    guard let address = HTTPAddress(url) else {
      throw DeliveryError(.insecureURL, "the photo's address is neither https:// nor mxc://, or cannot be asked")
    }
    guard address.scheme == "https" || settings.receiving.allowPrivate else {
      throw DeliveryError(.insecureURL, "\(address.authority) would be asked without encryption (http://)")
    }
    return Hop(url: url, host: address.authority)
  }

  /// - Returns: the address of a redirect; nil when the object is complete.
  private func ask(_ hop: Hop, _ photo: RemotePhoto, _ part: PartialObject) async throws -> String? {
    let faults = DownloadFaults(isHomeserver: hop.isHomeserver)
    let limit = limit(photo)
    let validator = photo.hasDigest ? try part.validator() : nil
    let start = validator == nil ? 0 : try part.count()
    var limits = settings.http.limits
    limits.total = settings.receiving.time
    var request = HTTPRequest(.get, hop.url, headers: hop.headers, limits: limits)
    // Compression would count the bytes wrongly.
    request.headers.append(HTTPHeader("Accept-Encoding", "identity"))
    let isResuming = 1..<limit ~= start
    if let validator, isResuming {
      request.headers += [HTTPHeader("Range", "bytes=\(start)-"), HTTPHeader("If-Range", validator)]
    }
    if !hop.isHomeserver, !settings.receiving.allowPrivate { request.reach = .publicAddresses }
    let sink = ObjectSink(
      part, resumesAt: isResuming ? start : nil, limit: limit, keepsParts: photo.hasDigest, host: hop.host,
      announced: photo.contentLength, progress: progress)
    request.sink = sink
    let response = try await send(request, sink, faults)
    if [301, 302, 303, 307, 308].contains(response.status), let location = response.header("Location") {
      return location
    }
    switch response.status {
    case 200, 206:
      if response.status == 200, !sink.hasBegun { _ = try part.begin(validator: nil) }
      return nil
    case 416 where isResuming:
      // The stored part belongs to another object.
      try part.clear()
      throw DeliveryError(.network, "\(hop.host) has another object now than the one that was begun")
    default:
      if hop.isHomeserver, response.status == 401 { homeserver?.token.refuse() }
      throw faults.error(response, host: hop.host)
    }
  }

  private func send(_ request: HTTPRequest, _ sink: ObjectSink, _ faults: DownloadFaults) async throws -> HTTPResponse {
    do { return try await client.send(request) } catch {
      if error.reason == .cancelled { throw CancellationError() }
      if let fault = sink.fault { throw fault }
      // The sink refused the body; the head is the answer.
      if error.reason == .stopped, let head = sink.head { return head }
      throw faults.error(error)
    }
  }

  /// The size limit, with a margin, because some senders announce the length of the photo instead.
  private func limit(_ photo: RemotePhoto) -> Int {
    guard let length = photo.contentLength else { return settings.receivedObjectBytes }
    return min(settings.receivedObjectBytes, length.addingReportingOverflow(65_536).overflow ? .max : length + 65_536)
  }
}
