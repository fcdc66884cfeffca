import DurableFiles
import Foundation
import Messages
import Settings
import Spooling

/// The check of the Maildir `mail/` for `photospool check`.
struct MailChecks {
  let settings: Settings

  private var path: String { settings.spool.directory }

  /// Whether mail is taken, or some waits although none is.
  var isNeeded: Bool {
    if !settings.mailRules.isEmpty { return true }
    do { return try MailPlaces(in: Directory(path: path)).flatMap { try waiting(in: $0) } != nil } catch {
      return false
    }
  }

  /// A mail in `mail/new/`, and how many there are; nil for none.
  private func waiting(in places: MailPlaces) throws -> (name: String, count: Int)? {
    var (first, count) = (nil as String?, 0)
    try places.new.forEachName { name in
      if name.first == UInt8(ascii: ".") { return true }
      count += 1
      first = first ?? String(decoding: name, as: UTF8.self)
      return true
    }
    return first.map { ($0, count) }
  }

  /// - Throws: a sentence that says what is wrong with `mail/`.
  func run() throws -> String {
    let root = try Directory(path: path)
    guard let places = try MailPlaces(in: root) else {
      return "no \(path)/mail yet; the next `photospool run` makes it"
    }
    if settings.mailRules.isEmpty, let (name, count) = try waiting(in: places) {
      throw Failure(
        .configuration,
        "no rule takes mails, and \(counted(count, "mail")) \(count == 1 ? "waits" : "wait") in \(places.new.path), such as \(escaped(name)); write a rule into mail.accept of the configuration, or delete \(count == 1 ? "it" : "them")"
      )
    }
    let cur = try places.cur()
    if try !cur.names().isEmpty {
      throw Failure(
        .configuration,
        "\(cur.path) is not empty, so another program reads these mails, too; let no IMAP server or mbsync use mail/"
      )
    }
    if try !places.isShared() {
      throw Failure(
        .configuration,
        "other users cannot deliver into \(places.root.path); a delivery agent has changed its permissions (OpenSMTPD does): use `photospool sendmail` as its agent, and run `chmod 3770 \(places.root.path) \(places.tmp.path) \(places.new.path)`"
      )
    }
    var unreadable: (name: String, owner: UInt32)?
    try places.new.forEachName { name in
      let text = String(decoding: name, as: UTF8.self)
      if text.hasPrefix(".") { return true }
      do { _ = try places.new.file(text) } catch let error as FileError where error.isForbidden {
        unreadable = (text, try places.new.entry(text)?.owner ?? 0)
      } catch {
        // It is gone, or refused.
      }
      return unreadable == nil
    }
    if let (name, owner) = unreadable {
      let user = getpwuid(owner).map { String(cString: $0.pointee.pw_name) } ?? "\(owner)"
      throw Failure(
        .configuration,
        "\(places.new.path(of: escaped(name))) belongs to \(user) and cannot be read; let the mail server deliver as \(SpoolUser.name) (Postfix: virtual_uid_maps)"
      )
    }
    if let limit = Self.postfixLimit, limit > 0, limit < settings.mail.bytes {
      throw Failure(
        .configuration,
        "Postfix refuses mails over \(limit) bytes, fewer than mail.bytes; set message_size_limit to \(settings.mail.bytes), or mail.bytes to \(limit)"
      )
    }
    return "taken by \(counted(settings.mailRules.count, "rule"))"
  }

  /// Postfix's `message_size_limit`, where Postfix is installed.
  private static var postfixLimit: Int? {
    let output = Programs.output(of: "/usr/sbin/postconf", "-h", "message_size_limit", isSilent: true)
    return output.flatMap { Int($0.text.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }
}
