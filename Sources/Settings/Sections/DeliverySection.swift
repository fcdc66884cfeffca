import Messages
import SettingKit

extension Settings {
  package struct Delivery: SettingsSection {
    package var conversations = 256
    package var lookahead = 4
    /// One conversation has at most half of them.
    package var uploads = 8
    package var lifetime = Duration.days(5)
    package var backoff = RetryPolicy()
    package var probe = Duration.seconds(5)
    package var mending = Duration.minutes(5)

    package init() {}

    package static let rows: [Setting<Delivery>] = [
      Setting(
        "conversations", \.conversations, .count(1...4096),
        "How many conversations of each network and store are served at once"),
      Setting(
        "lookahead", \.lookahead, .count(1...64, of: "photos"),
        "How many photos of one conversation are prepared and uploaded ahead"),
      Setting("uploads", \.uploads, .count(1...256), "How many uploads to one store run at once"),
      Setting(
        "lifetime", \.lifetime, .duration(.seconds(1) ... .days(365)), "How long a request is tried before it fails"),
      Setting(
        "backoff.first", \.backoff.first, .duration(.milliseconds(1) ... .hours(1)),
        "The longest pause before the second attempt"),
      Setting(
        "backoff.longest", \.backoff.longest, .duration(.milliseconds(1) ... .days(1)),
        "The longest pause before any attempt"),
      Setting(
        "probe", \.probe, .duration(.milliseconds(100) ... .seconds(5)),
        "The longest time from one probe of a destination that does not work to the next"),
      Setting(
        "mending", \.mending, .duration(.seconds(1) ... .hours(1)),
        "The pause of a conversation after a destination refused it or the credentials"),
    ]
  }
}
