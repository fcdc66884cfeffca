import DurableFiles
import MailIntake
import Testing

@Suite struct SendmailTests {
  @Test(
    "The lines of programs that mail are understood",
    arguments: [
      // cron, mdadm, mutt, bsd-mailx, PHP and Postfix's pipe.
      ("-FCronDaemon -i -B8BITMIME -oem root", ["root"], false, false), ("-t", [], true, true),
      ("-oem -oi -- a@b", ["a@b"], false, false), ("-i -t -f me@x -m", [], true, false), ("-t -i", [], true, false),
      ("-i -f me@x -- -odd@name", ["-odd@name"], false, false), ("a@b -oi c@d", ["a@b", "c@d"], false, false),
      (
        "-G -h 3 -L tag -N never -O opt=1 -R full -U -V id -v -X log -A a -C cf -d9 -p esmtp -e m -n -x a@b", ["a@b"],
        false, true
      ),
      ("-bm -it a@b", ["a@b"], true, false),
    ] as [(String, [String], Bool, Bool)])
  func callers(_ line: String, _ recipients: [String], _ reads: Bool, _ endsAtDot: Bool) throws {
    let call = try SendmailArguments(line.split(separator: " ").map(String.init))
    #expect(call.recipients == recipients)
    #expect(call.readsRecipients == reads)
    #expect(call.endsAtDot == endsAtDot)
    #expect(call.mode == .deliver)
  }

  @Test("The sender and the full name are read, and -f with nothing is the empty sender") func sender() throws {
    #expect(try SendmailArguments(["-f", "", "a"]).sender == "")
    #expect(try SendmailArguments(["-f<>", "a"]).sender == "")
    #expect(try SendmailArguments(["-rme@x", "-F", "Me Myself"]).fullName == "Me Myself")
  }

  @Test("The queue is shown, aliases are nothing, and servers and unknown options are refused") func modes() throws {
    #expect(try SendmailArguments(["-bp"]).mode == .showQueue)
    for words in [["-bi"], ["-q"], ["-q30m"], ["-I"]] { #expect(try SendmailArguments(words).mode == .nothing) }
    for words in [["-bs"], ["-bd"], ["-bv", "a"], ["-Z"], ["-f"]] {
      #expect(throws: SendmailArguments.Fault.self) { try SendmailArguments(words) }
    }
  }

  private func file(_ text: String, endsAtDot: Bool = false, for recipient: String = "a@b") -> String {
    let file = SubmittedMail(Array(text.utf8), endsAtDot: endsAtDot).file(
      for: recipient, from: "me@x", fullName: "Me", host: "host", date: "Thu, 26 Nov 2026 10:00:00 +0000",
      token: "1.P2R3")
    return String(decoding: file, as: UTF8.self)
  }

  private static let added =
    "Return-Path: <me@x>\nDelivered-To: a@b\nReceived: by host (photospool) id 1.P2R3; Thu, 26 Nov 2026 10:00:00 +0000\n"

  @Test("A mail gets the fields that it lacks, and loses Bcc and CR") func fields() {
    #expect(
      file("Subject: Hi\r\nBcc: c@d,\r\n e@f\r\nTo: a@b\r\n\r\nBody\r\n") == Self.added
        + "Subject: Hi\nTo: a@b\nFrom: \"Me\" <me@x>\nDate: Thu, 26 Nov 2026 10:00:00 +0000\nMessage-ID: <1.P2R3@host>\n\nBody\n"
    )
    let whole = "From: c@d\nDate: now\nMessage-ID: <1>\n"
    #expect(file(whole + "Return-Path: <forged>\n\nBody") == Self.added + whole + "\nBody")
  }

  @Test("Text without a header is a body, and an argument adds no field") func bare() {
    #expect(file("Just text\nmore\n").hasSuffix("\n\nJust text\nmore\n"))
    #expect(!file("\n", for: "a@b\nX-Loop: photospool").contains("\nX-Loop"))
  }

  @Test("A mail for several recipients is delivered to all, or to none if a file cannot be written")
  func allOrNone() throws {
    let test = try MailRoomUnderTest("  accept: [{to: \"*@photos\", conversation: \"{local}\"}]\n")
    let tmp = try test.spool.root.directory("mail").directory("tmp")
    let mails = (0..<3).map { Array("To: \($0)@photos\n\n".utf8) }
    _ = try tmp.make("a_2")
    #expect(throws: FileError.self) { try MailDelivery.deliver(mails, into: test.spool.path, token: "a") }
    #expect(try tmp.names() == ["a_2"])
    #expect(try test.waiting() == [])
    try MailDelivery.deliver(mails, into: test.spool.path, token: "b")
    #expect(try test.waiting() == ["b_0", "b_1", "b_2"])
    #expect(try tmp.names() == ["a_2"])
  }

  @Test("A line with a dot ends a mail unless -i is given") func dot() {
    #expect(file("A: b\n\nOne\n.\nTwo\n", endsAtDot: true).hasSuffix("\n\nOne\n"))
    #expect(file("A: b\n\nOne\n.\nTwo\n").hasSuffix("\n\nOne\n.\nTwo\n"))
  }

  @Test("Recipients are those of To, Cc and Bcc, or of Resent fields") func recipients() {
    let mail = SubmittedMail(Array("To: a@b\nCc: C <c@d>\nBcc: e@f\nFrom: G <g@h>\n\n".utf8), endsAtDot: false)
    #expect(mail.recipients == ["a@b", "c@d", "e@f"])
    #expect(mail.author == "g@h")
    let resent = SubmittedMail(Array("To: a@b\nResent-To: z@y\n\n".utf8), endsAtDot: false)
    #expect(resent.recipients == ["z@y"])
  }
}
