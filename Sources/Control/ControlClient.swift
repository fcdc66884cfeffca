import DurableFiles
import FoundationEssentials

/// Asks the running daemon.
package enum ControlClient {
  /// The daemon's answer; nil when no daemon runs on this spool.
  ///
  /// - Parameters:
  ///   - patience: seconds to wait for it. What is to be shown is wanted now; what is to be done may take the disk or a
  ///     store its time.
  ///   - whenSlow: is called once when there is no answer after two seconds.
  /// - Throws: `FileError` when the socket is there and cannot be used; `ControlError` when the daemon does not answer.
  package static func ask(
    _ request: ControlRequest, in state: Directory, patience: Int = 2, whenSlow: () -> Void = {}
  ) throws -> ControlReply? {
    let socket = try LocalSocket.connected(to: ControlServer.socketName, in: state, patience: patience)
    guard let socket else { return nil }
    guard socket.write(line: Array(try JSONEncoder().encode(request))) else { throw ControlError.noAnswer }
    if patience > 2, !socket.hasAnswer(within: 2) { whenSlow() }
    guard let line = socket.readLine() else { throw ControlError.noAnswer }
    let reply = try JSONDecoder().decode(ControlReply.self, from: Data(line))
    if let error = reply.error { throw ControlError.refused(error) }
    return reply
  }

  /// Leaves a request with the daemon whose answer nobody waits for; false when no daemon runs on this spool.
  ///
  /// - Throws: `FileError` when the socket is there and cannot be used.
  package static func leave(_ request: ControlRequest, in state: Directory) throws -> Bool {
    guard let socket = try LocalSocket.connected(to: ControlServer.socketName, in: state, patience: 5) else {
      return false
    }
    return socket.write(line: Array(try JSONEncoder().encode(request)))
  }
}

/// Why the daemon did not do what it was asked.
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
