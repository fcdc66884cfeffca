import Testing

@testable import NATS

@Suite struct GreetingTests {
  @Test(arguments: [
    ("2.12.3", true), ("2.12.10", true), ("2.13.0-RC.1", true), ("3.0", true), ("2.12.2", false), ("2.9.10", false),
    ("1.99.99", false), ("", false), ("new", false), ("2.12", false),
  ])
  func versionsThatLostMessagesAreTooOld(version: String, isNewEnough: Bool) throws {
    let greeting = try #require(Greeting(line: Array(#"INFO {"version":"\#(version)","jetstream":true}"#.utf8)))
    #expect(greeting.isNewEnough == isNewEnough)
  }

  @Test(arguments: ["", "INFO", "INFO {", "HTTP/1.1 400 Bad Request", "INFO {\"version\":7}", "+OK"])
  func anythingElseIsNoGreeting(line: String) { #expect(Greeting(line: Array(line.utf8)) == nil) }
}

@Suite struct DeliveryMarkTests {
  @Test func aDeliveryIsReadWithAndWithoutAccount() {
    let short = DeliveryMark("$JS.ACK.PS_Q01.o-1-a.2.30.4.1795804034011735705.7")
    #expect(short?.stream == "PS_Q01" && short?.consumer == "o-1-a" && short?.prefix == "$JS.ACK.PS_Q01.o-1-a.")
    #expect(short?.delivered == 2 && short?.position == 30 && short?.number == 4)
    let long = DeliveryMark("$JS.ACK.hub.ACCOUNT.PS_Q01.o-1-a.2.30.4.1.7.random")
    #expect(long?.prefix == "$JS.ACK.hub.ACCOUNT.PS_Q01.o-1-a." && long?.number == 4)
  }

  @Test(arguments: [
    nil, "", "$JS.ACK.", "$JS.ACK.S.C.1.2.3", "$JS.ACK.S.C.1.0.3.4.5", "$JS.ACK.S.C.1.-2.3.4.5",
    "$JS.ACK.S.C.1.2.x.4.5",
    "_INBOX.S.C.1.2.3.4.5", "$JS.ACK.S.C.1.18446744073709551616.3.4.5",
  ])
  func anythingElseIsNoDelivery(reply: String?) { #expect(DeliveryMark(reply) == nil) }
}
