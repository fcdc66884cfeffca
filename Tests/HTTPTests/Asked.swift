import Foundation
import HTTP
import TestSupport

extension HTTPResponse {
  /// What the server's `echo` says that it was asked.
  func asked() throws -> FaultServer.Asked { try JSONDecoder().decode(FaultServer.Asked.self, from: Data(body)) }
}
