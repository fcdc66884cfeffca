/// The limits of a mail. A mail beyond one of these is refused with its name and both values, because no camera sends
/// one and a parser must end soon.
package enum MailLimits {
  package static let bytes = 40_000_000
  static let headerBytes = 65_536
  static let headerLines = 1_000
  static let lineBytes = 1 << 20
  static let depth = 20
  static let parts = 1_000
  static let recipients = 100
  static let images = 100
  static let boundaryBytes = 200
  /// Encoded words in a field, and pieces of a parameter.
  static let pieces = 100
  /// More were in a loop.
  static let received = 50
  /// Bytes of a field in the index; a longer one is cut.
  static let fieldBytes = 1_000
  /// Bytes of the subject or the body in the index; a longer one is cut.
  package static let textBytes = 65_536
  /// Kinds of other parts that the index names.
  static let others = 20
  /// An image of fewer bytes can be decoration of a page.
  static let decorationBytes = 5_000
  /// An upper bound for the size of an answer, in bytes.
  package static let answerBytes = 256 << 10
}

/// Why a mail is refused: one sentence with the reason and the remedy.
package struct MailRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of reason, for metrics.
  package enum Reason: String, Sendable, CaseIterable {
    /// No rule knows an address of the mail, or it names none.
    case address
    /// An automatic answer, a report, or a mail of photospool itself.
    case answer
    /// Nothing in it can be sent.
    case contents
    /// Not a file that an agent delivers.
    case file
    /// Beyond a limit.
    case limit
    /// The process that parses it died.
    case parser
  }

  package let reason: Reason
  package let description: String
  /// The addresses that the mail was for, as far as they were read: a purge finds it by them.
  package var recipients: [String] = []
  package var sender = ""

  package init(_ reason: Reason, _ sentence: String) { (self.reason, description) = (reason, sentence) }

  /// - Parameter what: the plural of what is counted.
  static func tooMuch(_ what: String, _ value: Int, limit: Int) -> MailRefusal {
    MailRefusal(
      .limit, "the mail has \(value) \(what); the limit is \(limit); let its sender send a simpler mail"
    )
  }
}
