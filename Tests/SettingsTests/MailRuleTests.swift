import Messages
import Testing

@testable import Settings

struct MailRuleTests {
  @Test("The first rule that knows an address and its sender applies, without case") func firstWins() throws {
    let settings = try loadSettings(
      """
      mail:
        bytes: 10MB
        accept:
          - {to: family@photos.home, conversation: family}
          - to: ["cam-*@photos.home", root]
            from: ["*@cams.home"]
            conversation: "{local}"
            inbox: garden
            withoutPhoto: drop
          - {to: "*@photos.home", conversation: "other-{local}"}
      """
    ).settings
    func goal(_ address: String, _ sender: String = "a@b") -> String? {
      settings.mailRule(for: address, from: sender)?.conversation(for: address)?.text
    }
    #expect(goal("FAMILY@photos.home") == "family")
    #expect(goal("Cam-1+x@photos.home", "cam@CAMS.home") == "cam-1")
    #expect(goal("cam-1@photos.home") == "other-cam-1")
    #expect(goal("root", "cam@cams.home") == "root")
    #expect(goal("root") == nil)
    #expect(goal("@photos.home") == "other-")
    #expect(settings.mailRules.map(\.withoutPhoto) == [nil, .drop, nil])
    #expect(settings.mail.bytes == 10_000_000)
  }
}
