import ArgumentParser
import Control
import Delivery
import Ledgers
import Messages
import Spooling

struct PrefsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs", abstract: "Print or set what is preferred for the photos of a conversation.",
    discussion: """
      Preferences are kept here alone and nobody is told of them. Photos that are there already stay as they are.
      """)

  enum Switch: String, CaseIterable, ExpressibleByArgument { case on, off }

  @OptionGroup var options: SpoolOptions

  @Option(name: .long, help: "Whether later photos are shown as they arrive, once one was revealed: on or off.")
  var autoReveal: Switch?

  @Option(name: .long, help: "Which photos are fetched before anybody asks for them: always, known or ask.")
  var fetch: FetchPolicy?

  @Flag(name: .long, help: "Print one JSON object.")
  var json = false

  @Argument(help: "The conversation.")
  var conversation: String

  func run() async throws {
    let spool = try options.openSpool()
    let conversation = try ConversationID(conversation)
    if autoReveal != nil || fetch != nil {
      let request = ControlRequest.prefer(
        conversation: conversation.text, fetch: fetch?.rawValue, autoReveal: autoReveal.map { $0 == .on })
      let reply: ControlReply
      if let answer = try ControlClient.ask(request, in: spool.state) {
        reply = answer
      } else {
        reply = try await Daemon.withoutDaemon(spool) { await $0.perform(request) }
      }
      if let error = reply.error { throw Failure(.unavailable, error) }
    }
    let standard = try options.settings().receiving.fetch
    let preferences: ConversationPreferences
    do { preferences = try LedgerView(in: spool.state).preferences(of: conversation.text) } catch LedgerError.missing {
      preferences = ConversationPreferences()
    }
    let line = Line(
      conversation: conversation.text, autoReveal: preferences.autoReveal ?? false,
      fetch: (preferences.fetch ?? standard).rawValue, hasRevealed: preferences.hasRevealed)
    if json { return try printJSON(line) }
    let isOn = line.autoReveal ? "on" : "off"
    print("auto-reveal: \(isOn)\(line.hasRevealed ? "" : " (once a photo was revealed; none was yet)")")
    print("fetch: \(line.fetch)\(preferences.fetch == nil ? " (the configuration's)" : "")")
  }

  /// The keys are never renamed once released.
  private struct Line: Encodable {
    let conversation: String
    let autoReveal: Bool
    let fetch: String
    let hasRevealed: Bool
  }
}

extension FetchPolicy: ExpressibleByArgument {}
