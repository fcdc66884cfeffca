import Darkroom
import DurableFiles
import Foundation
import MailParsing
import Messages
import Settings
import Spooling

/// Takes one mail from `mail/new/`. Its requests are on the disk before it is removed. After a crash in between the same
/// requests are dropped again, under the same keys, and are duplicates.
struct MailTaking: Sendable {
  /// The outcome for a mail.
  enum Outcome: Sendable, Equatable {
    case taken(requests: [String], leftOut: [String], rules: Set<MailRule>)
    /// It has no photo, and its rules want none of those.
    case dropped
    case refused(RequestName?, MailRefusal)
    /// Its owner lets nobody read it.
    case unreadable(sentence: String)
    /// A rule took enough mails for now.
    case waits
    case gone
  }

  let spool: Spool
  let places: MailPlaces
  let reader: MailReader

  /// - Parameter admits: whether these rules take one more mail.
  /// - Throws: `FileError`, `SpoolError`, `SubmissionError` or `DeliveryError` if the mail has to be taken later.
  func take(_ name: [UInt8], _ settings: Settings, admits: (Set<MailRule>) -> Bool) throws -> Outcome {
    guard let entry = try places.new.entry(bytes: name) else { return .gone }
    guard let text = String(validating: name, as: UTF8.self) else {
      return try refuse(name, MailRefusal(.file, "the mail's name is not UTF-8; let the agent choose another one"))
    }
    if entry.kind != .file || entry.links > 2 {
      return try refuse(
        name, MailRefusal(.file, "this is no plain file with one or two links; put a copy of the mail there"))
    }
    let file: File
    do { file = try places.new.file(text) } catch {
      if error.isMissing { return .gone }
      guard error.isForbidden else { throw error }
      let owner = getpwuid(entry.owner).map { String(cString: $0.pointee.pw_name) } ?? "\(entry.owner)"
      return .unreadable(
        sentence: "it belongs to \(owner) (\(String(entry.permissions, radix: 8))); let the mail server deliver as "
          + "\(NSUserName()) (Postfix: virtual_uid_maps)")
    }
    var addressees = (recipients: [String](), sender: "")
    do {
      let index = try reader.index(of: file, limit: settings.mail.bytes)
      addressees = (index.recipients, index.sender)
      let requests = try MailRequests(index, called: text, settings)
      if requests.goalsToSend.isEmpty {
        try places.new.remove(text)
        return .dropped
      }
      if !admits(requests.rules) { return .waits }
      let names = try requests.submissions(from: file).map { try $0.drop(into: spool.path).text }
      try places.new.remove(text)
      return .taken(requests: names, leftOut: requests.leftOut, rules: requests.rules)
    } catch let refusal as MailRefusal {
      if addressees.recipients.isEmpty { addressees = (refusal.recipients, refusal.sender) }
      let conversations = MailRequests.conversations(for: addressees.recipients, from: addressees.sender, settings)
      return try refuse(name, refusal, for: conversations.map(\.text))
    }
  }

  private func refuse(_ name: [UInt8], _ refusal: MailRefusal, for conversations: [String] = []) throws -> Outcome {
    guard let failed = try spool.refuse(mail: name, in: places, for: conversations, because: refusal.description) else {
      return .gone
    }
    return .refused(failed, refusal)
  }

  /// The mails that are there, in order of their last change, then of their names. Names with a dot in front are not for
  /// us.
  func waiting() throws -> [[UInt8]] {
    var found = [(changed: Int64, name: [UInt8])]()
    try places.new.forEachName { name in
      if name.first != UInt8(ascii: "."), let entry = try places.new.entry(bytes: name) {
        found.append((entry.changed, name))
      }
      return found.count < Self.mostWaiting
    }
    return found.sorted {
      $0.changed != $1.changed ? $0.changed < $1.changed : $0.name.lexicographicallyPrecedes($1.name)
    }
    .map(\.name)
  }

  /// Memory: further mails are found when these are gone.
  private static let mostWaiting = 100_000
}
