import Digests
import DurableFiles
import MailParsing
import Messages
import Settings
import Spooling

/// The requests that a mail becomes, as the rules of `mail.accept` say.
package struct MailRequests: Sendable {
  /// A conversation with an inbox that the mail goes to.
  package struct Goal: Sendable, Hashable {
    package let conversation: ConversationID
    package let inbox: InboxID?
    let drops: Bool
  }

  package let goals: [Goal]
  /// The rules that know an address of the mail.
  let rules: Set<MailRule>
  package let text: String?
  /// Parts that are left out.
  package let leftOut: [String]
  private let index: MailIndex
  private let name: String

  /// - Parameters:
  ///   - name: the file's name, which stands in for a missing `Message-ID`.
  /// - Throws: `MailRefusal` if no rule knows an address, or nothing could be sent.
  package init(_ index: MailIndex, called name: String, _ settings: Settings) throws(MailRefusal) {
    self.index = index
    self.name = name
    leftOut = index.others
    (goals, rules) = try Self.goals(of: index, settings)
    text = Self.text(of: index, settings.mail.text)
    if index.images.isEmpty, text == nil {
      let others =
        index.others.contains("application/ms-tnef")
        ? "; it has winmail.dat: let Outlook send plain text or HTML"
        : index.others.isEmpty ? "" : "; \(index.others.joined(separator: ", ")) cannot be sent"
      throw MailRefusal(.contents, "the mail has neither photo nor text\(others)")
    }
  }

  /// The conversations of the addresses that rules know, each once.
  static func conversations(
    for recipients: [String], from sender: String, _ settings: Settings
  ) -> [ConversationID] {
    var seen = Set<ConversationID>()
    return recipients.compactMap { settings.mailRule(for: $0, from: sender)?.conversation(for: $0) }
      .filter { seen.insert($0).inserted }
  }

  /// The goals that get a request. A mail without a photo is dropped for some.
  package var goalsToSend: [Goal] { index.images.isEmpty ? goals.filter { !$0.drops } : goals }

  private static func goals(
    of index: MailIndex, _ settings: Settings
  ) throws(MailRefusal) -> ([Goal], Set<MailRule>) {
    var (goals, rules, unknown) = ([Goal](), Set<MailRule>(), [String]())
    for address in index.recipients {
      guard let rule = settings.mailRule(for: address, from: index.sender) else {
        unknown.append(address)
        continue
      }
      guard let conversation = rule.conversation(for: address) else {
        throw MailRefusal(
          .address, "the address \(escaped(address)) gives no name of a conversation; correct the address")
      }
      rules.insert(rule)
      let drops = (rule.withoutPhoto ?? settings.mail.withoutPhoto) == .drop
      if !goals.contains(where: { $0.conversation == conversation && $0.inbox == rule.inbox }) {
        goals.append(Goal(conversation: conversation, inbox: rule.inbox, drops: drops))
      }
    }
    if !goals.isEmpty { return (goals, rules) }
    guard let address = unknown.first else {
      throw MailRefusal(
        .address, "the mail names no recipient; let the mail server write Delivered-To or X-Original-To")
    }
    throw MailRefusal(
      .address, "no rule of mail.accept knows \(escaped(address)); add one, or correct the address")
  }

  /// The subject and the body on lines of their own, as configured; nil if nothing is left.
  private static func text(of index: MailIndex, _ part: Settings.Mail.SentText) -> String? {
    let (subject, body) = (index.subject, index.body)
    let text =
      switch part {
      case .none: ""
      case .subject: subject
      case .body: body
      case .both:
        subject.isEmpty || body.hasPrefix(subject) ? body : body.isEmpty ? subject : "\(subject)\n\(body)"
      }
    if text.allSatisfy(\.isWhitespace) { return nil }
    if text.utf8.count <= RequestLimits.textBytes { return text }
    // A machine cannot shorten its mail.
    return text.prefix(bytes: RequestLimits.textBytes - "…".utf8.count) + "…"
  }

  /// Decodes the photos and makes the submissions for `goalsToSend`, in order.
  ///
  /// - Throws: `MailRefusal` if a photo is empty or too large; `FileError`.
  package func submissions(from mail: File) throws -> [Submission] {
    var (photos, digests) = ([File](), [String]())
    for image in index.images {
      let encoded = try mail.bytes(from: image.range.lowerBound, count: image.range.count)
      let photo = image.encoding.decode(encoded[...], limit: RequestLimits.photoBytes + 1)
      if photo.count > RequestLimits.photoBytes {
        throw MailRefusal(
          .limit,
          "photo \(photos.count + 1) of the mail has more than \(RequestLimits.photoBytes) bytes; send a smaller one")
      }
      digests.append(SHA256Digest(of: photo).hex)
      photos.append(try File(inMemory: photo))
    }
    return try goalsToSend.flatMap { try submissions(to: $0, photos: photos, digests: digests) }
  }

  private func submissions(to goal: Goal, photos: [File], digests: [String]) throws -> [Submission] {
    // The same mail again is the same requests, and other contents under the same Message-ID are others.
    let facts =
      [index.messageID.isEmpty ? "file:\(name)" : index.messageID, goal.conversation.text, goal.inbox?.text ?? ""]
      + digests + [text ?? ""]
    let digest = SHA256Digest(of: facts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }).hex.prefix(40)
    let count = max(1, (photos.count + RequestLimits.photos - 1) / RequestLimits.photos)
    return (0..<count).map { number in
      let first = number * RequestLimits.photos
      let isLast = number == count - 1
      var submission = Submission(
        to: goal.conversation, from: goal.inbox,
        key: IdempotencyKey("mail.\(digest)\(number == 0 ? "" : ".\(number + 1)")"), text: isLast ? text : nil,
        photos: Array(photos[first..<min(photos.count, first + RequestLimits.photos)]))
      submission.label = MailName.label(Array(name.utf8))
      return submission
    }
  }

  /// The idempotency keys of the requests, for people.
  package func keys(from mail: File) throws -> [String] { try submissions(from: mail).compactMap { $0.key?.text } }
}
