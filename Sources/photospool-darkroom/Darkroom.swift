import CSandbox
import Glibc
import Imaging
import MailParsing
import Messages
import Photos

/// The process that decodes photos or parses mails. photospool starts it.
///
///     photospool-darkroom serve BYTES   prepares the photos from descriptor 3, until it is closed;
///                                       may map BYTES of memory for it
///     photospool-darkroom mail BYTES    parses the mails from descriptor 3, until it is closed; may map BYTES for it
///     photospool-darkroom probe         tests the sandbox and prints the results
///     photospool-darkroom --version     prints the decoding libraries
///
/// It reads photos or mails from the descriptors that it gets, and writes answers. It trusts the other end of its socket, and no
/// byte of a photo or mail. It ends when the socket closes, and is killed when one takes too long.
@main
struct Darkroom {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.dropFirst().first.flatMap { UInt64($0) }) {
    case ("serve", let memory?):
      let parent = Socket(descriptor: 3)
      Preparer.loadLibraries()
      guard enterSandbox(memory: memory) != nil else { exit(71) }
      parent.serve {
        parent.receive().map { limits, photo in
          let result = Result { () throws(DeliveryError) in try Preparer().prepare(photo, limits: limits) }
          return DarkroomAnswer(result).encoded
        }
      }
    case ("mail", let memory?):
      // The sandbox lets no converter be opened.
      let charsets = Charsets()
      guard enterSandbox(memory: memory) != nil else { exit(71) }
      let parent = Socket(descriptor: 3)
      parent.serve {
        parent.receiveMail().map { limit, mail in
          let result = Result { () throws(MailRefusal) in
            try MailParser.index(of: mail, charsets: charsets, limit: limit)
          }
          return MailAnswer(result).encoded
        }
      }
    case ("probe", nil):
      exit(probe() ? 0 : 1)
    case ("--version", nil):
      print(Preparer.libraries)
    default:
      complain("photospool-darkroom is started by photospool; see photospool-darkroom(8)")
      exit(64)
    }
  }

  /// Enters the sandbox. Returns Landlock's version, or 0 without it; nil if the kernel refuses: decode nothing then.
  private static func enterSandbox(memory: UInt64) -> Int32? {
    let landlock = csandbox_enter(memory)
    if landlock >= 0 { return landlock }
    complain("photospool-darkroom cannot be locked in: \(String(cString: strerror(errno)))")
    return nil
  }

  /// Tries what a compromised process would try. Returns whether all of it was denied.
  private static func probe() -> Bool {
    let parent = getppid()
    // As for mails, whose converters of charsets are opened before.
    let charsets = Charsets()
    defer { withExtendedLifetime(charsets) {} }
    guard let landlock = enterSandbox(memory: 256 << 20) else { return false }
    var attempts = [csandbox_attempt](repeating: csandbox_attempt(), count: 32)
    let count = csandbox_probe(parent, &attempts, attempts.count)
    print("landlock: \(landlock > 0 ? "version \(landlock)" : "not in this kernel")")
    for attempt in attempts.prefix(count) {
      let answer = attempt.error == 0 ? "ALLOWED" : "denied (\(String(cString: strerror(attempt.error))))"
      print("\(String(cString: attempt.name)): \(answer)")
    }
    return attempts.prefix(count).allSatisfy { $0.error != 0 }
  }

  private static func complain(_ sentence: String) {
    let line = Array("\(sentence)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
