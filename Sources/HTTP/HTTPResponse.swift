/// What was answered, whatever its status.
package struct HTTPResponse: Sendable {
  package let status: Int
  /// In the order in which they came.
  package let headers: [HTTPHeader]
  /// Whole, and within the request's limit; or its beginning, where no more was asked for.
  package let body: [UInt8]
  /// The address that answered, or the proxy's.
  package let remoteAddress: String?

  package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], remoteAddress: String? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.remoteAddress = remoteAddress
  }

  /// The value of the first header of that name, in whatever case it was written.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }

  package var isSuccess: Bool { 200..<300 ~= status }
}
