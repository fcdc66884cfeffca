import SettingKit

extension Settings {
  /// The handling of mails. Without a rule in `mailRules` none is taken.
  package struct Mail: SettingsSection {
    package var bytes = 40_000_000
    package var text = SentText.both
    package var withoutPhoto = WithoutPhoto.send
    /// 0 means any number.
    package var perHour = 0

    /// The part of a mail that becomes the text.
    package enum SentText: String, CaseIterable, Sendable {
      case both, subject, body, none
    }

    /// The handling of a mail without a photo.
    package enum WithoutPhoto: String, CaseIterable, Sendable {
      case send, drop
    }

    package init() {}

    package static let rows: [Setting<Mail>] = [
      Setting("bytes", \.bytes, .bytes(10_000...40_000_000), "How large a mail may be"),
      Setting("text", \.text, .word, "Which parts of a mail become the text of its request"),
      Setting("withoutPhoto", \.withoutPhoto, .word, "What becomes of a mail without a photo"),
      Setting("perHour", \.perHour, .count(0...1_000_000), "How many mails a rule takes in an hour; 0 means all"),
    ]
  }
}
