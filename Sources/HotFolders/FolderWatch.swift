import DurableFiles
import Logging
import Messages
import Settings
import Spooling

/// Sends the finished images of watched folders, in order, on one thread. It may be killed at any time.
///
/// A file is finished if it was left alone for `quiet`, nobody writes it, and its structure is complete. The end of a
/// write proves nothing: an upload that breaks off looks the same.
package final class FolderWatch {
  private struct Seen {
    var entry: Entry
    /// When it had this state for the first time.
    var since: ContinuousClock.Instant
    /// It was judged in this state, and is not finished or not for us.
    var isJudged = false
    var isNamed = false

    init(_ file: FoundFile, _ now: ContinuousClock.Instant) { (entry, since) = (file.entry, now) }

    /// Begins anew for a file that changed.
    func renewed(for file: FoundFile, _ now: ContinuousClock.Instant) -> Seen {
      let isSame =
        entry.size == file.entry.size && entry.changed == file.entry.changed && entry.modified == file.entry.modified
        && entry.inode == file.entry.inode
      return isSame ? self : Seen(file, now)
    }
  }

  private let folders: [WatchedFolder]
  private let spool: String
  private let state: Directory?
  private let unfinished: Duration
  private let now: () -> ContinuousClock.Instant
  private let log: Logger
  private var seen: [String: [String: Seen]] = [:]
  /// The requests of files that were sent and cannot be taken away.
  private var staying: [IdempotencyKey: String] = [:]
  /// The folders that the log has named as left out.
  private var leftOut = Set<String>()
  private var passing: [String: [String: Seen]] = [:]
  private var sent: [String: SentFiles] = [:]
  private var events = FolderEvents()
  private var troubles = Set<String>()
  /// When files of `.sent/` were last deleted.
  private var swept: ContinuousClock.Instant

  /// Folders are walked at least this often, because network mounts tell nothing.
  private static let rounds = 30

  /// - Parameters:
  ///   - spool: the path of the spool.
  ///   - state: the path of the directory where files that stay are remembered, if a folder keeps them.
  ///   - unfinished: how long an incomplete file may be left alone before it is given up.
  ///   - now: the clock.
  package init(
    _ folders: [WatchedFolder], spool: String, state: String, unfinished: Duration = .seconds(600),
    now: @escaping () -> ContinuousClock.Instant = { .now }, log: Logger
  ) throws(FileError) {
    (self.folders, self.spool, self.unfinished, self.now, self.log) = (folders, spool, unfinished, now, log)
    swept = now() - .hours(1)
    self.state = folders.contains { $0.after == .keep } ? try Directory(path: state) : nil
  }

  /// Runs until the process ends.
  package func run() -> Never {
    while true {
      let next = round()
      events.wait(seconds: next)
    }
  }

  /// Looks at all folders once. Returns the seconds until the next look.
  package func round() -> Int {
    var next = Duration.seconds(Self.rounds)
    var paths = Set<String>()
    let sweeps = swept + .hours(1) <= now()
    if sweeps { swept = now() }
    for folder in folders {
      do {
        let walk = try walk(through: folder, sweeps: sweeps)
        for name in walk.folders {
          let path = name.isEmpty ? folder.folder : "\(folder.folder)/\(name)"
          events.watch(path)
          paths.insert(path)
        }
        tell(walk.leftOut, in: folder)
        let found = look(at: walk.files, in: folder)
        next = min(next, found.next)
        next = min(next, tellPassing(walk.passing, in: folder))
        if sweeps { try sweep(walk.withSent, in: folder) }
        if found.isWell, troubles.remove(folder.folder) != nil {
          log.info("a folder is watched again", metadata: name(folder))
        }
      } catch {
        tell(error, folder)
        next = min(next, .seconds(1))
      }
    }
    events.keep(paths)
    return max(1, Int((next / .seconds(1)).rounded(.up)))
  }

  private func name(_ folder: WatchedFolder) -> Logger.Metadata { ["folder": "\(escaped(folder.folder))"] }

  private func tell(_ error: any Error, _ folder: WatchedFolder) {
    guard troubles.insert(folder.folder).inserted else { return }
    log.error("files of a folder are left for now", metadata: name(folder).merging(["error": "\(error)"]) { $1 })
  }

  /// Walks through a folder and passes over the files that were sent and stay.
  private func walk(through folder: WatchedFolder, sweeps: Bool) throws(FileError) -> FolderWalk {
    guard folder.after == .keep, let state else { return try FolderWalk(folder.folder) }
    var list: SentFiles
    if let known = sent[folder.folder] { list = known } else { list = try SentFiles(of: folder.folder, in: state) }
    try list.catchUp()
    let skips = list.isNew && folder.existing == .skip
    let shortens = sweeps && list.isLong
    var there: [IdempotencyKey] = []
    let walk = try FolderWalk(folder.folder) { file in
      guard let key = file.key(in: folder) else { return false }
      if skips || shortens { there.append(key) }
      return skips || list.contains(key)
    }
    if list.isNew { try list.begin(with: there) }
    if shortens, walk.leftOut.isEmpty { try list.shorten(to: there) }
    sent[folder.folder] = list
    return walk
  }

  /// Sends what is finished, in order. A file that is not delays no other. Returns the time until the next look, and whether
  /// no error was met.
  private func look(at files: [FoundFile], in folder: WatchedFolder) -> (next: Duration, isWell: Bool) {
    var (next, isWell) = (Duration.seconds(Self.rounds), true)
    let former = seen[folder.folder] ?? [:]
    var current = [String: Seen]()
    // The same for all, so that files that were found together do not overtake each other.
    let now = now()
    for file in files {
      var one = former[file.path]?.renewed(for: file, now) ?? Seen(file, now)
      let rested = now - one.since
      let gaveUp = rested >= unfinished
      if rested < folder.quiet {
        next = min(next, folder.quiet - rested)
      } else if !one.isJudged || gaveUp && !one.isNamed {
        do {
          let outcome = try send(file, in: folder, gaveUp: gaveUp)
          tell(outcome, of: file, in: folder)
          switch outcome {
          case .sent:
            if folder.after == .keep, let key = file.key(in: folder) { try sent[folder.folder]?.insert(key) }
            continue
          case .failed, .gone: continue
          case .stays: isWell = false
          case .notForUs: (one.isJudged, one.isNamed) = (true, true)
          case .unfinished:
            // Somebody may still write it, which no event tells at its end.
            next = min(next, folder.quiet)
            one.isJudged = false
          }
        } catch {
          tell(error, folder)
          isWell = false
          next = min(next, .seconds(1))
        }
      }
      current[file.path] = one
    }
    seen[folder.folder] = current
    return (next, isWell)
  }

  /// Sends a file, or only takes it away if it was sent before.
  private func send(_ file: FoundFile, in folder: WatchedFolder, gaveUp: Bool) throws -> HotFile.Outcome {
    let hot = try HotFile(file, in: folder, spool: spool)
    let key = staying.isEmpty ? nil : file.key(in: folder)
    let request = key.flatMap { staying[$0] }
    let outcome = if let request { hot.takeAway(request) } else { try hot.send(gaveUp: gaveUp) }
    if case .stays(let request, let sentence) = outcome, let key = file.key(in: folder) {
      if staying.updateValue(request, forKey: key) == nil {
        log.error(
          "a file was sent, and cannot be taken away",
          metadata: name(folder).merging(
            ["file": "\(escaped(file.path))", "request": "\(request)", "error": "\(sentence)"]) { $1 })
      }
    } else if let key {
      staying[key] = nil
    }
    return outcome
  }

  /// Names each folder once that is left out.
  private func tell(_ folders: [(path: String, reason: String)], in folder: WatchedFolder) {
    for (path, reason) in folders where leftOut.insert("\(folder.folder)/\(path)").inserted {
      log.warning(
        "a folder below is left out",
        metadata: name(folder).merging(["path": "\(escaped(path))", "error": "\(reason)"]) { $1 })
    }
  }

  /// Names each file once that has kept a name for a while for `unfinished`. Returns the time until the next one.
  private func tellPassing(_ files: [FoundFile], in folder: WatchedFolder) -> Duration {
    var next = Duration.seconds(Self.rounds)
    let former = passing[folder.folder] ?? [:]
    var current = [String: Seen]()
    let now = now()
    for file in files {
      var one = former[file.path]?.renewed(for: file, now) ?? Seen(file, now)
      let rested = now - one.since
      if rested < unfinished {
        next = min(next, unfinished - rested)
      } else if !one.isNamed {
        one.isNamed = true
        log.info(
          "a file keeps the name of an unfinished one, and is not sent",
          metadata: name(folder).merging(["file": "\(escaped(file.path))"]) { $1 })
      }
      current[file.path] = one
    }
    passing[folder.folder] = current
    return next
  }

  private func tell(_ outcome: HotFile.Outcome, of file: FoundFile, in folder: WatchedFolder) {
    let metadata = name(folder).merging(["file": "\(escaped(file.path))"]) { $1 }
    switch outcome {
    case .sent(let request):
      log.info("a file was sent", metadata: metadata.merging(["request": "\(request)"]) { $1 })
    case .notForUs(let sentence):
      log.info("a file is left where it is", metadata: metadata.merging(["error": "\(sentence)"]) { $1 })
    case .failed(let sentence):
      log.warning("a file went to .failed/", metadata: metadata.merging(["error": "\(sentence)"]) { $1 })
    case .unfinished, .gone, .stays: break
    }
  }

  /// Deletes files that have lain in `.sent/` for `keepFor`.
  private func sweep(_ places: [[String]], in folder: WatchedFolder) throws {
    let oldest = Timestamp.now().milliseconds - Int64(folder.keepFor / .milliseconds(1))
    for names in places {
      var directory = try Directory(path: folder.folder)
      for name in names + [HotFile.sentName] { directory = try directory.directory(name) }
      for name in try directory.names() {
        guard let entry = try directory.entry(name), entry.kind == .file, entry.changed / 1_000_000 < oldest else {
          continue
        }
        try directory.remove(name)
      }
    }
  }
}
