import Foundation
import HTTP
import TestSupport

extension HTTPResponse {
  /// The request that the server's `echo` received.
  func asked() throws -> FaultServer.Asked { try JSONDecoder().decode(FaultServer.Asked.self, from: Data(body)) }
}
