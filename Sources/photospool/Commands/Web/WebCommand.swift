import ArgumentParser

struct WebCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web", abstract: "Show conversations and photos as a web page, and send from it.",
    subcommands: [WebServeCommand.self, WebLinkCommand.self, WebSessionsCommand.self, WebPasswordCommand.self],
    defaultSubcommand: WebServeCommand.self)
}
