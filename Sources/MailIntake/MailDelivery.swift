import DurableFiles
import Glibc
import Spooling

/// Puts mails into `mail/new/` of a spool, all or none, whether or not the daemon runs.
///
/// Order of writes (docs/durability.md): each file and its sync in `mail/tmp/`, the renames, the syncs of `mail/new/` and
/// `mail/tmp/`.
package enum MailDelivery {
  /// - Returns: once all mails are on the disk.
  /// - Throws: `SpoolError`, `FileError`; `NoMailbox` if the spool takes no mail. Before the first rename nothing is left
  ///   of them.
  package static func deliver(_ mails: [[UInt8]], into path: String, token: String) throws {
    let root = try Directory(path: path)
    guard let places = try MailPlaces(in: root) else { throw NoMailbox(path: root.path(of: MailPlaces.directoryName)) }
    guard try root.freeBytes() >= mails.reduce(Reserve.bytes, { $0 + $1.count }) else { throw SpoolError.full(path) }
    let names = mails.indices.map { "\(token)_\($0)" }
    do {
      for (mail, name) in zip(mails, names) {
        let file = try places.tmp.file(creating: name, mode: 0o640)
        // The daemon is in the group of the directory, whatever the umask.
        try file.setPermissions(0o640)
        try file.write(mail)
        try file.sync()
      }
    } catch {
      for name in names { try? places.tmp.remove(name) }
      throw error
    }
    for name in names where try !places.tmp.move(name, to: places.new, as: name) {
      throw FileError("rename", places.new.path(of: name), code: EEXIST)
    }
    try places.new.sync()
    try places.tmp.sync()
  }

  /// The spool has no `mail/`.
  package struct NoMailbox: Error, CustomStringConvertible {
    let path: String

    package var description: String {
      "there is no \(path); write a rule into mail.accept of the configuration and start `photospool run`, which makes it"
    }
  }
}
