import CCurl
import Glibc
import Messages

/// A request in progress: libcurl's handle and the state of its callbacks. Owned by the transfer thread.
final class Transfer {
  let easy: UnsafeMutableRawPointer
  private let handles: EasyHandles
  private let order: TransferOrder
  private let hasProxy: Bool
  private var headerList: UnsafeMutablePointer<curl_slist>?
  /// Bytes of the body that libcurl has taken; it rewinds for another connection.
  private var taken = 0
  /// The maximum of `taken`, so that progress never falls.
  private var furthest = 0
  private var headers = [HTTPHeader]()
  private var headerBytes = 0
  private var body = [UInt8]()
  private var isReplyTooLarge = false
  /// The head of a 2xx answer has arrived, which decides the request.
  private var isDone = false
  /// The result was reported.
  private var isTold = false
  /// Body bytes that were ignored.
  private var passed = 0
  private let begin = ContinuousClock.now
  private var hasBegunBody = false
  private var isStopped = false
  private var isKeptFromPrivateAddress = false

  /// The largest body that is sent together with the head.
  private static let mostBodyWithHead = 16_384
  /// How long to wait for the rest of a decided answer, and how much of it to read, so that its connection can be
  /// reused.
  private static let patience = Duration.seconds(2)
  private static let mostPassed = 1 << 16
  /// The size limit of an answer's headers.
  private static let mostHeaderBytes = 1 << 18

  /// nil, with the error reported, if it cannot begin.
  init?(_ order: TransferOrder, _ options: HTTPOptions, _ handles: EasyHandles) {
    guard !order.cancelled.isSet, let easy = handles.take() else {
      order.end(order.cancelled.isSet ? .cancelled : .other(Int(CURLE_OUT_OF_MEMORY.rawValue)), wasNeverSent: true)
      return nil
    }
    self.order = order
    self.easy = easy
    self.handles = handles
    hasProxy = options.proxy != nil && order.request.reach != .thisComputer
    let results = setConnection(options) + setLimits() + setRequest(options)
    if let result = results.first(where: { $0 != CURLE_OK }) {
      order.end(.other(Int(result.rawValue)), wasNeverSent: true)
      return nil
    }
    if !order.request.body.isEmpty { order.progress(0) }
  }

  deinit {
    handles.giveBack(easy)
    ccurl_list_free(headerList)
  }

  var isCancelled: Bool { order.cancelled.isSet }

  /// Whether head and body go out in one system call, which is all that the receiver waits for.
  private var isBodyWithHead: Bool {
    order.request.method == .post && order.request.body.count <= Self.mostBodyWithHead
  }

  // MARK: Options of libcurl

