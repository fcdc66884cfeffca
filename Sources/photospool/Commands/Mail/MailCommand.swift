import ArgumentParser
import Composition
import Darkroom
import DurableFiles
import MailIntake
import MailParsing
import Messages

struct MailCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mail", abstract: "Explain what becomes of a mail.",
    discussion: "Sends nothing. Exit status 65 if the mail would be refused.")

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long, help: ArgumentHelp("The mail; - reads it from standard input.", valueName: "file"),
    completion: .file())
  var explain: String

  func run() throws {
    // Opened as the calling user.
    let file =
      explain == "-"
      ? try File(readingStream: "-", limit: MailLimits.bytes) : try File(reading: explain)
    let settings = try options.settings()
    let index: MailIndex
    let requests: MailRequests
    let reader = MailReader(program: DarkroomProgram.path)
    defer { reader.close() }
    do {
      index = try reader.index(of: file, limit: settings.mail.bytes)
      show(index)
      requests = try MailRequests(index, called: file.name ?? "stdin", settings)
      for goal in requests.goals {
        let inbox = goal.inbox.map { ", as the inbox \(escaped($0.text))" } ?? ""
        let fate = requests.goalsToSend.contains(goal) ? "" : ": dropped, as it has no photo"
        print("to the conversation \(escaped(goal.conversation.text))\(inbox)\(fate)")
      }
      for key in try requests.keys(from: file) { print("id: \(key)") }
    } catch let refusal as MailRefusal {
      throw Failure(.badData, "refused: \(refusal)")
    }
    if let text = requests.text {
      print("text:\n\(text.split(separator: "\n").map { "  \(escaped(String($0)))" }.joined(separator: "\n"))")
    }
  }

  private func show(_ index: MailIndex) {
    print("Message-ID: \(index.messageID.isEmpty ? "none; the file's name stands in" : escaped(index.messageID))")
    print("from: \(escaped(index.sender))")
    print("recipients: \(index.recipients.map { escaped($0) }.joined(separator: ", "))")
    for (number, image) in index.images.enumerated() {
      print(
        "photo \(number + 1): \(image.format.nameWithArticle), \(image.range.count) bytes in \(image.encoding.rawValue)"
      )
    }
    if !index.others.isEmpty { print("left out: \(index.others.map { escaped($0) }.joined(separator: ", "))") }
  }
}
