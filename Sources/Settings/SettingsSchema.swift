/// Every setting there is. A key in a file, a variable's name, `config show` and the sample file come from here.
///
/// The sections that people name, `stores.NAME` and `networks.NAME`, have the rows that `SectionFamily` gives them.
///
/// `photo.longestSide` is written in the file as `longestSide` below `photo`, in the environment as
/// `PHOTOSPOOL_PHOTO_LONGEST_SIDE`. The defaults are the initial values of the properties of `Settings`.
public enum SettingsSchema {
  public static let settings: [Setting<Settings>] = own + SectionFamily.allCases.flatMap(\.standardRows)

  private static let own: [Setting<Settings>] = [
    Setting("spool.directory", \.spool.directory, .directory, "The directory that is the instance"),
    Setting(
      "spool.user", \.spool.user, .optional(.user),
      "The user that `run` changes to when root starts it; empty is the owner of the spool"),
    Setting("inbox", \.inbox, .identifier, "The inbox of a request that names none"),

    Setting("log.level", \.log.level, .word, "The least important lines that are logged"),
    Setting("log.format", \.log.format, .word, "How a line of the log is written"),

    Setting(
      "metrics.textfile", \.metrics.textfile, .optional(.textfile),
      "The file that the daemon writes its metrics to; empty is none"),
    Setting(
      "metrics.pause", \.metrics.pause, .duration(.seconds(1) ... .hours(1)),
      "How long the daemon rests between two reports of metrics and status"),

    Setting(
      "intake.rescan", \.intake.rescan, .duration(.milliseconds(100) ... .days(1)),
      "How often the whole of new/ is read, in case that a notice of the kernel was lost"),
    Setting(
      "intake.settle", \.intake.settle, .duration(.milliseconds(100) ... .hours(1)),
      "How long an entry that was built in new/ has to be left alone before it is taken"),

    Setting(
      "delivery.conversations", \.delivery.conversations, .count(1...4096),
      "How many conversations of each network and store are served at once"),
    Setting(
      "delivery.lookahead", \.delivery.lookahead, .count(1...64, of: "photos"),
      "How many photos of one conversation are prepared and uploaded ahead"),
    Setting("delivery.uploads", \.delivery.uploads, .count(1...256), "How many uploads to one store run at once"),
    Setting(
      "delivery.lifetime", \.delivery.lifetime, .duration(.seconds(1) ... .days(365)),
      "How long a request is tried before it fails"),
    Setting(
      "delivery.backoff.first", \.delivery.backoff.first, .duration(.milliseconds(1) ... .hours(1)),
      "The longest pause before the second attempt"),
    Setting(
      "delivery.backoff.longest", \.delivery.backoff.longest, .duration(.milliseconds(1) ... .days(1)),
      "The longest pause before any attempt"),
    Setting(
      "delivery.probe", \.delivery.probe, .duration(.milliseconds(100) ... .seconds(5)),
      "The longest time from one probe of a destination that does not work to the next"),
    Setting(
      "delivery.mending", \.delivery.mending, .duration(.seconds(1) ... .hours(1)),
      "The pause of a conversation after a destination refused it or the credentials"),

    Setting(
      "photo.longestSide", \.photo.longestSide, .count(1...2732, of: "pixels"),
      "The longer side of a photo that is sent, at most"),
    Setting("photo.bytes", \.photo.bytes, .bytes(10_000...999_999), "The size of a photo that is sent, at most"),
    Setting("photo.bestQuality", \.photo.bestQuality, .count(1...100), "The JPEG quality that is tried first"),
    Setting(
      "photo.worstQuality", \.photo.worstQuality, .count(1...100),
      "The JPEG quality below which a photo is made smaller instead"),
    Setting(
      "photo.inputBytes", \.photo.inputBytes, .bytes(1000...10_000_000), "The size of a photo as dropped, at most"),
    Setting(
      "photo.pixels", \.photo.pixels, .count(1...100_000_000, of: "pixels"),
      "Width times height of a photo as dropped, at most"),
    Setting(
      "photo.thumbnailSide", \.photo.thumbnailSide, .count(1...1024, of: "pixels"),
      "The longer side of the thumbnail in the cache"),
    Setting(
      "photo.threads", \.photo.threads, .count(0...1024), "How many photos are prepared at once; 0 is one per processor"
    ),
    Setting(
      "photo.memory", \.photo.memory, .bytes(64_000_000...16_000_000_000),
      "The memory that preparing one photo may take"),
    Setting(
      "photo.time", \.photo.time, .duration(.seconds(1) ... .hours(1)),
      "The processor time that preparing one photo may take"),

    Setting(
      "cache.inbox", \.cache.inbox, .bytes(0...1_000_000_000_000_000), "How much of the cache one inbox may have"),
    Setting("cache.total", \.cache.total, .bytes(0...1_000_000_000_000_000), "How much the cache may have in all"),
    Setting(
      "cache.remote", \.cache.remote, .duration(.seconds(1) ... .days(36_500)),
      "How long after its upload a photo counts as one that can be fetched again"),

    Setting(
      "janitor.tmp", \.janitor.tmp, .duration(.seconds(1) ... .days(3650)),
      "How long an entry of tmp/ may be left alone"),
    Setting(
      "janitor.drafts", \.janitor.drafts, .duration(.seconds(1) ... .days(3650)), "How long a draft may be left alone"),
    Setting(
      "janitor.receipts", \.janitor.receipts, .duration(.seconds(1) ... .days(3650)), "How long receipts are kept"),
    Setting(
      "janitor.failed", \.janitor.failed, .duration(.seconds(1) ... .days(3650)),
      "How long failed requests are kept, and what could not be received"),
    Setting(
      "janitor.announced", \.janitor.announced, .duration(.seconds(1) ... .days(3650)),
      "How long a photo that others announced can be fetched"),

    Setting(
      "receiving.fetch", \.receiving.fetch, .word,
      "Which photos of others are fetched before anybody asks for them"),
    Setting(
      "receiving.bytes", \.receiving.bytes, .bytes(1000...10_000_000), "The size of a photo that is received, at most"),
    Setting("receiving.downloads", \.receiving.downloads, .count(1...64), "How many photos are fetched at once"),
    Setting(
      "receiving.perHost", \.receiving.perHost, .count(1...64), "How many photos are fetched from one host at once"),
    Setting(
      "receiving.time", \.receiving.time, .duration(.seconds(1) ... .days(1)),
      "How long fetching a photo may take, each time"),
    Setting(
      "receiving.lifetime", \.receiving.lifetime, .duration(.seconds(1) ... .days(365)),
      "How long a photo that cannot be had is tried"),
    Setting(
      "receiving.allowPrivate", \.receiving.allowPrivate, .flag,
      "Whether photos may lie in private networks and behind plain http://"),

    Setting(
      "profile.network", \.profile.network, .optional(.name),
      "The network that profile photos are set on; empty is the standard one"),
    Setting(
      "profile.side", \.profile.side, .count(16...2048, of: "pixels"), "The side of a profile photo, at most"),
    Setting(
      "profile.bytes", \.profile.bytes, .bytes(10_000...999_999), "The size of a profile photo, at most"),

    Setting("hooks.sent", \.hooks.sent, .optional(.program), "The program that is told of each request that was sent"),
    Setting(
      "hooks.failed", \.hooks.failed, .optional(.program), "The program that is told of each request that failed"),
    Setting(
      "hooks.received", \.hooks.received, .optional(.program),
      "The program that is told of each photo that was received"
    ),
    Setting(
      "hooks.timeout", \.hooks.timeout, .duration(.seconds(1) ... .minutes(10)),
      "How long such a program may take for one event"),
    Setting(
      "hooks.perMinute", \.hooks.perMinute, .count(1...6000), "How often each such program may be started in a minute"),

    Setting("seal", \.seal, .word, "The encryption of the standard network's photos"),

    Setting(
      "http.authorityFile", \.http.authorityFile, .optional(.file),
      "The PEM file with the authorities that are believed; empty is the system's"),
    Setting("http.proxy", \.http.proxy, .optional(.proxy), "The proxy for stores and networks; empty is none"),
    Setting(
      "http.connect", \.http.connect, .duration(.milliseconds(100) ... .hours(1)),
      "How long a connection may take to be there"),
    Setting(
      "http.stall", \.http.stall, .duration(.seconds(1) ... .hours(1)),
      "How long a request may go without a byte in either direction"),
    Setting(
      "http.total", \.http.total, .optional(.duration(.seconds(1) ... .days(1))),
      "How long a request may take; empty is without end"),
  ]

  /// The setting of a dotted key.
  public static func setting(_ key: String) -> Setting<Settings>? { byKey[key] }

  private static let byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }

  /// What may stand below a section of the file: the names of settings and of further sections. "" is the file.
  static func names(below section: String) -> [String] {
    names(of: settings, below: section) + (section.isEmpty ? SectionFamily.allCases.map(\.rawValue) + ["routes"] : [])
  }

  static func names(of rows: [Setting<Settings>], below section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    var names = [String]()
    for setting in rows where setting.key.hasPrefix(prefix) {
      let name = String(setting.key.dropFirst(prefix.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}

extension Duration {
  static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
  static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
  static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
