import MailParsing
import Photos
import Testing

@Suite struct MailParserTests {
  private let charsets = Charsets()

  private func index(_ text: String, limit: Int = MailLimits.bytes) throws(MailRefusal) -> MailIndex {
    try MailParser.index(of: Array(text.utf8), charsets: charsets, limit: limit)
  }

  private func refusal(_ text: String) -> String {
    do {
      _ = try index(text)
      return "taken"
    } catch { return "\(error)" }
  }

  private static let jpeg = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkI\n"

  private func mail(fields: String = "", type: String = "multipart/mixed", _ parts: String...) -> String {
    "From: a@b\nTo: family@photos.home\n\(fields)Content-Type: \(type); boundary=x\n\n"
      + parts.map { "--x\n\($0)\n" }.joined() + "--x--\n"
  }

  private static let photo = "Content-Type: image/jpeg\nContent-Transfer-Encoding: base64\n\n\(jpeg)"

  // MARK: Recipients

  @Test("The delivery agent's field on top of the file tells the recipient") func agentsField() throws {
    let text = "Return-Path: <a@b>\nX-Original-To: door@photos\nDelivered-To: photospool@photos\nReceived: by mx\n"
    #expect(try index(text + "To: family@photos\n\nHi").recipients == ["door@photos"])
  }

  @Test("The first line of a mailbox file, which some agents write, is passed over") func separator() throws {
    let found = try index("From a@b Fri Nov 27 12:00:00 2026\nTo: family@photos\nSubject: Door\n\nHi")
    #expect(found.recipients == ["family@photos"] && found.subject == "Door" && found.body == "Hi")
    #expect(try index("From : a@b\nTo: family@photos\n\nHi").sender == "a@b")
  }

  @Test("A recipient's field of the sender does not count") func sendersField() throws {
    let text = "Received: by mx\nDelivered-To: secret@photos\nTo: family@photos, Cam <cam@photos>\nCc: x@y\n\nHi"
    #expect(try index(text).recipients == ["family@photos", "cam@photos", "x@y"])
    #expect(try index("Delivered-To: secret@photos\nTo: family@photos\n\nHi").recipients == ["family@photos"])
  }

  @Test(
    "Addresses are read from names, comments, groups and routes",
    arguments: [
      ("\"Doe, John\" <j@d>, plain@x (a, b)", ["j@d", "plain@x"]), ("Group: a@b, <c@d>;", ["a@b", "c@d"]),
      ("<@r1,@r2:u@h>", ["u@h"]), ("root", ["root"]), (", ,", []),
    ])
  func addresses(_ field: String, _ expected: [String]) throws {
    #expect(try index("To: \(field)\n\nHi").recipients == expected)
  }

  // MARK: Text

  @Test("A page becomes text only if there is no other text") func alternative() throws {
    let page = "Content-Type: text/html\n\n<p>Page</p>"
    #expect(try index(mail(type: "multipart/alternative", "\nPlain", page)).body == "Plain")
    #expect(try index(mail(type: "multipart/alternative", "\n  ", page)).body == "Page")
  }

  @Test("A page stays when a mailing list adds its text") func footer() throws {
    let page = "Content-Type: text/html\n\n<p>Page</p>"
    let footer = "\nPhotos of the family"
    #expect(try index(mail(page, footer)).body == "Page\n\nPhotos of the family")
    let alternative = ["\n  ", page].map { "--y\n\($0)\n" }.joined() + "--y--"
    let within = "Content-Type: multipart/alternative; boundary=y\n\n\(alternative)"
    #expect(try index(mail(within, footer)).body == "Page\n\nPhotos of the family")
    #expect(try index(mail(footer, within.replacing("  ", with: "Plain"))).body == "Photos of the family\n\nPlain")
  }

