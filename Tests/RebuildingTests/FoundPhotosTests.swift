import Messages
import Spooling
import TestSupport
import Testing

@testable import Rebuilding

@Suite struct FoundPhotosTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
  }

  private func keep(in inbox: String) throws {
    try PhotoCache(spool).keep(
      original: [1], thumbnail: [2], blurred: [3],
      at: PhotoPlace(
        inbox: InboxID(unchecked: inbox), conversation: ConversationID(unchecked: "family"),
        message: MessageID(unchecked: "m")))
  }

  private func found() throws -> FoundPhotos { try FoundPhotos(in: spool, except: [], receipts: [:]) }

  @Test func firstOfTwoCopiesCounts() throws {
    for inbox in ["me", "you"] { try keep(in: inbox) }
    let found = try found()
    #expect(found.all.map(\.row.inbox.text) == ["me"] && found.copies == ["photos/you/family/m"])
  }

  @Test func anEmptyDirectoryMakesNoPhotoACopy() throws {
    for inbox in ["me", "you"] { try keep(in: inbox) }
    for file in ["original.jpg", "thumbnail.jpg", "blurred.jpg"] {
      try spool.photos.directory("me").directory("family").directory("m").removeTree(file)
    }
    let found = try found()
    #expect(found.all.map(\.row.inbox.text) == ["you"] && found.copies.isEmpty)
  }

  @Test func oneThatNobodyCanReadMakesNoOtherACopy() throws {
    for inbox in [String(repeating: "a", count: 250), "me"] { try keep(in: inbox) }
    let found = try found()
    #expect(found.all.map(\.row.inbox.text) == ["me"] && found.copies.isEmpty && found.unreadable == 1)
  }
}
