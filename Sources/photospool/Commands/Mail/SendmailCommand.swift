import ArgumentParser
import Composition
import DurableFiles
import Foundation
import MailIntake
import MailParsing
import Messages
import Settings

/// `photospool sendmail`, also under the name `sendmail`. Its arguments are not ours, so `main` passes them on unread.
struct SendmailCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sendmail",
    abstract: "Take a mail from standard input, as sendmail(1), for the rules of mail.accept.",
    usage: "photospool sendmail [-t] [-i] [-f sender] [-F name] [--] [recipient ...]",
    discussion: """
      -t adds the recipients of To, Cc and Bcc. -i keeps lines with only a dot. -f names the sender, -F the full name for \
      a missing From. -bp shows the queue. Other options of sendmail(1) are accepted and do nothing; -bs and -bd are \
      refused. Exit status 0 means that the mail is on the disk, whether or not the daemon runs; 75 that it can be given \
      again later.
      """)

  @OptionGroup var options: SpoolOptions

  @Argument(parsing: .captureForPassthrough, help: .hidden)
  var arguments: [String] = []

  func run() throws { try Self.run(options, arguments) }

  /// The options before the word `sendmail`, and the arguments after it; nil for another command. A program that is
  /// called `sendmail` has only arguments.
  static func call(_ words: [String]) -> (options: [String], arguments: [String])? {
    if words.first?.split(separator: "/").last == "sendmail" { return ([], Array(words.dropFirst())) }
    var rest = words.dropFirst()
    var options = [String]()
    while let word = rest.first, word.hasPrefix("--spool") || word.hasPrefix("--config") {
      let count = word.contains("=") ? 1 : 2
      options += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    guard rest.first == configuration.commandName else { return nil }
    let arguments = Array(rest.dropFirst())
    return arguments == ["--help"] ? nil : (options, arguments)
  }

  static func run(_ options: SpoolOptions, _ arguments: [String]) throws {
    let call: SendmailArguments
    do { call = try SendmailArguments(arguments) } catch { throw Failure(.usage, "\(error)") }
    switch call.mode {
    case .nothing: return
    case .showQueue:
      var words: [UnsafeMutablePointer<CChar>?] = [strdup("photospool"), strdup("queue"), nil]
      execv("/proc/self/exe", &words)
      throw Failure(.inputOutput, "photospool queue cannot be started")
    case .deliver: try deliver(call, options)
    }
  }

  private static func deliver(_ call: SendmailArguments, _ options: SpoolOptions) throws {
    // Read to its end before anything can fail, so that the caller gets no SIGPIPE.
    let input = try File(readingStream: "-", limit: MailLimits.bytes)
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
    guard let bytes = try input.contents(limit: MailLimits.bytes) else {
      throw Failure(.badData, "the mail has more than \(MailLimits.bytes) bytes; send smaller photos")
    }
    let mail = SubmittedMail(bytes, endsAtDot: call.endsAtDot)
    let host = ProcessInfo.processInfo.hostName
    let sender = call.sender ?? "\(user)@\(host)"
    let read = call.readsRecipients ? mail.recipients : []
    // Without a readable configuration, the mail room judges the addresses.
    let settings: Settings?
    do { settings = try options.settings() } catch { settings = nil }
    if let settings, settings.mailRules.isEmpty {
      throw Failure(.configuration, "no mail is taken here; write a rule into mail.accept of the configuration")
    }
    let author = mail.author ?? sender
    func isKnown(_ address: String) -> Bool { settings?.mailRule(for: address, from: author) != nil || settings == nil }
    // Addresses in the header may be of others; those in the arguments are meant.
    let recipients = unique(call.recipients + read.filter(isKnown))
    if let address = call.recipients.first(where: { !isKnown($0) }) ?? (recipients.isEmpty ? read.first : nil) {
      throw Failure(.noUser, "no rule of mail.accept knows \(escaped(address)); add one, or correct the address")
    }
    if recipients.isEmpty {
      throw call.readsRecipients
        ? Failure(.badData, "the mail names no recipient in To, Cc or Bcc")
        : Failure(.usage, "name a recipient, or give -t to take those of the mail")
    }
    let token = token()
    let date = date()
    let path = try settings?.spool.directory ?? options.path(complains: false)
    do {
      let mails = recipients.map {
        mail.file(for: $0, from: sender, fullName: call.fullName, host: host, date: date, token: token)
      }
      try MailDelivery.deliver(mails, into: path, token: token)
    } catch let error as MailDelivery.NoMailbox {
      throw Failure(.tryAgain, "\(error)")
    } catch let error as FileError where error.isForbidden {
      throw Failure(.noPermission, "\(error); whoever mails has to be in the spool's group: add \(user) to it")
    } catch let error as FileError where error.code == EROFS {
      throw Failure(.tryAgain, "\(error)")
    }
  }

  private static func unique(_ addresses: [String]) -> [String] {
    var seen = Set<String>()
    return addresses.filter { seen.insert($0.lowercased()).inserted }
  }

  /// Part of the files' names and of a `Message-ID`.
  private static func token() -> String {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 36)
    return "\(Timestamp.now().milliseconds).P\(getpid())R\(digits)"
  }

  /// Now, as in `Date`.
  private static func date() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 64)
    // In English, as no locale is ever set.
    let count = strftime(&text, text.count, "%a, %-d %b %Y %H:%M:%S +0000", &parts)
    return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
