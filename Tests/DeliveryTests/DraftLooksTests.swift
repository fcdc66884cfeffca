import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import Delivery

@Suite struct DraftLooksTests {
  private let scratch: TemporaryDirectory
  private let drafts: Directory
  private let cat: Directory
  private var looks = DraftLooks()

  init() throws {
    scratch = try TemporaryDirectory()
    drafts = try Directory(path: scratch.path)
    cat = try drafts.directory(creating: "cat")
    try cat.write([1], as: "photo-1")
    try cat.write([2], as: "photo-2")
  }

  private mutating func isNews() -> Bool { looks.begin("cat", DraftState("cat", in: drafts)) }

  @Test("A draft is read again after each change of its photos") mutating func photos() throws {
    #expect(isNews())
    #expect(!isNews())
    try cat.write([3], as: "photo-3")
    #expect(isNews())
    #expect(rename("\(cat.path)/photo-3", "\(cat.path)/photo-4") == 0)
    #expect(isNews())
    try cat.remove("photo-4")
    #expect(isNews())
    #expect(!isNews())
    try drafts.removeTree("cat")
    #expect(isNews())
  }

  @Test("A text that is added or changed matters only to a draft that was refused") mutating func text() throws {
    #expect(isNews())
    try cat.write([1], as: "text")
    #expect(!isNews())
    looks.refuse("cat")
    try cat.write([1, 2], as: "text")
    #expect(isNews())
    try cat.remove("text")
    #expect(!isNews())
  }

  @Test("The drafts of one user rest after a reading, and those of others do not") mutating func rests() {
    looks.rest(1, after: .seconds(100))
    #expect((looks.rest(of: 1) ?? .zero) > .seconds(100))
    #expect(looks.rest(of: 2) == nil)
    looks.rest(1, after: .zero)
    #expect(looks.rest(of: 1) == nil)
  }

  @Test("A user who changes drafts without a pause waits longer, and others do not") mutating func storm() {
    for _ in 0..<DraftLooks.mostReadings { looks.rest(1, after: .zero) }
    #expect(looks.rest(of: 1) == nil)
    looks.rest(1, after: .zero)
    #expect(looks.rest(of: 1) != nil)
    looks.rest(2, after: .zero)
    #expect(looks.rest(of: 2) == nil)
  }
}
