import Digests
import Foundation
import MailParsing
import TestSupport
import Testing

/// Python's `email` judges the parser on mails as devices and programs build them, and on those of its own tests;
/// `corpus.py` makes and collects them.
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
    #expect(judged.count == 214)
    let charsets = Charsets()
    var images = 0
    var refused: [String: String] = [:]
    for (name, judgement) in judged.sorted(by: { $0.key < $1.key }) {
      let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: scratch.path("\(name).eml"))))
      let index: MailIndex
      do {
        index = try MailParser.index(of: bytes, charsets: charsets, limit: MailLimits.bytes)
      } catch {
        refused[name] = "\(error)"
        continue
      }
      let digests = index.images.map { SHA256Digest(of: $0.encoding.decode(bytes[$0.range])).hex }
      #expect(digests == judgement.images, "\(name)")
      #expect(index.subject.split(separator: " ").joined(separator: " ") == judgement.subject, "\(name)")
      #expect(index.sender == judgement.sender, "\(name)")
      images += digests.count
    }
    let reports = refused.filter { $0.value.contains("a report about another mail") }.keys
    #expect(reports.sorted() == ["05", "16", "25", "43"].map { "python-msg_\($0)" }, "\(refused)")
    #expect(refused["python-msg_36"]?.contains("does not hold its own contents") == true)
    #expect(refused.count == 5)
    #expect(images > 100)
  }
}
