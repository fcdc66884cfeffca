import Messages

/// A request without an answer: the reason, and whether the peer may have received it.
package struct HTTPError: Error, Equatable, CustomStringConvertible {
  package enum Reason: Equatable, Sendable {
    /// Another scheme, no host, a password, or a character that must be escaped.
    case badURL
    /// The name or value of the header is invalid.
    case badHeader(String)
    case cannotResolve
    case cannotConnect
    /// Its name cannot be resolved, or nothing answers there.
    case cannotReachProxy
    /// Only private addresses, which the request excludes.
    case privateAddress
    /// A name of this computer that leads elsewhere.
    case notThisComputer
    case timedOut(Limit)
    case tls(TLSFault)
    /// The connection ended before the answer did, or the answer is not HTTP.
    case connectionLost
    case replyTooLarge(limit: Int)
    /// The request's sink stopped the transfer.
    case stopped
    case cancelled
    /// An unexpected code of libcurl.
    case other(Int)
  }

  /// The limit that was exceeded.
  package enum Limit: Sendable {
    case connect
    case stall
    case total
  }

  /// Why a certificate was rejected.
  package enum TLSFault: Sendable {
    case expired
    case notYetValid
    case wrongHost
    case unknownAuthority
    /// The file of trusted authorities is unreadable.
    case authorityFile
    /// The TLS handshake failed.
    case handshake
  }

  package let reason: Reason
  /// Host and port. The rest of the URL may contain a signature.
  package let host: String
  /// Nothing of the request left this machine. False means that this is unknown.
  package let wasNeverSent: Bool

  /// One sentence without secret or URL.
  package var description: String {
    switch reason {
    case .badURL: "the URL of a request is invalid"
    case .badHeader(let name): "the header `\(name)` of a request is invalid"
    case .cannotResolve: "the name \(host) cannot be looked up; check the name and this machine's network"
    case .cannotConnect: "cannot connect to \(host); check the address and whether the service is up"
    case .cannotReachProxy:
      "cannot reach the proxy on the way to \(host); check `http.proxy` and whether the proxy is up"
    case .privateAddress:
      "\(host) is an address of this machine or of its own network; check the URL, or set `allowPrivate: true`"
    case .notThisComputer:
      "\(host) does not lead to this computer; check /etc/hosts, or write 127.0.0.1 in the URL"
    case .timedOut(.connect):
      "no connection to \(host) within the time limit; check the address and this machine's network"
    case .timedOut(.stall): "\(host) sent nothing within the time limit"
    case .timedOut(.total): "the request to \(host) took longer than its time limit"
    case .tls(.expired): "the certificate of \(host) has expired; ask its operator to renew it"
    case .tls(.notYetValid): "the certificate of \(host) is not valid yet; check this machine's clock"
    case .tls(.wrongHost): "the certificate of \(host) is for another host; check the URL"
    case .tls(.unknownAuthority):
      "the certificate of \(host) is from an authority that is not trusted here; check the URL, or name the authority's "
        + "file in `http.authorityFile`"
    case .tls(.authorityFile): "the file with the trusted authorities cannot be read; check `http.authorityFile`"
    case .tls(.handshake):
      "no encrypted connection to \(host) could be made; check the URL and whether the server uses TLS"
    case .connectionLost: "the connection to \(host) was lost"
    case .replyTooLarge(let limit): "\(host) answered with more than \(limit) bytes"
    case .stopped: "the answer of \(host) was refused"
    case .cancelled: "the request to \(host) was cancelled"
    case .other(let code): "the request to \(host) failed in libcurl with code \(code)"
    }
  }
}

extension HTTPError {
  /// The cause for delivery.
  package var cause: Cause {
    switch reason {
    case .cannotResolve, .cannotConnect, .cannotReachProxy, .timedOut(.connect): wasNeverSent ? .unreachable : .network
    case .connectionLost, .replyTooLarge, .tls(.handshake), .other: .network
    case .timedOut: .timeout
    case .badURL, .badHeader, .tls, .privateAddress, .notThisComputer: .configError
    case .stopped, .cancelled: .cancelled
    }
  }
}
