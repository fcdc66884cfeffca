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

  @Test("An idle process that was killed is no attempt: its mail may still crash the next one")
  func idleAndKilled() throws {
    let scratch = try TemporaryDirectory()
    let program = scratch.path("darkroom")
    let script = """
      #!/bin/sh
      echo $$ >> '\(scratch.path("lives"))'
      [ "$(wc -l < '\(scratch.path("lives"))')" != 2 ] || exit 1
      exec '\(MailRoomUnderTest.program)' "$@"
      """
    try #require(try run(["install", "-m", "755", "/dev/stdin", program], input: script).status == 0)
    let reader = MailReader(program: program)
    defer { reader.close() }
    let mail = try File(inMemory: Array("To: family@photos\n\nGood".utf8))
    #expect(try reader.index(of: mail, limit: MailLimits.bytes).body == "Good")
    let first = try #require(pid_t(String(contentsOfFile: scratch.path("lives"), encoding: .utf8).dropLast()))
    kill(first, SIGKILL)
    // Its parent, this process, has yet to take note of its end.
    var end = siginfo_t()
    waitid(P_PID, id_t(first), &end, WEXITED | WNOWAIT)
    #expect(try reader.index(of: mail, limit: MailLimits.bytes).body == "Good")
    #expect(try String(contentsOfFile: scratch.path("lives"), encoding: .utf8).split(separator: "\n").count == 3)
  }
}
