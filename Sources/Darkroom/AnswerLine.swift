import Glibc

/// Reads an answer with a time limit.
struct AnswerLine {
  let socket: Int32
  private let end: SuspendingClock.Instant

  /// - Parameter seconds: the time limit from now.
  init(socket: Int32, seconds: Int) {
    self.socket = socket
    end = .now + .seconds(seconds)
  }

  /// - Parameter limit: the size limit of an answer.
  func receive(limit: Int) -> Result<[UInt8], Death> {
    receive(count: 8).flatMap { header in
      let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return count > UInt64(max(0, limit)) ? .failure(.nonsense) : receive(count: Int(count))
    }
  }

  private func receive(count: Int) -> Result<[UInt8], Death> {
    var death: Death?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        guard isReady else {
          death = .tooSlow
          return
        }
        let got = read(socket, buffer.baseAddress.map { $0 + filled }, count - filled)
        if got < 0 && errno == EINTR { continue }
        guard got > 0 else {
          death = .crashed
          return
        }
        filled += got
      }
    }
    if let death { return .failure(death) }
    return .success(bytes)
  }

  /// Waits for data; false when the time is up.
  private var isReady: Bool {
    while true {
      let rest = (end - .now) / .seconds(1)
      guard rest > 0 else { return false }
      var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      let found = poll(&request, 1, Int32(min(rest * 1000 + 1, 1e6)))
      if found > 0 { return true }
      if found < 0 && errno != EINTR { return false }
    }
  }
}
