import ArgumentParser
import Composition
import Messages
import WebAccess

struct WebSessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "Print the links and sessions of the page, or end some.",
    discussion: "One line each: its id, kind, last use or making, rights, inbox, user, end and name.")

  @OptionGroup var options: SpoolOptions

  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp("End these sessions, or withdraw these links.", valueName: "id"))
  var end: [String] = []

  @Flag(name: .long, help: "Print one JSON object a line.")
  var json = false

  func run() throws {
    let access = try AccessStore(try options.openSpool())
    if !end.isEmpty {
      let unknown = try end.filter { try !access.end($0) }
      if let first = unknown.first {
        throw Failure(.noInput, "there is no link or session '\(escaped(first))'; `photospool web sessions` lists them")
      }
      return
    }
    for entry in try access.entries(at: .now()) { try print(entry) }
  }

  private func print(_ entry: AccessEntry) throws {
    let grant = entry.grant
    if json {
      return try printJSON(
        Line(
          id: entry.id, kind: entry.isLink ? "link" : "session", name: grant.name,
          rights: WebRight.allCases.filter(grant.rights.contains).map(\.rawValue), inbox: grant.inbox,
          user: entry.user, time: entry.time.description, end: grant.expires.description,
          hasPassword: entry.hasPassword))
    }
    let kind = entry.isLink ? "link, made" : "session, used"
    let user = entry.user.map { "user \($0)" } ?? (entry.isLink ? "anybody" : "another computer")
    Swift.print(
      """
      \(entry.id)  \(kind) \(Terminal.age(since: entry.time)) ago, may \(grant.rightsInWords)\
      \(grant.inbox.map { " as \(escaped($0))" } ?? ""), \(user)\(entry.hasPassword ? ", with password" : ""), \
      until \(grant.expires.description.prefix(10))  \(escaped(grant.name))
      """)
  }

  /// The output of `--json`. Keys are never renamed once released.
  private struct Line: Encodable {
    let id: String
    let kind: String
    let name: String
    let rights: [String]
    let inbox: String?
    let user: UInt32?
    /// When it was made or last used.
    let time: String
    let end: String
    let hasPassword: Bool
  }
}
