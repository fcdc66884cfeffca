import Digests
import Foundation
import MailParsing
import TestSupport
import Testing

/// Python's `email` judges the parser on mails as devices and programs build them; `corpus.py` makes them.
@Suite struct JudgedByPythonTests {
  private struct Judgement: Decodable {
    let images: [String]
    let subject: String
    let sender: String
  }

  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("corpus.py").path

  @Test("Each image has the digest, each subject and sender the text that Python finds") func agrees() throws {
    let scratch = try TemporaryDirectory()
    let made = try run(["python3", Self.script, scratch.path])
    try #require(made.status == 0, "\(made.errors)")
    let judged = try JSONDecoder().decode(
      [String: Judgement].self, from: Data(contentsOf: URL(fileURLWithPath: scratch.path("judged.json"))))
    #expect(judged.count == 165)
    let charsets = Charsets()
    var images = 0
    for (name, judgement) in judged.sorted(by: { $0.key < $1.key }) {
      let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: scratch.path("\(name).eml"))))
      let index = try MailParser.index(of: bytes, charsets: charsets, limit: MailLimits.bytes)
      let digests = index.images.map { SHA256Digest(of: $0.encoding.decode(bytes[$0.range])).hex }
      #expect(digests == judgement.images, "\(name)")
      #expect(index.subject.split(separator: " ").joined(separator: " ") == judgement.subject, "\(name)")
      #expect(index.sender == judgement.sender, "\(name)")
      images += digests.count
    }
    #expect(images > 100)
  }
}
