import Control
import Delivery
import Janitor
import Ledgers
import Logging
import Messages
import Receiving
import Spooling

/// Finds photos, sent and received, and what of them may be shown; fetches what is not in the cache.
struct PhotoViewing {
  private let options: SpoolOptions
  let spool: Spool

  /// Seconds between two looks into the ledger while a photo is fetched.
  private static let interval = 0.05

  init(_ options: SpoolOptions) throws {
    self.options = options
    spool = try options.openSpool()
  }

  /// The photo that is called `name`, by its id here or by that of its message.
  func photo(_ name: String) throws -> PhotoStory {
    let found = try LedgerView(in: spool.state).photos(called: name)
    if let photo = found.first(where: { $0.message.text == name }) { return photo }
    guard let photo = found.first else {
      throw Failure(.noInput, "no photo \(escaped(name)) is known; see `photospool photos` and `photos --received`")
    }
    if found.count > 1 {
      let ids = found.map(\.message.text).joined(separator: ", ")
      throw Failure(.usage, "\(escaped(name)) has several photos; name one of them: \(ids)")
    }
    return photo
  }

  /// The path below the spool of what may be shown of a photo; nil when it is not in the cache.
  func path(_ photo: PhotoStory, isBlurred: Bool) throws -> String? {
    guard photo.wasCached else { return nil }
    return try PhotoCache(spool).path(
      inbox: photo.inbox, conversation: photo.conversation, message: photo.message, isBlurred: isBlurred)
  }

  /// The path of what may be shown of the photo, which is fetched first where it is not in the cache.
  func shown(_ photo: PhotoStory, timeout: Double) async throws -> String {
    if let path = try path(photo, isBlurred: photo.isHidden) { return path }
    let message = photo.message.text
    if let reply = try ControlClient.ask(.want([message]), in: spool.state, patience: 5) {
      try check(reply)
      return try await wait(for: photo, timeout: timeout)
    }
    try await fetchHere(photo)
    let now = try self.photo(message)
    guard let path = try path(now, isBlurred: now.isHidden) else {
      throw Failure(.tryAgain, "\(message) is not in the cache; try again")
    }
    return path
  }

  /// Notes that a photo was looked at, which decides what is evicted first. A running daemon writes it down, and nobody
  /// waits for that. A failure is nobody's concern.
  func note(_ photo: PhotoStory) async {
    do {
      if try ControlClient.leave(.viewed(photo.message.text), in: spool.state) { return }
      let ledger = try Ledger.beside(daemonOf: spool)
      try await ledger.viewed(photo.message, at: .now())
      try ledger.close()
    } catch {}
  }

  private func check(_ reply: ControlReply) throws {
    if let error = reply.error { throw Failure(.unavailable, error) }
    if let outcome = reply.outcomes.first, !outcome.isDone {
      throw Failure(.unavailable, "\(outcome.subject): \(outcome.sentence)")
    }
  }

  /// Waits while the daemon fetches.
  private func wait(for photo: PhotoStory, timeout: Double) async throws -> String {
    let end = ContinuousClock.now + .seconds(timeout)
    let showsProgress = Terminal.errorIsTerminal
    defer { if showsProgress { Terminal.redraw("") } }
    while true {
      let now = try self.photo(photo.message.text)
      if now.state == .downloaded, let path = try path(now, isBlurred: now.isHidden) { return path }
      if now.state == .failed { throw Self.failure(now) }
      if ContinuousClock.now >= end {
        let reason = now.error.map { ": \(escaped($0))" } ?? ""
        throw Failure(.tryAgain, "\(photo.message) is not there yet and goes on being fetched\(reason)")
      }
      if showsProgress, let share = try ControlClient.ask(.progress, in: spool.state)?.progress[photo.message.text] {
        Terminal.redraw("\(Terminal.bar(share, width: 40)) \(Int(share * 100)) %  downloading")
      }
      try await Task.sleep(for: .seconds(Self.interval))
    }
  }

  /// Fetches without a daemon.
  private func fetchHere(_ photo: PhotoStory) async throws {
    let assembly = Assembly(settings: try options.settings())
    let darkroom = assembly.darkroom()
    defer { darkroom.close() }
    try await Daemon.withoutDaemon(spool) { commands in
      try check(await commands.perform(.want([photo.message.text])))
      let plan = try assembly.receivingPlan(spool, darkroom)
      let fetcher = try PhotoFetcher(spool: spool, ledger: commands.ledger) { plan }
      do {
        try await Receiver.fetchOnce(
          photo.message, with: fetcher, ledger: commands.ledger, settings: assembly.settings,
          log: Logger(label: "photospool") { _ in SwiftLogNoOpLogHandler() })
      } catch let error as DeliveryError {
        let status: ExitStatus = error.cause.disposition == .fail ? .unavailable : .tryAgain
        throw Failure(
          status, "\(photo.message) cannot be fetched: \(escaped(error.sentence)) (\(error.cause.rawValue))")
      }
    }
  }

  private static func failure(_ photo: PhotoStory) -> Failure {
    let reason = photo.error.map { escaped($0) } ?? "its download failed"
    return Failure(
      .unavailable, "\(photo.message) cannot be fetched: \(reason)\(photo.cause.map { " (\($0))" } ?? "")")
  }
}
