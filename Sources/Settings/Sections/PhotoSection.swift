import Messages
import Photos
import SettingKit

extension Settings {
  package struct Photo: SettingsSection {
    package var limits = PhotoLimits()
    package var threads = 0
    package var memory = 768 << 20
    /// The elapsed time may be three times as long.
    package var time = Duration.seconds(10)

    package init() {}

    package static let rows: [Setting<Photo>] = [
      Setting(
        "longestSide", \.limits.longestSide, .count(1...2732, of: "pixels"),
        "The longer side of a photo that is sent, at most"),
      Setting("bytes", \.limits.outputBytes, .bytes(10_000...999_999), "The size of a photo that is sent, at most"),
      Setting("bestQuality", \.limits.bestQuality, .count(1...100), "The JPEG quality that is tried first"),
      Setting(
        "worstQuality", \.limits.worstQuality, .count(1...100),
        "The JPEG quality below which a photo is made smaller instead"),
      Setting(
        "inputBytes", \.limits.inputBytes, .bytes(1000...10_000_000), "The size of a photo as dropped, at most"),
      Setting(
        "pixels", \.limits.pixels, .count(1...100_000_000, of: "pixels"),
        "Width times height of a photo as dropped, at most"),
      Setting(
        "thumbnailSide", \.limits.thumbnailSide, .count(1...1024, of: "pixels"),
        "The longer side of the thumbnail in the cache"),
      Setting(
        "threads", \.threads, .count(0...1024), "How many photos are prepared at once; 0 is one per processor"),
      Setting(
        "memory", \.memory, .bytes(64_000_000...16_000_000_000), "The memory that preparing one photo may take"),
      Setting(
        "time", \.time, .duration(.seconds(1) ... .hours(1)), "The processor time that preparing one photo may take"),
    ]
  }
}
