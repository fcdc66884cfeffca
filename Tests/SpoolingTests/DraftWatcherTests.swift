import DurableFiles
import Foundation
import Signalling
import TestSupport
import Testing

@testable import Spooling

@Suite(.timeLimit(.minutes(10))) struct DraftWatcherTests {
  private let scratch: TemporaryDirectory
  private let drafts: Directory
  private let mailbox = Mailbox()
  private let watcher: DraftWatcher

  init() throws {
    scratch = try TemporaryDirectory()
    drafts = try Spool(creating: scratch.path("spool")).draft
    watcher = try #require(DraftWatcher(drafts.path, mailbox))
  }

  private func make(_ name: String) throws -> Directory {
    #expect(try drafts.make(name))
    return try drafts.directory(name)
  }

  /// The names of the next post.
  private func posted() async -> [String] {
    for await _ in mailbox.bell.rings { return mailbox.take().names }
    return []
  }

  @Test("Files that are closed after writing, renamed into a draft, or removed are reported")
  func changes() async throws {
    let cat = try make("cat")
    let path = "\(drafts.path)/cat"
    try Directory(path: scratch.path).write([1], as: "photo")
    let changes: [() throws -> Void] = [
      { try Data([1]).write(to: URL(filePath: "\(path)/photo-1")) },
      { #expect(rename(scratch.path("photo"), "\(path)/photo-2") == 0) },
      { #expect(rename("\(path)/photo-2", "\(path)/photo-3") == 0) },
      { try cat.remove("photo-3") },
    ]
    for change in changes {
      #expect(watcher.watch("cat", of: 1))
      try change()
      #expect(await posted() == ["cat"])
    }
  }

  @Test("A file that is still being written is not reported before it is closed")
  func halfWritten() async throws {
    _ = try make("cat")
    _ = try make("dog")
    for name in ["cat", "dog"] { #expect(watcher.watch(name, of: 1)) }
    let file = try #require(fopen("\(drafts.path)/cat/photo", "w"))
    fputs("half", file)
    fflush(file)
    try drafts.directory("dog").write([1], as: "photo")
    #expect(await posted() == ["dog"])
    fclose(file)
    #expect(await posted() == ["cat"])
  }

  @Test("A watch reports one change, however many follow")
  func once() async throws {
    let cat = try make("cat")
    #expect(watcher.watch("cat", of: 1))
    for number in 0..<100 { try cat.write([1], as: "photo-\(number)") }
    let dog = try make("dog")
    #expect(watcher.watch("dog", of: 1))
    try dog.write([1], as: "photo")
    var names = [String]()
    while !names.contains("dog") { names += await posted() }
    #expect(names == ["cat", "dog"])
  }

  @Test("A draft that is renamed or removed is reported, and its watch ends")
  func gone() async throws {
    for number in 0..<3 * DraftWatcher.mostDrafts {
      _ = try make("cat")
      #expect(watcher.watch("cat", of: 1))
      if number % 2 == 0 {
        #expect(rename("\(drafts.path)/cat", scratch.path("cat")) == 0)
        try Directory(path: scratch.path).removeTree("cat")
      } else {
        try drafts.removeTree("cat")
      }
      #expect(await posted() == ["cat"])
    }
  }

  @Test("One user cannot take the watches of others, and a watch that is renewed counts once")
  func limit() async throws {
    for number in 0..<DraftWatcher.mostDrafts { _ = try make("cat-\(number)") }
    for number in 0..<DraftWatcher.mostDrafts - 1 { #expect(watcher.watch("cat-\(number)", of: 1)) }
    #expect(watcher.watch("cat-0", of: 1))
    let last = "cat-\(DraftWatcher.mostDrafts - 1)"
    #expect(watcher.watch(last, of: 1))
    let dog = try make("dog")
    #expect(!watcher.watch("dog", of: 1))
    #expect(watcher.watch("dog", of: 2))
    try dog.write([1], as: "photo")
    #expect(await posted() == ["dog"])
    try drafts.directory(last).write([1], as: "photo")
    #expect(await posted() == [last])
    #expect(watcher.watch("dog", of: 1))
  }

  @Test("A draft that is missing or a link is not watched, which is no lack of watches")
  func missing() throws {
    #expect(watcher.watch("nothing", of: 1))
    #expect(symlink("/", "\(drafts.path)/link") == 0)
    #expect(watcher.watch("link", of: 1))
  }
}
