import Glibc

/// The place of a secret, which is never in the configuration or an argument.
package enum SecretSource: Hashable, Sendable {
  /// A file of one line, readable only by its owner, who is this process's user or root.
  case file(String)
  /// A whole file of several lines, with the same owner and rights.
  case document(String)
  case environment(String)

  private static let mostBytes = 1 << 16

  /// Reads the current secret, without the final line break.
  package func load() throws(SecretError) -> Secret {
    var text: String
    switch self {
    case .file(let path), .document(let path): text = String(decoding: try Self.contents(of: path), as: UTF8.self)
    case .environment(let name):
      guard let value = getenv(name) else { throw SecretError("\(place) is not set") }
      text = String(cString: value)
    }
    if text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty else { throw SecretError("\(place) holds no secret; it is empty") }
    if case .document = self { return Secret(text) }
    guard Array(text.utf8).allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw SecretError("\(place) holds a line break or control character; a secret is one line")
    }
    return Secret(text)
  }

  /// The file or variable, for sentences.
  private var place: String {
    switch self {
    case .file(let path), .document(let path): path
    case .environment(let name): "the environment variable \(name)"
    }
  }

  private static func contents(of path: String) throws(SecretError) -> [UInt8] {
    // O_NONBLOCK, because it may be a FIFO; its kind is checked after opening.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw SecretError("cannot open \(path): \(String(cString: strerror(errno)))") }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw SecretError("\(path) is not a file; name a file with the secret")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw SecretError("\(path) belongs to another user, who could change the secret; chown it")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw SecretError("\(path) is open to others than its owner; `chmod 600` it")
    }
    guard status.st_size <= mostBytes else {
      throw SecretError("\(path) has \(status.st_size) bytes, too many for a secret")
    }
    var bytes = [UInt8](repeating: 0, count: mostBytes)
    var length = 0
    while length < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        read(file, buffer.baseAddress.map { $0 + length }, buffer.count - length)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SecretError("cannot read \(path): \(String(cString: strerror(errno)))") }
      if count == 0 { break }
      length += count
    }
    return Array(bytes.prefix(length))
  }
}

/// Why a secret is missing or unusable: one sentence with its place and the remedy, without the secret.
package struct SecretError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
