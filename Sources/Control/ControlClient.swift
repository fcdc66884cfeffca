import DurableFiles
import FoundationEssentials

/// The client side of the daemon's control socket.
package enum ControlClient {
  /// The daemon's answer; nil if no daemon runs on this spool.
  ///
  /// - Parameters:
  ///   - patience: the time limit in seconds. Views should be quick; actions may need the disk or a store.
  ///   - whenSlow: called once if there is no answer after two seconds.
  /// - Throws: `FileError` if the socket is unusable; `ControlError` if the daemon does not answer.
  package static func ask(
    _ request: ControlRequest, in state: Directory, patience: Int = 2, whenSlow: () -> Void = {}
  ) throws -> ControlReply? {
    let socket = try LocalSocket.connected(to: ControlServer.socketName, in: state, patience: patience)
    guard let socket else { return nil }
    guard socket.write(line: Array(try JSONEncoder().encode(request))) else { throw ControlError.noAnswer }
    if patience > 2, !socket.hasAnswer(within: 2) { whenSlow() }
    guard let line = socket.readLine(limit: LocalSocket.longestReply) else { throw ControlError.noAnswer }
    let reply = try JSONDecoder().decode(ControlReply.self, from: Data(line))
    if let error = reply.error { throw ControlError.refused(error) }
    return reply
  }

  /// Sends a request without waiting for its answer; false if no daemon runs on this spool.
  ///
  /// - Throws: `FileError` if the socket is unusable.
  package static func leave(_ request: ControlRequest, in state: Directory) throws -> Bool {
    guard let socket = try LocalSocket.connected(to: ControlServer.socketName, in: state, patience: 5) else {
      return false
    }
    return socket.write(line: Array(try JSONEncoder().encode(request)))
  }
}

/// Why the daemon did not carry out a request.
package enum ControlError: Error, CustomStringConvertible {
  case noAnswer
  case refused(String)

  package var description: String {
    switch self {
    case .noAnswer: "the daemon runs and does not answer; look at its log, then try again"
    case .refused(let sentence): sentence
    }
  }
}
