import Foundation

/// A server of a test's own that misbehaves as `fault_server.py` says.
public struct FaultServer: Sendable {
  /// What the server was asked, once.
  public struct Asked: Decodable, Sendable {
    public let method: String
    public let target: String
    public let headers: [[String]]
    public let connection: Int
    public let bytes: Int?
    public let sha256: String?

    public func header(_ name: String) -> String? { headers.first { $0[0].lowercased() == name.lowercased() }?[1] }
  }

  private let server: TestServer
  /// `http://127.0.0.1:PORT`.
  public var endpoint: String { server["endpoint"] }

  public init() throws { server = try TestServer("fault_server.py") }

  /// The URL that has the server do `what`.
  public func url(_ what: String) -> String { "\(endpoint)/\(what)" }
}
