import HTTPTypes
import Ledgers
import Messages

/// The filter of the queue's page, as its fields and its words say it: `is:failed to:garden`.
struct QueueQuery: Equatable {
  private(set) var filter: QueueFilter

  /// - Parameter fields: `state`, `to`, `cause` and `q`. A word of `q`, such as `is:failed`, counts before a field.
  /// - Throws: `WebProblem` for a state or a cause that does not exist.
  init(_ fields: [String: String], inbox: InboxID?) throws(WebProblem) {
    filter = QueueFilter(inbox: inbox)
    var words: [Substring] = []
    var (state, to, cause) = (fields["state"] ?? "", fields["to"] ?? "", fields["cause"] ?? "")
    for word in (fields["q"] ?? "").split(whereSeparator: \.isWhitespace) {
      switch word {
      case _ where word.hasPrefix("is:"): state = String(word.dropFirst(3))
      case _ where word.hasPrefix("to:"): to = String(word.dropFirst(3))
      case _ where word.hasPrefix("cause:"): cause = String(word.dropFirst(6))
      default: words.append(word)
      }
    }
    filter.state = try Self.known("state", state)
    filter.cause = try Self.known("cause", cause)
    if !to.isEmpty { filter.conversation = Self.name(to) }
    filter.text = words.joined(separator: " ")
  }

  private static func known<Word: CaseIterable & RawRepresentable<String>>(
    _ what: String, _ text: String
  ) throws(WebProblem) -> Word? {
    if text.isEmpty { return nil }
    if let word = Word(rawValue: text) { return word }
    var problem = WebProblem(
      .badRequest, "There is no such \(what). There are \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
    problem.back = ("/queue", "Queue")
    throw problem
  }

  /// The conversation of profile photos is written `profile~INBOX`.
  private static func name(_ text: String) -> String {
    guard text.hasPrefix(profile), let inbox = try? InboxID(String(text.dropFirst(profile.count))) else { return text }
    return ConversationID.profile(of: inbox).text
  }

  private static let profile = "profile~"

  /// The conversation as a person writes it.
  var conversation: String { filter.conversation.map { ConversationID(unchecked: $0).description } ?? "" }

  /// The fields and one more, for an address.
  func and(_ field: String) -> String { address.isEmpty ? field : "\(address)&\(field)" }

  /// The filter's fields for an address.
  var address: String {
    let fields = [
      ("state", filter.state?.rawValue ?? ""), ("to", conversation), ("cause", filter.cause?.rawValue ?? ""),
      ("q", filter.text),
    ]
    return fields.filter { !$0.1.isEmpty }.map { "\($0.0)=\(inAddress($0.1))" }.joined(separator: "&")
  }
}
