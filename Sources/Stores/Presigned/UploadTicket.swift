import FoundationEssentials
import HTTP
import Messages

/// An endpoint's answer, which permits one upload.
struct UploadTicket: Decodable {
  /// The object's name in the store behind the endpoint.
  let objectKey: String
  /// The URL for the upload. Anybody who has it can upload.
  let uploadUrl: String
  /// The URL for receivers.
  let assetUrl: String
  /// Headers for the upload, if any.
  let headers: [String: String]?

  private static let longestURL = 8192

  init?(_ body: [UInt8]) {
    guard let ticket = try? JSONDecoder().decode(Self.self, from: Data(body)),
      ticket.uploadUrl.utf8.count <= Self.longestURL, ticket.assetUrl.utf8.count <= Self.longestURL,
      HTTPAddress(ticket.uploadUrl) != nil, HTTPAddress(ticket.assetUrl) != nil,
      ticket.headers?.allSatisfy({ Self.isHeader($0.key, $0.value) }) ?? true
    else { return nil }
    self = ticket
  }

  /// Whether it is a single header without line breaks.
  private static func isHeader(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }

  /// Exactly the headers to send: an additional or missing one invalidates the signature.
  func headers(contentType: String) -> [HTTPHeader] {
    if let headers { return headers.sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) } }
    let type = [HTTPHeader("Content-Type", contentType)]
    guard let names = query("X-Amz-SignedHeaders") ?? query("X-Goog-SignedHeaders") else { return type }
    return names.lowercased().split(separator: ";").contains("content-type") ? type : []
  }

  /// Whether the URL had expired at `now`.
  func hasExpired(at now: Timestamp) -> Bool {
    guard let date = query("X-Amz-Date") ?? query("X-Goog-Date"), date.count == 16,
      let seconds = (query("X-Amz-Expires") ?? query("X-Goog-Expires")).flatMap({ Double($0) }),
      let signed = Timestamp(Self.dashed(date))
    else { return false }
    return now.seconds(since: signed) >= seconds
  }

  /// Turns `20130524T000000Z` into the form of `Timestamp`.
  private static func dashed(_ date: String) -> String {
    let digits = Array(date)
    func part(_ range: Range<Int>) -> String { String(digits[range]) }
    return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15)).000Z"
  }

  /// A parameter of the upload URL. Only `%3B`, which separates header names, is decoded.
  private func query(_ name: String) -> String? {
    let pairs = HTTPAddress(uploadUrl)?.query?.split(separator: "&") ?? []
    let value = pairs.first { $0.lowercased().hasPrefix(name.lowercased() + "=") }?.dropFirst(name.utf8.count + 1)
    return value.map { String($0).replacing("%3B", with: ";").replacing("%3b", with: ";") }
  }
}
