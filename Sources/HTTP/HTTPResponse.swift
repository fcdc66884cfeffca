/// An answer, whatever its status.
package struct HTTPResponse: Sendable {
  package let status: Int
  /// In order of arrival.
  package let headers: [HTTPHeader]
  /// Complete and within the request's limit, or its beginning if no more was requested.
  package let body: [UInt8]

  package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of that name, in any case.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }

  package var isSuccess: Bool { 200..<300 ~= status }
}

extension StringProtocol {
  /// An error code if it is a single word: at most 64 ASCII capitals, digits and `others`. Longer texts may contain
  /// anything, keys too.
  package func asWord(with others: String) -> String? {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" + others
    return 1...64 ~= utf8.count && utf8.allSatisfy(letters.utf8.contains) ? String(self) : nil
  }
}
