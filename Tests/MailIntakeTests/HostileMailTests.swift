import Darkroom
import DurableFiles
import Foundation
import MailParsing
import Messages
import TestSupport
import Testing

@Suite struct HostileMailTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Support/python/hostile_mails.py").path

  /// `Benchmarks/mail.py` measures the same mails in their full size.
  @Test("The locked process ends with each hostile mail by itself, and reads the next one") func ends() throws {
    let scratch = try TemporaryDirectory()
    let made = try run(["python3", Self.script, scratch.path, "1200000"])
    try #require(made.status == 0, "\(made.errors)")
    let sentences = try JSONDecoder().decode([String: String].self, from: Data(made.output.utf8))
    let reader = MailReader(program: MailRoomUnderTest.program)
    defer { reader.close() }
    for (name, sentence) in sentences.sorted(by: { $0.key < $1.key }) {
      let mail = try File(reading: scratch.path("\(name).eml"))
      var answer = "taken"
      do { _ = try reader.index(of: mail, limit: MailLimits.bytes) } catch { answer = "\(error)" }
      #expect(answer.contains(sentence), "\(name): \(answer)")
    }
    try Data("To: family@photos\n\nGood".utf8).write(to: URL(fileURLWithPath: scratch.path("good.eml")))
    #expect(try reader.index(of: File(reading: scratch.path("good.eml")), limit: MailLimits.bytes).body == "Good")
  }

  @Test("A program that ends whatever it reads refuses no mail: the computer is to blame") func brokenProgram() throws {
    let mail = try File(inMemory: Array("To: family@photos\n\nGood".utf8))
    let error = #expect(throws: DeliveryError.self) {
      try MailReader(program: "/bin/false").index(of: mail, limit: MailLimits.bytes)
    }
    #expect(error?.cause == .localResources)
  }
}
