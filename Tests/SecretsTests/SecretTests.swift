import Foundation
import Secrets
import TestSupport
import Testing

@Suite struct SecretTests {
  private let scratch: TemporaryDirectory

  init() throws { scratch = try TemporaryDirectory() }

  private func file(_ text: String, mode: Int = 0o600) throws -> String {
    let path = scratch.path("secret")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  private func complaint(_ source: SecretSource) -> String? {
    do {
      _ = try source.load()
      return nil
    } catch {
      return error.description
    }
  }

  @Test func refusedSecretIsReadAgain() throws {
    let source = SecretSource.file(try file("hush 1"))
    let token = try Renewable(reading: { try source.load() })
    _ = try file("hush 2")
    #expect(token.current.reveal() == "hush 1", "nobody has refused it")
    token.refuse()
    _ = try file("")
    #expect(token.current.reveal() == "hush 1", "there is no other one yet")
    _ = try file("hush 2")
    #expect(token.current.reveal() == "hush 2")
    _ = try file("hush 3")
    #expect(token.current.reveal() == "hush 2")
    #expect(!"\(token) \(String(reflecting: token))".contains("hush"))
  }

  @Test func aSecretDescribesItselfToNobody() {
    let secret = Secret("hush")
    var dumped = ""
    dump(secret, to: &dumped)
    let told = "\(secret) \(String(reflecting: secret)) \(Optional(secret) as Any) \([secret]) \(dumped)"
    #expect(!told.contains("hush"))
    #expect(secret.reveal() == "hush")
  }

  @Test(arguments: ["hush", "hush\n", "hush\r\n"], [0o600, 0o400])
  func aFileOfItsOwnersGivesItsOneLine(_ text: String, _ mode: Int) throws {
    #expect(try SecretSource.file(file(text, mode: mode)).load() == Secret("hush"))
  }

  @Test func aDocumentMayHaveSeveralLinesAndNoOtherReaders() throws {
    #expect(try SecretSource.document(file("{\n  \"key\": 1\n}\n")).load() == Secret("{\n  \"key\": 1\n}"))
    let path = try file("{}", mode: 0o644)
    #expect(complaint(.document(path)) == "\(path) is open to others than its owner; `chmod 600` it")
    #expect(complaint(.document(try file("", mode: 0o600)))?.contains("it is empty") == true)
  }

  @Test(arguments: [0o640, 0o604, 0o620, 0o660, 0o644, 0o601])
  func aFileThatIsOpenToOthersIsRefusedWithTheRemedy(_ mode: Int) throws {
    let path = try file("hush", mode: mode)
    #expect(complaint(.file(path)) == "\(path) is open to others than its owner; `chmod 600` it")
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give a file away"))
  func aFileOfSomebodyElseIsRefused() throws {
    let path = try file("hush")
    #expect(chown(path, 12345, 12345) == 0)
    #expect(complaint(.file(path))?.contains("belongs to another user") == true)
  }

  @Test func specialFilesAreRefusedAtOnce() throws {
    #expect(mkfifo(scratch.path("fifo"), 0o600) == 0)
    #expect(complaint(.file(scratch.path("fifo")))?.contains("is not a file") == true)
    #expect(complaint(.file(scratch.path))?.contains("is not a file") == true)
    #expect(complaint(.file(scratch.path("none")))?.contains("No such file") == true)
  }

  @Test func overlongSecretsAreRefused() throws {
    #expect(complaint(.file(try file(String(repeating: "x", count: 70_000))))?.contains("too many") == true)
  }

  @Test(arguments: ["", "\n"])
  func anEmptyFileIsRefused(_ text: String) throws {
    #expect(complaint(.file(try file(text)))?.contains("empty") == true)
  }

  @Test(arguments: ["hush\nhush", "hu\u{1b}sh", "hush\n\n"])
  func secretsOfSeveralLinesAreRefusedAndNotShown(_ text: String) throws {
    let complaint = try #require(complaint(.file(try file(text))))
    #expect(complaint.contains("one line") && !complaint.contains("hu"))
  }

  @Test func aVariableOfTheEnvironmentGivesItsText() throws {
    let path = try #require(ProcessInfo.processInfo.environment["PATH"])
    #expect(try SecretSource.environment("PATH").load() == Secret(path))
    #expect(
      complaint(.environment("PHOTOSPOOL_TEST_NONE"))
        == "the environment variable PHOTOSPOOL_TEST_NONE is not set")
  }
}
