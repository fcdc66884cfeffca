import ArgumentParser
import DurableFiles
import Foundation
import Messages
import Spooling

struct SendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Drop photos and a text into the spool, durably, and print the request's name.",
    discussion: """
      Works whether or not the daemon runs. Exit status 0 means that the request is on the disk.

      With --draft it is dropped into draft/ and its photos are prepared and uploaded at once, but nothing is published. \
      Until `mv draft/NAME new/NAME` sends it, files may be added and changed there. Removing the directory takes the \
      draft back, and another draft to the same conversation from the same inbox replaces it.
      """)

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long, help: ArgumentHelp("The conversation to send to.", valueName: "conversation"),
    completion: Completion.conversations)
  var to: String

  @Option(
    name: .long,
    help: ArgumentHelp("A photo; may be given up to 10 times; - reads one from standard input.", valueName: "file"),
    completion: .file())
  var photo: [String] = []

  @Option(name: .long, help: "The text; - reads it from standard input.")
  var text: String?

  @Option(
    name: .long, help: ArgumentHelp("The inbox to send as. (default: the configured one)", valueName: "inbox"))
  var from: String?

  @Option(
    name: .long,
    help: ArgumentHelp("An idempotency key: the same request with the same key is sent once.", valueName: "key"))
  var id: String?

  @Flag(name: .long, help: "Only upload the photos ahead; `mv draft/NAME new/NAME` in the spool is Send.")
  var draft = false

  @Flag(name: .long, help: "Wait, with progress on a terminal, until the request is sent.")
  var wait = false

  @Flag(name: .long, help: "Wait until the cluster's queue has the request; it then survives the loss of this host.")
  var relayed = false

  func run() async throws {
    if draft && relayed { throw ValidationError("--relayed waits until a request is in the queue; --draft sends none") }
    if draft && wait { throw ValidationError("--wait waits until a request is sent, and --draft sends nothing yet") }
    if (photo + [text ?? ""]).filter({ ["-", "/dev/stdin"].contains($0) }).count > 1 {
      throw ValidationError("standard input can be read once; give - to one --photo or to --text")
    }
    // The daemon and its group must be able to read the request, whatever the user's umask.
    umask(0o007)
    // Standard input is read to its end before anything can fail, so that its writer gets no SIGPIPE.
    let text = try text.map { $0 == "-" ? try readText() : $0 }
    let conversation = try RequestReader.conversation(to)
    let inbox = try from.map { try RequestReader.inbox($0) }
    let key = try id.map(IdempotencyKey.init(argument:))
    if let text, text.utf8.count > RequestLimits.textBytes {
      throw Refusal.tooLarge(file: "text", bytes: text.utf8.count, limit: RequestLimits.textBytes)
    }
    if photo.count > RequestLimits.photos { throw Refusal.tooManyPhotos(photo.count) }
    // Opened as the calling user; later root becomes the spool's owner.
    let photos = try photo.map { try File(photo: $0) }
    let path = try options.path()
    if photos.isEmpty && (text ?? "").allSatisfy(\.isWhitespace) {
      throw ValidationError("give at least one --photo or a --text that is not blank")
    }
    // A script that may not wait must not have sent.
    let followed = wait || relayed ? try options.openToFollow(complains: false) : nil
    let submission = Submission(to: conversation, from: inbox, key: key, text: text, photos: photos, isDraft: draft)
    let name = try submission.drop(into: path)
    print(name)
    // A reader of a pipe gets the name before the wait.
    fflush(nil)
    guard let followed else { return }
    try await Waiting(spool: followed, untilRelayed: relayed && !wait).wait(for: [name.text])
  }

  private func readText() throws -> String {
    let data = try FileHandle.standardInput.readToEnd() ?? Data()
    guard let text = String(validating: data, as: UTF8.self) else { throw Refusal.notUTF8("standard input") }
    return text
  }
}