  private func setConnection(_ options: HTTPOptions) -> [CURLcode] {
    var results = [
      ccurl_set_text(easy, CURLOPT_URL, order.request.url),
      ccurl_set_long(easy, CURLOPT_PATH_AS_IS, 1),
      // Otherwise a silent failure of the network is noticed only at the limits, and its recovery only with TCP's next
      // retransmission, minutes later.
      ccurl_set_sockets(easy),
      ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"),
      ccurl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
      ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0),
      ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1),
      // Otherwise a transfer that ends during name resolution blocks all others.
      ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1),
      // An empty text disables the proxy; none at all means the environment's.
      ccurl_set_text(easy, CURLOPT_PROXY, hasProxy ? options.proxy : ""),
      ccurl_set_text(easy, CURLOPT_NOPROXY, ""),
      ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      ccurl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1),
      ccurl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2),
      ccurl_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      // A resumed session shows no certificate, and the handle would keep it for the next transfer.
      ccurl_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0),
    ]
    if let file = options.authorityFile {
      results += [ccurl_set_text(easy, CURLOPT_CAINFO, file), ccurl_set_text(easy, CURLOPT_CAPATH, nil)]
    }
    return results
  }

  private func setLimits() -> [CURLcode] {
    let limits = order.request.limits
    return [
      ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connect)),
      ccurl_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, 1),
      ccurl_set_long(easy, CURLOPT_LOW_SPEED_TIME, (Self.milliseconds(limits.stall) + 999) / 1000),
      ccurl_set_long(easy, CURLOPT_TIMEOUT_MS, limits.total.map(Self.milliseconds) ?? 0),
    ]
  }

  /// At least one, because zero means libcurl's default; at most libcurl's maximum.
  private static func milliseconds(_ limit: Duration) -> Int { Int(min(max(limit.seconds * 1000, 1), 2_000_000_000)) }

  private func setRequest(_ options: HTTPOptions) -> [CURLcode] {
    let request = order.request
    let context = Unmanaged.passUnretained(self).toOpaque()
    // Otherwise libcurl asks for permission to send, and waits a second for servers that never answer that.
    var lines = ["Expect:", "User-Agent: \(options.userAgent)"]
    // Otherwise libcurl declares a body that it has at once as a form.
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    // A semicolon tells libcurl that the value is empty.
    lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    for line in lines {
      guard let longer = ccurl_list_append(headerList, line) else { return [CURLE_OUT_OF_MEMORY] }
      headerList = longer
    }
    var results = [
      ccurl_set_list(easy, CURLOPT_HTTPHEADER, headerList),
      ccurl_set_writer(easy, receiveHead, receiveBody, context),
    ]
    // The address of a proxy says nothing about the host behind it.
    if request.reach != .anyAddress, !hasProxy {
      results.append(ccurl_set_guard(easy, openSocket, checkConnection, context))
    }
    switch request.method {
    case .get: break
    case .head: results.append(ccurl_set_long(easy, CURLOPT_NOBODY, 1))
    case .delete: results.append(ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue))
    case .post where isBodyWithHead:
      results += [
        ccurl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int(request.body.count)),
        request.body.withUnsafeBytes { ccurl_set_body(easy, $0.baseAddress) },
      ]
    case .put, .post:
      results += [
        ccurl_set_long(easy, CURLOPT_UPLOAD, 1),
        ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue),
        ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, Int(request.body.count)),
        ccurl_set_reader(easy, sendBody, seekBody, context),
      ]
    }
    return results
  }

  // MARK: Questions of libcurl

  /// Copies the next bytes of the body into libcurl's buffer.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let body = order.request.body
    let count = min(buffer.count, body.count - taken)
    guard count > 0 else { return 0 }
    body.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
    taken += count
    if taken > furthest {
      furthest = taken
      order.progress(Double(furthest) / Double(body.count))
    }
    return count
  }

  func seek(to offset: Int) -> Bool {
    guard 0...order.request.body.count ~= offset else { return false }
    taken = offset
    return true
  }

  /// Takes a line of the answer's head. A status line starts a new head, because answers such as `100` precede the
  /// final one.
  func head(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= Self.mostHeaderBytes else {
      isReplyTooLarge = true
      return false
    }
    if line.count <= 2 {
      endHead()
    } else if line.starts(with: "HTTP/".utf8) {
      headers = []
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      headers.append(HTTPHeader(line[..<colon].trimmed, line[(colon + 1)...].trimmed))
    }
    return true
  }

  /// A 2xx answer decides the request, unless it comes before the whole request was sent.
  private func endHead() {
    guard let needed = order.request.successBytes, 200..<300 ~= ccurl_long(easy, CURLINFO_RESPONSE_CODE),
      isBodyWithHead || furthest == order.request.body.count
    else { return }
    isDone = true
    let end = (ContinuousClock.now - begin + Self.patience) / .seconds(1)
    _ = ccurl_set_long(
      easy, CURLOPT_TIMEOUT_MS, Self.milliseconds(min(.seconds(end), order.request.limits.total ?? .seconds(end))))
    if needed == 0 { tell() }
  }

  private func tell() {
    if isTold { return }
    isTold = true
    if isBodyWithHead && !order.request.body.isEmpty { order.progress(1) }
    let response = HTTPResponse(
      status: ccurl_long(easy, CURLINFO_RESPONSE_CODE), headers: headers, body: body)
    order.continuation.resume(returning: .success(response))
  }

  /// - Returns: false if closing the connection is cheaper than reading the rest.
  private func receiveRest(_ piece: UnsafeRawBufferPointer, of needed: Int) -> Bool {
    body += piece.prefix(needed - body.count)
    if body.count == needed { tell() }
    passed += piece.count
    return !isTold || passed - needed <= Self.mostPassed
  }

  func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
    if isDone, let needed = order.request.successBytes { return receiveRest(piece, of: needed) }
    if let sink = order.request.sink {
      if !hasBegunBody {
        hasBegunBody = true
        let head = HTTPResponse(status: ccurl_long(easy, CURLINFO_RESPONSE_CODE), headers: headers)
        isStopped = !sink.begin(head)
      }
      if !isStopped { isStopped = !sink.take(piece) }
      return !isStopped
    }
    guard body.count + piece.count <= order.request.limits.replyBytes else {
      isReplyTooLarge = true
      return false
    }
    body += piece
    return true
  }

  /// Makes the socket for a connection, unless the request excludes the address.
  func socket(for address: curl_sockaddr, at pointer: UnsafePointer<sockaddr>) -> curl_socket_t {
    guard mayReach(IPAddress(pointer, length: Int(address.addrlen))) else { return CURL_SOCKET_BAD }
    return Glibc.socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
  }

  /// Checks a connection before anything is sent; another request may have opened it.
  func mayUseConnection(to address: UnsafePointer<CChar>?) -> Bool {
    mayReach(address.flatMap { IPAddress(String(cString: $0)) })
  }

  private func mayReach(_ address: IPAddress?) -> Bool {
    guard let address, order.request.reach == .thisComputer ? address.isLoopback : address.isPublic else {
      isKeptFromPrivateAddress = true
      return false
    }
    return true
  }

  // MARK: How it ended

  /// Reports the result, once.
  func end(_ result: CURLcode) {
    if isDone || result == CURLE_OK { return tell() }
    // Also counts earlier connections of this transfer.
    let wasNeverSent = ccurl_long(easy, CURLINFO_REQUEST_SIZE) == 0 && furthest == 0
    order.end(fault(result), wasNeverSent: wasNeverSent)
  }

  private func fault(_ result: CURLcode) -> HTTPError.Reason {
    if isKeptFromPrivateAddress, result == CURLE_COULDNT_CONNECT || result == CURLE_ABORTED_BY_CALLBACK {
      return order.request.reach == .thisComputer ? .notThisComputer : .privateAddress
    }
    if isStopped { return .stopped }
    if isReplyTooLarge { return .replyTooLarge(limit: order.request.limits.replyBytes) }
    return switch result {
    case CURLE_ABORTED_BY_CALLBACK: .cancelled
    case CURLE_URL_MALFORMAT: .badURL
    case CURLE_COULDNT_RESOLVE_HOST: .cannotResolve
    case CURLE_COULDNT_CONNECT: hasProxy ? .cannotReachProxy : .cannotConnect
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .cannotReachProxy
    case CURLE_OPERATION_TIMEDOUT: .timedOut(limitThatRanOut)
    case CURLE_PEER_FAILED_VERIFICATION: .tls(certificateFault)
    case CURLE_SSL_CACERT_BADFILE: .tls(.authorityFile)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED: .tls(.handshake)
    // libcurl calls an answer that is not HTTP an unsupported protocol.
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY,
      CURLE_UNSUPPORTED_PROTOCOL, CURLE_SEND_FAIL_REWIND, CURLE_BAD_CONTENT_ENCODING:
      .connectionLost
    default: .other(Int(result.rawValue))
    }
  }

  /// libcurl has one code for all limits.
  private var limitThatRanOut: HTTPError.Limit {
    let elapsed = Double(ccurl_offset(easy, CURLINFO_TOTAL_TIME_T)) / 1_000_000
    if let total = order.request.limits.total, elapsed >= total.seconds { return .total }
    return ccurl_offset(easy, CURLINFO_PRETRANSFER_TIME_T) == 0 ? .connect : .stall
  }

  /// The numbers are OpenSSL's `X509_V_ERR_…`. libcurl checks the name first; the number is then still its initial 1.
  private var certificateFault: HTTPError.TLSFault {
    switch ccurl_long(easy, CURLINFO_SSL_VERIFYRESULT) {
    case 0, 1, 62, 64: .wrongHost
    case 9, 11: .notYetValid
    case 10, 12: .expired
    default: .unknownAuthority
    }
  }
}

extension TransferOrder {
  func end(_ reason: HTTPError.Reason, wasNeverSent: Bool) {
    continuation.resume(returning: .failure(HTTPError(reason: reason, host: host, wasNeverSent: wasNeverSent)))
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate var trimmed: String {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d || $0 == 0x0a }
    guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
      return ""
    }
    return String(decoding: self[first...last], as: UTF8.self)
  }
}
