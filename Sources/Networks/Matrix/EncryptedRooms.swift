import Blocking
import DurableFiles
import Glibc
import Synchronization

/// Rooms known to be encrypted, for good, whatever the homeserver says later. They are in the append-only file
/// `encrypted-rooms` of the state directory, one a line.
package final class EncryptedRooms: Sendable {
  private static let file = "encrypted-rooms"
  private static let mostBytes = 1 << 22

  private let directory: Directory?
  private let pool = BlockingPool(label: "encrypted rooms", threads: 1)
  private let known: Mutex<Set<String>>
  /// Rooms that were not encrypted when this process first asked.
  private let asked = Mutex<Set<String>>([])
  private static let mostAsked = 10_000

  /// - Parameter state: the directory of the file; nil, or an unreadable file, keeps rooms in memory only.
  package init(in state: Directory? = nil) {
    directory = state
    let bytes = try? state?.file(Self.file).contents(limit: Self.mostBytes)
    known = Mutex(Set(String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").map(String.init)))
  }

  func contains(_ room: String) -> Bool { known.withLock { $0.contains(room) } }
  func isAsked(_ room: String) -> Bool { asked.withLock { $0.contains(room) } }

  func noteAsked(_ room: String) {
    asked.withLock { asked in
      if asked.count >= Self.mostAsked { asked.removeAll() }
      asked.insert(room)
    }
  }

  /// Adds a room and syncs the file. If the disk refuses it, only this process knows the room.
  func add(_ room: String) async {
    guard known.withLock({ $0.insert(room).inserted }), let directory else { return }
    try? await pool.run {
      // A command of root must not make a file that the daemon cannot append to.
      guard try directory.entry().owner == geteuid() else { return }
      let file = try directory.file(appendingTo: Self.file)
      // The first line break ends a line that a crash tore.
      try file.write(Array("\n\(room)\n".utf8))
      try file.sync()
      try directory.sync()
    }
  }
}
