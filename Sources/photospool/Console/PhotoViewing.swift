import ArgumentParser
import Composition
import Control
import Delivery
import Ledgers
import Logging
import Messages
import Receiving
import Spooling

/// A photo that is fetched if it is not in the cache.
struct WantedPhoto: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("How long to wait for a photo that has to be fetched, as 90, 90s, 5m or 2h.", valueName: "time"))
  var timeout = TimeLimit(seconds: 60)
  @Argument(help: "A photo's id, or the id of its message on its network.")
  var message: String
}

/// Finds sent and received photos, and fetches those that are not in the cache.
struct PhotoViewing {
  private let options: SpoolOptions
  let spool: Spool

  /// Seconds between two polls of the ledger.
  private static let interval = 0.05

  init(_ options: SpoolOptions) throws {
    self.options = options
    spool = try options.openSpool()
  }

  /// The photo of that name: its id here, or its message's id.
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

  /// The path of the photo or its preview, relative to the spool; nil if it is not in the cache.
  func path(_ photo: PhotoStory, isBlurred: Bool) throws -> String? {
    try photo.wasCached ? PhotoCache(spool).path(photo.place, isBlurred: isBlurred) : nil
  }

  /// The path of what may be shown, after fetching the photo if necessary.
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

  /// Records a view, for the order of eviction. A running daemon writes it later. Errors are ignored.
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

  /// Waits for the daemon to fetch the photo.
  private func wait(for photo: PhotoStory, timeout: Double) async throws -> String {
    let end = ContinuousClock.now + .seconds(timeout)
    let showsProgress = Terminal.errorIsTerminal
    defer { if showsProgress { Terminal.redraw("") } }
    while true {
      let now = try self.photo(photo.message.text)
      if now.state == .downloaded, let path = try path(now, isBlurred: now.isHidden) { return path }
      if now.state == .failed {
        let reason = now.error.map { escaped($0) } ?? "its download failed"
        throw Failure(
          .unavailable, "\(now.message) cannot be fetched: \(reason)\(now.cause.map { " (\($0))" } ?? "")")
      }
      if ContinuousClock.now >= end {
        let reason = now.error.map { ": \(escaped($0))" } ?? ""
        throw Failure(.tryAgain, "\(photo.message) is not there yet; fetching continues\(reason)")
      }
      if showsProgress, let share = try ControlClient.ask(.progress, in: spool.state)?.progress[photo.message.text] {
        Terminal.redraw("\(Terminal.bar(share, width: 40)) \(Int(share * 100)) %  downloading")
      }
      try await Task.sleep(for: .seconds(Self.interval))
    }
  }

  /// Fetches the photo without a daemon.
  private func fetchHere(_ photo: PhotoStory) async throws {
    let settings = try options.settings()
    let darkroom = settings.makeDarkroom()
    defer { darkroom.close() }
    try await Daemon.withoutDaemon(spool) { commands in
      try check(await commands.perform(.want([photo.message.text])))
      let plan = try settings.makeReceivingPlan(spool, darkroom)
      let fetcher = try PhotoFetcher(spool: spool, ledger: commands.ledger) { plan }
      do {
        try await fetcher.fetchOnce(photo.message, Logger(label: "photospool") { _ in SwiftLogNoOpLogHandler() })
      } catch let error as DeliveryError {
        let status: ExitStatus = error.cause.disposition == .fail ? .unavailable : .tryAgain
        throw Failure(
          status, "\(photo.message) cannot be fetched: \(escaped(error.sentence)) (\(error.cause.rawValue))")
      }
    }
  }
}
