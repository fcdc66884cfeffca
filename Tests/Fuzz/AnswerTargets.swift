import Digests
import HTTP
import Messages

@testable import GoogleCloud
@testable import Matrix
@testable import Networks
@testable import Stores

extension FuzzTarget {
  static let answers: [FuzzTarget] = [
    retryAfter, matrixAnswer, matrixMediaID, storeAnswer, uploadTicket, googleAnswer,
  ]

  private static let now = Timestamp(milliseconds: 1_800_000_000_000)

  /// Splits an input into the status in three digits, a line of `Retry-After`, and the body.
  private static func answer(_ input: [UInt8]) -> HTTPResponse {
    let head = input.prefix { $0 != 0x0A }
    let status = Int(String(decoding: head.prefix(3), as: UTF8.self)) ?? 200
    let wait = HTTPHeader("Retry-After", String(decoding: head.dropFirst(4), as: UTF8.self))
    return HTTPResponse(status: status, headers: [wait], body: Array(input.dropFirst(head.count + 1)))
  }

  private static func check(_ error: DeliveryError) throws(BrokenProperty) {
    try holdPlain(error.sentence)
    try holdWait(error.retryAfter)
  }

  static let retryAfter = FuzzTarget(
    "retry-after", words: ["Sun, ", "01 Jan ", "2147483647", " 00:00:00", " GMT", "1970", "-", "+", ".", ":"]
  ) { input throws(BrokenProperty) in
    try holdWait(RetryAfter.seconds(String(decoding: input, as: UTF8.self), now: now))
  }

  static let matrixAnswer = FuzzTarget(
    "matrix-answer",
    words: [
      "{", "}", "[", "]", "\"", ":", ",", "errcode", "M_FORBIDDEN", "M_LIMIT_EXCEEDED", "retry_after_ms", "event_id",
      "sender", "origin_server_ts", "content", "photospool.message", "photospool.digest", "filename", "url", "file",
      "info", "w", "h", "mimetype", "size", "null", "200 ", "429 ",
    ]
  ) { input throws(BrokenProperty) in
    let answer = MatrixAnswer(answer(input))
    for use in [MatrixFaults.Use.room, .media] {
      try check(MatrixFaults(server: "the homeserver", use: use).error(answer, now: now))
    }
    guard let event = answer.decoded(as: MatrixEvent.self) else { return }
    let publication = event.publication
    _ = publication.publishedAt.description
    guard let attachment = publication.attachment else { return }
    let outgoing = OutgoingMessage(
      message: MessageID(unchecked: "m"), request: "r", address: Address(unchecked: "!r"),
      inbox: InboxID(unchecked: "i"), content: .photo(attachment))
    let line = LocalLine(outgoing: outgoing, publishedAt: now)
    try hold(LocalLine(line.encoded)?.publication.attachment == attachment, "what was written is not what is read")
  }

  static let matrixMediaID = FuzzTarget("media-id", words: ["mxc://", "/", "..", "%2e", ":", "[::1]"]) {
    input throws(BrokenProperty) in
    guard let id = MatrixMediaID(String(decoding: input, as: UTF8.self)) else { return }
    let parts = id.path.split(separator: "/", omittingEmptySubsequences: false)
    try hold(parts.count == 2 && !parts.contains("..") && !parts.contains("."), "the path \(id.path) leads elsewhere")
    try hold(HTTPAddress("https://h/\(id.path)")?.query == nil, "the path \(id.path) has a query")
  }

  static let storeAnswer = FuzzTarget(
    "store-answer", words: ["<Error>", "<Code>", "</Code>", "<html", "<!doctype html", "SlowDown", "503 ", "<?xml"]
  ) { input throws(BrokenProperty) in
    let answer = StoreAnswer(answer(input))
    try check(StoreFaults(store: "the store").error(answer, now: now))
    try hold(!answer.isSuccess || answer.code == nil, "an error is a success")
    _ = answer.says("expired")
  }

  static let uploadTicket = FuzzTarget(
    "upload-ticket",
    words: [
      "{", "}", "\"", ":", ",", "objectKey", "uploadUrl", "assetUrl", "headers", "https://h/o", "X-Amz-Date=",
      "X-Amz-Expires=", "X-Amz-SignedHeaders=", "20260101T000000Z", "%3B", "&", "?", "\\r\\n", "\\u0000",
    ]
  ) { input throws(BrokenProperty) in
    guard let ticket = UploadTicket(input) else { return }
    _ = ticket.hasExpired(at: now)
    for header in ticket.headers(contentType: "image/jpeg") {
      try hold(
        !header.name.isEmpty && !(header.name + header.value).utf8.contains { $0 < 0x20 || $0 == 0x7F },
        "the header \(header.name.debugDescription) is more than one")
    }
  }
  static let googleAnswer = FuzzTarget(
    "google-answer",
    words: [
      "{", "}", "[", "]", "\"", ":", ",", "error", "status", "details", "reason", "ALREADY_EXISTS", "SERVICE_DISABLED",
      "fields", "photospool", "mapValue", "stringValue", "integerValue", "arrayValue", "values", "doubleValue",
      "message",
      "attachment", "createTime", "commitTime", "2026-01-02T03:04:05.678901Z", "-9223372036854775808", "null", "409 ",
    ]
  ) { input throws(BrokenProperty) in
    let answer = GoogleAnswer(answer(input))
    for use in [GoogleUse.documents, .objects] {
      try check(GoogleFaults(service: "the service", use: use).error(answer, now: now))
    }
    if let answer = answer.decoded(as: FirestoreCommitted.self) {
      _ = Timestamp(firestore: answer.commitTime)?.description
    }
    guard let document = answer.decoded(as: FirestoreDocument.self) else { return }
    guard let publication = document.publication(of: MessageID(unchecked: "0a01")) else { return }
    _ = publication.publishedAt.description
    guard let attachment = publication.attachment else { return }
    try hold(JSONValue(attachment)?.attachment == attachment, "what was written is not what is read")
  }
}
