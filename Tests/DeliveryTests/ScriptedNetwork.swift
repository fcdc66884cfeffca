import Messages
import Seals

@testable import Networks

/// A network with scripted failures, which counts calls.
actor ScriptedNetwork: Network {
  nonisolated let name: String
  nonisolated let takesBatches = true
  /// The error for a message; nil publishes it.
  private var fault: @Sendable (OutgoingMessage) -> DeliveryError?
  private(set) var published: [OutgoingMessage] = []
  private(set) var asked = 0
  /// Conversations that refuse photos.
  private var closed: Set<String> = []
  private(set) var refused = 0
  private var waiters: [(@Sendable (ScriptedNetwork.Counts) -> Bool, CheckedContinuation<Void, Never>)] = []

  /// The conversation without an answer for now, and its waiting calls.
  private var held: String?
  /// Messages that are published before that.
  private var freeMessages = 0
  private var unanswered: [CheckedContinuation<Void, Never>] = []

  struct Counts: Sendable {
    let asked: Int
    let published: Int
    let unanswered: Int
    let refused: Int
  }

  init(name: String = "scripted", fault: @escaping @Sendable (OutgoingMessage) -> DeliveryError? = { _ in nil }) {
    self.name = name
    self.fault = fault
  }

  func answer(_ fault: @escaping @Sendable (OutgoingMessage) -> DeliveryError?) { self.fault = fault }

  func close(_ conversations: Set<String>) { closed = conversations }

  nonisolated var textLimit: (@Sendable (String, Address) async throws(DeliveryError) -> Void)? {
    { text, _ async throws(DeliveryError) in
      if text == "too long" { throw DeliveryError(.rejected, "the text is too long") }
    }
  }

  nonisolated func reserve(_ message: OutgoingMessage) -> String? { nil }
  nonisolated func stop() {}

  func admit(_ address: Address, sealedWith seal: SealKind) throws(DeliveryError) {
    guard closed.contains(address.text) else { return }
    refused += 1
    defer { tellWaiters() }
    throw DeliveryError(.encryptedRoom, "the room is encrypted")
  }

  func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    asked += 1
    if message.address.text == held, published.count >= freeMessages {
      await withCheckedContinuation {
        unanswered.append($0)
        tellWaiters()
      }
    }
    defer { tellWaiters() }
    if let error = fault(message) { throw error }
    published.append(message)
    return Publication(publishedAt: .now(), remoteID: nil, attachment: message.content.attachment)
  }

  /// Messages with something that is kept until they are over.
  private(set) var stored: Set<MessageID> = []

  func store(_ messages: Set<MessageID>) { stored = messages }

  func forgetEnded(_ waiting: @Sendable ([MessageID]) async throws -> Set<MessageID>) async throws {
    stored = try await waiting(Array(stored))
  }

  func hold(_ conversation: String, after messages: Int = 0) { (held, freeMessages) = (conversation, messages) }

  func answerHeld() {
    held = nil
    for waiter in unanswered { waiter.resume() }
    unanswered = []
  }

  /// The answer about messages that may have been published.
  private var sighting = Sighting.unknown
  private(set) var searched: [TriedMessage] = []

  func find(as sighting: Sighting) { self.sighting = sighting }

  func find(_ message: TriedMessage) -> Sighting {
    searched.append(message)
    return sighting
  }

  func check() -> String { "as told" }

  /// Returns when the counts satisfy `condition`.
  func wait(until condition: @escaping @Sendable (Counts) -> Bool) async {
    if condition(counts) { return }
    await withCheckedContinuation { waiters.append((condition, $0)) }
  }

  private var counts: Counts {
    Counts(asked: asked, published: published.count, unanswered: unanswered.count, refused: refused)
  }

  private func tellWaiters() {
    let counts = counts
    for (_, waiter) in waiters.filter({ $0.0(counts) }) { waiter.resume() }
    waiters.removeAll { $0.0(counts) }
  }

  func texts(in conversation: String) -> [String] {
    published.filter { $0.address.text == conversation }.map {
      if case .text(let text) = $0.content { text } else { "photo" }
    }
  }
}
