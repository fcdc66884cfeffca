@preconcurrency import Dispatch
import DurableFiles
import FoundationEssentials

/// Serves commands while the daemon runs, without idle work.
package final class ControlServer: Sendable {
  package static let socketName = "control"

  private let socket: LocalSocket
  private let source: any DispatchSourceRead
  private let queue = DispatchQueue(label: "control", attributes: .concurrent)

  /// Listens in the spool's `state` directory, which only the daemon's user may enter.
  package init(
    in state: Directory, answer: @escaping @Sendable (ControlRequest) async -> ControlReply
  ) throws(FileError) {
    let socket = try LocalSocket.listening(at: Self.socketName, in: state)
    let queue = queue
    self.socket = socket
    source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
    source.setEventHandler {
      guard let connection = socket.accept() else { return }
      queue.async {
        guard let line = connection.readLine(limit: LocalSocket.longestRequest) else { return }
        guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else {
          Self.send(ControlReply(error: "the command is not understood; is it of another version?"), to: connection)
          return
        }
        Task {
          let reply = await answer(request)
          queue.async { Self.send(reply, to: connection) }
        }
      }
    }
    source.activate()
  }

  /// Stops listening. Earlier requests still get answers.
  package func stop() { source.cancel() }

  private static func send(_ reply: ControlReply, to connection: LocalSocket) {
    guard let line = try? JSONEncoder().encode(reply) else { return }
    _ = connection.write(line: Array(line))
  }
}
