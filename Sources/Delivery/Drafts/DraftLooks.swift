import DurableFiles

/// Values that change with a draft's directory.
struct DraftState: Sendable, Equatable {
  let owner: UInt32
  /// Changes with all files but `text`, which counts only at Send.
  fileprivate let photos: Int
  fileprivate let text: Int

  /// nil if there is no such entry.
  init?(_ name: String, in drafts: Directory) {
    guard let entry = try? drafts.entry(name) else { return nil }
    owner = entry.owner
    var (photos, text) = (Hasher(), Hasher())
    photos.combine(entry.inode)
    if entry.kind == .directory, let directory = try? drafts.directory(name) {
      var names = [String]()
      try? directory.forEachName { bytes in
        names.append(String(decoding: bytes, as: UTF8.self))
        return names.count < Self.mostFiles
      }
      for name in names.sorted() {
        guard let file = try? directory.entry(name) else { continue }
        let values = [Int64(clamping: file.inode), file.changed, file.modified, Int64(file.size)]
        if name == "text" {
          text.combine(values)
        } else {
          photos.combine(name)
          photos.combine(values)
        }
      }
    }
    (self.photos, self.text) = (photos.finalize(), text.finalize())
  }

  /// More than a draft may have.
  private static let mostFiles = 64
}

/// Which drafts were read, and when those of each user may be read again after a change.
struct DraftLooks {
  private struct Look {
    /// nil if it has to be read again, whatever its state.
    var state: DraftState?
    var isRefused = false
  }

  private struct Rest {
    var end: ContinuousClock.Instant
    /// Readings without a pause.
    var readings: Int
  }

  private var looks: [String: Look] = [:]
  private var rests: [UInt32: Rest] = [:]

  /// Readings of a user's drafts without a pause, after which they rest longer.
  static let mostReadings = 64
  private static let pause = Duration.seconds(5)
  private static let longRest = Duration.seconds(1)

  func contains(_ name: String) -> Bool { looks[name] != nil }

  /// Remembers the state; false if the draft has not changed since it was read. A draft that was refused is also read
  /// again after a change of its text.
  mutating func begin(_ name: String, _ state: DraftState?) -> Bool {
    if let former = looks[name]?.state, former.photos == state?.photos, former.owner == state?.owner,
      looks[name]?.isRefused == false || former.text == state?.text
    {
      return false
    }
    looks[name] = Look(state: state)
    return true
  }

  /// The draft cannot be sent in the state of the last `begin`.
  mutating func refuse(_ name: String) { looks[name]?.isRefused = true }

  /// Reads the draft again at its next look.
  mutating func readAgain(_ name: String) { looks[name] = Look() }

  mutating func forget(_ name: String) { looks[name] = nil }

  mutating func keep(only names: Set<String>) { looks = looks.filter { names.contains($0.key) } }

  // MARK: Rests

  /// Lets the drafts of a user rest after one of them was read in `time`, so that constant changes leave most of the time
  /// to the drafts of others: for twice that time, and for at least a second once `mostReadings` followed one another.
  mutating func rest(_ owner: UInt32, after time: Duration) {
    rests = rests.filter { $0.value.end + Self.pause > .now }
    let readings = (rests[owner]?.readings ?? 0) + 1
    let rest = readings > Self.mostReadings ? max(time * 2, Self.longRest) : time * 2
    rests[owner] = Rest(end: .now + rest, readings: readings)
  }

  /// The rest of the user; nil if it is over.
  func rest(of owner: UInt32) -> Duration? {
    guard let end = rests[owner]?.end else { return nil }
    let rest = end - .now
    return rest > .zero ? rest : nil
  }
}
