/// The reply subject of a message that a consumer delivered:
/// `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERED.POSITION.NUMBER.TIME.PENDING[.MORE]`.
struct DeliveryMark: Equatable {
  /// Up to and including the consumer's name, with a dot at its end.
  let prefix: String
  let stream: String
  let consumer: String
  /// How often it was delivered, with this time.
  let delivered: UInt64
  /// The place in the stream.
  let position: UInt64
  /// Grows by one for each message that the consumer delivers.
  let number: UInt64

  /// nil for anything else.
  init?(_ reply: String?) {
    guard let reply, reply.hasPrefix("$JS.ACK."), reply.utf8.count <= 512 else { return nil }
    let tokens = reply.split(separator: ".", omittingEmptySubsequences: false)
    let first = tokens.count == 9 ? 2 : 4
    guard tokens.count == 9 || (11...12).contains(tokens.count),
      let delivered = UInt64(tokens[first + 2]), let position = UInt64(tokens[first + 3]),
      let number = UInt64(tokens[first + 4]), position > 0, number > 0
    else { return nil }
    prefix = tokens[...(first + 1)].joined(separator: ".") + "."
    stream = String(tokens[first])
    consumer = String(tokens[first + 1])
    self.delivered = delivered
    self.position = position
    self.number = number
  }
}
