import Blocking
import DurableFiles
import Glibc
import Synchronization

/// The rooms that were seen to be encrypted. A room stays encrypted for good, whatever its homeserver says later.
///
/// They stand in the file `encrypted-rooms` of the state directory, one a line, which is only appended to.
package final class EncryptedRooms: Sendable {
  private static let file = "encrypted-rooms"
  private static let mostBytes = 1 << 22

  private let directory: Directory?
  private let pool = BlockingPool(label: "encrypted rooms", threads: 1)
  private let known: Mutex<Set<String>>

  /// - Parameter state: where they are kept; nil keeps them in memory only, as does a file that cannot be read.
  package init(in state: Directory? = nil) {
    directory = state
    let bytes = try? state?.file(Self.file).contents(limit: Self.mostBytes)
    known = Mutex(Set(String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").map(String.init)))
  }

  func contains(_ room: String) -> Bool { known.withLock { $0.contains(room) } }

  /// Keeps a room. When it returns, the line is synced; where the disk refused it, the room is known to this process only.
  func add(_ room: String) async {
    guard known.withLock({ $0.insert(room).inserted }), let directory else { return }
    try? await pool.run {
      // A command of root must not leave a file that the daemon cannot append to.
      guard try directory.entry().owner == geteuid() else { return }
      let file = try directory.file(appendingTo: Self.file)
      // The line break in front ends a line that a crash tore.
      try file.write(Array("\n\(room)\n".utf8))
      try file.sync()
      try directory.sync()
    }
  }
}
