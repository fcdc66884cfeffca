import Darkroom
import DurableFiles
import Foundation
import MailParsing
import TestSupport
import Testing

@Suite struct CharsetTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("charsets.py").path

  @Test("The locked process reads each charset to its last letter, in subjects and bodies") func locked() throws {
    let scratch = try TemporaryDirectory()
    let made = try run(["python3", Self.script, scratch.path])
    try #require(made.status == 0, "\(made.errors)")
    let texts = try JSONDecoder().decode(
      [String: String].self, from: Data(contentsOf: URL(fileURLWithPath: scratch.path("texts.json"))))
    #expect(texts.count == 42)
    let reader = MailReader(program: MailRoomUnderTest.program)
    defer { reader.close() }
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      let index = try reader.index(of: File(reading: scratch.path("\(name).eml")), limit: MailLimits.bytes)
      // Marks may be combined with their letters.
      #expect(index.subject == text, "\(name)")
      #expect(index.body == text, "\(name)")
    }
  }
}
