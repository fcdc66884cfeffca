import NATS
import Testing

@Suite struct NATSAddressTests {
  @Test(arguments: [
    ("nats://q1", "nats://q1:4222"), ("tls://q1.example.org:4443", "tls://q1.example.org:4443"),
    ("nats://[::1]:7", "nats://[::1]:7"), ("nats://10.0.0.1:65535", "nats://10.0.0.1:65535"),
  ])
  func anAddressHasASchemeAHostAndPerhapsAPort(text: String, read: String) {
    #expect(NATSAddress(text)?.description == read)
  }

  @Test(arguments: [
    "", "q1", "http://q1", "nats://", "nats://q1:", "nats://q1:0", "nats://q1:65536", "nats://q1:+7", "nats://user@q1",
    "nats://q1/x", "nats://q1,nats://q2", "nats://[::1", "nats://[]:7", "nats://q1:7:8", "nats://ä",
  ])
  func anythingElseIsNoAddress(text: String) { #expect(NATSAddress(text) == nil) }
}