  @Test("Lines that flow are one, with their quotations and without stuffed blanks") func flowed() throws {
    func body(_ parameters: String, _ text: String) throws -> String {
      try index("Content-Type: text/plain; format=flowed\(parameters)\n\n\(text)").body
    }
    #expect(
      try body("", "A long \nline,\nand one.\n\n From me \nto you\n-- \nsigned")
        == "A long line,\nand one.\n\nFrom me to you")
    #expect(try body("; delsp=yes", "写 \n真") == "写真")
    #expect(try body("", "> quoted \n> here\n>> deeper \nmine") == "> quoted here\n>> deeper \nmine")
    #expect(try index("\nA short \nline").body == "A short \nline")
  }

  @Test("An encoding is known also with a comment or a semicolon behind it", arguments: ["base64;", "base64 (MIME)"])
  func encoding(_ field: String) throws {
    let part = Self.photo.replacing("Encoding: base64", with: "Encoding: \(field)")
    #expect(try index(mail(part)).images.map(\.encoding) == [.base64])
  }

  @Test("The end of a page's head may be left out") func head() throws {
    let page = "<html><head><title>T</title><meta charset=utf-8><body>Motion</body></html>"
    #expect(try index("Content-Type: text/html\n\n\(page)").body == "Motion")
  }

  @Test("A page loses tags, scripts and entities") func page() throws {
    let page =
      "<html><head><title>T</title></head><style>p{}</style><p>Tom &amp;   Jerry<br>&#8364; 5 &nope;</p></html>"
    #expect(try index("Content-Type: text/html\n\n\(page)").body == "Tom & Jerry\n€ 5 &nope;")
  }

  @Test("Texts are joined by a blank line, without signature and controls") func texts() throws {
    let text = try index(mail("\nOne\u{1B}[2J\n-- \nsignature", "\nTwo")).body
    #expect(text == "One[2J\n\nTwo")
  }

  @Test(
    "Each charset is read, also in subjects",
    arguments: [
      ("gb2312", "移动侦测", [0xD2, 0xC6, 0xB6, 0xAF, 0xD5, 0xEC, 0xB2, 0xE2]),
      ("shift_jis", "写真", [0x8E, 0xCA, 0x90, 0x5E]),
      ("iso-8859-15", "5 €", [0x35, 0x20, 0xA4]), ("windows-1251", "Дверь", [0xC4, 0xE2, 0xE5, 0xF0, 0xFC]),
      ("euc-kr", "문", [0xB9, 0xAE]), ("koi8-r", "дом", [0xC4, 0xCF, 0xCD]), ("big5", "門", [0xAA, 0xF9]),
      ("iso-2022-jp", "写", [0x1B, 0x24, 0x42, 0x3C, 0x4C, 0x1B, 0x28, 0x42]), ("x-unknown", "é", [0xE9]),
      ("us-ascii", "é", [0xC3, 0xA9]),
    ] as [(String, String, [UInt8])])
  func charset(_ name: String, _ text: String, _ bytes: [UInt8]) throws {
    let word = bytes.map { "=" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    let head = "Subject: =?\(name)?Q?\(word)?=\nContent-Type: text/plain; charset=\"\(name)\"\n\n"
    let index = try MailParser.index(of: Array(head.utf8) + bytes, charsets: charsets, limit: MailLimits.bytes)
    #expect(index.subject == text)
    #expect(index.body == text)
  }

  @Test("Characters split between encoded words are one") func splitWords() throws {
    #expect(try index("Subject: =?utf-8?Q?=E2=82?= \n =?utf-8?Q?=AC?= =?utf-8?Q?_5?= now\n\n").subject == "€ 5 now")
  }

  // MARK: Images

  @Test("A photo in uuencode leaves the text") func uuencode() throws {
    let text = try index("Content-Type: text/plain\n\nBefore\nbegin 644 a.jpg\n#_]C_\n`\nend\nAfter\n")
    #expect(text.body == "Before\nAfter")
    #expect(text.images.map(\.format) == [.jpeg])
  }

  @Test("A small image of a page is decoration, and an attached one is a photo") func decoration() throws {
    let page = "Content-Type: text/html\n\nHi"
    let logo = "Content-ID: <logo>\nContent-Disposition: inline\n" + Self.photo
    #expect(try index(mail(type: "multipart/related", page, logo)).images.isEmpty)
    #expect(try index(mail(type: "multipart/related", page, Self.photo)).images.count == 1)
    #expect(try index(mail(logo)).images.count == 1)
  }

  @Test("Other parts are named") func others() throws {
    let found = try index(mail("\nHi", "Content-Type: video/mp4\n\nx", "Content-Type: application/ms-tnef\n\nx"))
    #expect(found.others == ["video/mp4", "application/ms-tnef"])
  }

  @Test("Of a signed mail the first part counts") func signed() throws {
    let found = try index(mail(type: "multipart/signed", Self.photo, "Content-Type: image/jpeg\n\n\u{0}"))
    #expect(found.images.count == 1)
    #expect(found.others.isEmpty)
  }

  // MARK: Refusals

  @Test(
    "Answers of machines and sealed mails are refused",
    arguments: [
      ("Content-Type: multipart/report; boundary=x", "report"), ("Auto-Submitted: auto-replied", "automatic answer"),
      ("X-Autoreply: yes", "automatic answer"), ("Precedence: auto_reply", "automatic answer"),
      ("X-Loop: photospool", "X-Loop"), ("Content-Type: multipart/encrypted; boundary=x", "encrypted"),
      ("Content-Type: application/pkcs7-mime", "encrypted"), ("Content-Type: message/partial", "own contents"),
    ])
  func refused(_ field: String, _ word: String) {
    #expect(refusal("From: a@b\nTo: c@d\n\(field)\n\nHi").contains(word))
  }

  @Test(
    "Mails of programs and lists are taken",
    arguments: ["Auto-Submitted: auto-generated", "Precedence: bulk", "List-Id: <x>", "Return-Path: <>"])
  func taken(_ field: String) throws { #expect(try index("\(field)\n\nHi").body == "Hi") }

  @Test("A mail beyond a limit is refused with both values") func limits() {
    let deep = (0..<20_000).map { "Content-Type: multipart/mixed; boundary=b\($0)\n\n--b\($0)\n" }.joined()
    #expect(refusal(deep).contains("21 levels of parts; the limit is 20"))
    #expect(refusal(String(repeating: "Content-Type: message/rfc822\n\n", count: 20_000)).contains("limit is 20"))
    #expect(refusal(mail(String(repeating: "--x\n\n", count: 100_000))).contains("parts or more; the limit is 1000"))
    #expect(refusal(String(repeating: "A: b\n", count: 100_000)).contains("lines of header; the limit is 1000"))
    #expect(refusal("To: " + String(repeating: ":", count: 99_999)).contains("the limit is 65536"))
    #expect(refusal(String(repeating: "Received: a\n", count: 51) + "\n").contains("51 fields Received"))
    #expect(refusal("\n" + String(repeating: "a", count: 2 << 20)).contains("bytes in a line"))
    let boundary = String(repeating: "b", count: 201)
    #expect(refusal("Content-Type: multipart/mixed; boundary=\(boundary)\n\n").contains("201 bytes of boundary"))
    let words = String(repeating: "=?utf-8?Q?a?= ", count: 101)
    #expect(refusal("Subject: \(words)\n\n").contains("101 encoded words"))
    #expect(throws: MailRefusal.self) { try index("\nHi", limit: 2) }
  }

  // MARK: Answers

  @Test("An answer is read as it was written, and one beyond the file is refused") func answers() throws {
    let text = mail(fields: "Subject: Door\n", "\nHi", Self.photo, "Content-Type: video/mp4\n\nx")
    let index = try index(text)
    let answer = MailAnswer(.success(index)).encoded
    #expect(try MailAnswer(encoded: answer, size: text.utf8.count)?.result.get() == index)
    #expect(MailAnswer(encoded: answer, size: 50) == nil)
    #expect(MailAnswer(encoded: Array(answer.dropLast()), size: text.utf8.count) == nil)
    #expect(MailAnswer(encoded: answer + [0], size: text.utf8.count) == nil)
  }
}
