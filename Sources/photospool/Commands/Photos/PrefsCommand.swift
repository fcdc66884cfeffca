import ArgumentParser
import Control
import Ledgers
import Messages
import Spooling

struct PrefsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs", abstract: "Print or set the preferences for photos of a conversation or an inbox.",
    discussion: """
      Preferences stay on this computer. They do not change photos that have already arrived. For fetching, the \
      preference of the conversation overrides that of its inbox, which overrides the configuration.
      """)

  enum Switch: String, CaseIterable, ExpressibleByArgument { case on, off }

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Whether later photos are shown as they arrive, once one was revealed: on or off.", valueName: "on|off"))
  var autoReveal: Switch?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Which photos are fetched before anybody asks for them: always, known or ask.", valueName: "policy"))
  var fetch: FetchPolicy?

  @Option(name: .long, help: "Instead of a conversation, everything that comes to this inbox.")
  var inbox: String?

  @Flag(name: .long, help: "Print one JSON object.")
  var json = false

  @Argument(help: "The conversation.")
  var conversation: String?

  func validate() throws {
    guard (conversation == nil) != (inbox == nil) else {
      throw ValidationError("name one conversation, or an inbox with --inbox")
    }
    if inbox != nil, autoReveal != nil {
      throw ValidationError("--auto-reveal applies to single conversations; name a conversation instead of --inbox")
    }
  }

  func run() async throws {
    let spool = try options.openSpool()
    if let inbox { return try await preferences(of: try InboxID(inbox), spool) }
    if let conversation { try await preferences(of: try ConversationID(conversation), spool) }
  }

  private func preferences(of conversation: ConversationID, _ spool: Spool) async throws {
    if autoReveal != nil || fetch != nil {
      _ = try await perform(
        .prefer(conversation: conversation.text, fetch: fetch?.rawValue, autoReveal: autoReveal.map { $0 == .on }),
        on: spool)
    }
    let standard = try options.settings().receiving.fetch
    let preferences =
      try known(spool) { try $0.preferences(of: conversation.text) } ?? ConversationPreferences()
    let line = Line(
      conversation: conversation.text, autoReveal: preferences.autoReveal ?? false,
      fetch: (preferences.fetch ?? standard).rawValue, hasRevealed: preferences.hasRevealed)
    if json { return try printJSON(line) }
    let isOn = line.autoReveal ? "on" : "off"
    print("auto-reveal: \(isOn)\(line.hasRevealed ? "" : " (once a photo was revealed; none was yet)")")
    print(
      "fetch: \(line.fetch)\(preferences.fetch == nil ? " (the configuration's, unless the inbox has its own)" : "")")
  }

  private func preferences(of inbox: InboxID, _ spool: Spool) async throws {
    if let fetch { _ = try await perform(.preferInInbox(inbox: inbox.text, fetch: fetch.rawValue), on: spool) }
    let own = try known(spool) { try $0.fetchPolicy(of: inbox) } ?? nil
    let policy = try own ?? options.settings().receiving.fetch
    if json { return try printJSON(InboxLine(inbox: inbox.text, fetch: policy.rawValue)) }
    print("fetch: \(policy.rawValue)\(own == nil ? " (the configuration's)" : "")")
  }

  /// An answer from the ledger; nil without one.
  private func known<Answer>(_ spool: Spool, _ question: (LedgerView) throws -> Answer) throws -> Answer? {
    try LedgerView(ifThereIsOneIn: spool.state).map(question)
  }

  /// The output of `prefs --json`. Keys are never renamed once released.
  private struct Line: Encodable {
    let conversation: String
    let autoReveal: Bool
    let fetch: String
    let hasRevealed: Bool
  }

  private struct InboxLine: Encodable {
    let inbox: String
    let fetch: String
  }
}

extension FetchPolicy: ExpressibleByArgument {}
