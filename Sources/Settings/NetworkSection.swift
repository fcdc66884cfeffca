import Messages

extension Settings {
  /// `network`, or a section of `networks`, as it is written: the settings of every type side by side.
  struct Network: SettingsSection {
    var type = Kind.local
    var homeserver: String?
    var tokenFile: String?
    var tokenVariable: String?
    var url: String?
    var secretFile: String?
    var secretVariable: String?
    var allowPrivate = false
    var program: String?
    var timeout = Duration.seconds(60)
    var endpoint: String?
    var insecure = false
    var keyFile: String?
    var python: String?
    var listen = false
    var inbox: InboxID?

    enum Kind: String, CaseIterable, Sendable { case local, matrix, webhook, exec, xmtp }

    static let rows: [Setting<Network>] = [
      Setting("type", \.type, .word, "What publishes the messages"),
      Setting(
        "homeserver", \.homeserver, .optional(.webURL("https://matrix.example.org")), for: "matrix",
        help: "The URL of the Matrix homeserver"),
      Setting(
        "tokenFile", \.tokenFile, .optional(.file), for: "matrix",
        help: "The file with the access token of the Matrix account"),
      Setting(
        "tokenVariable", \.tokenVariable, .optional(.variable), for: "matrix",
        help: "The environment variable with the access token of the Matrix account"),
      Setting(
        "url", \.url, .optional(.webURL("https://hooks.example.org/photos")), for: "webhook",
        help: "The URL that messages are posted to"),
      Setting(
        "secretFile", \.secretFile, .optional(.file), for: "webhook",
        help: "The file with the whsec_ secret that signs; several are separated by blanks"),
      Setting(
        "secretVariable", \.secretVariable, .optional(.variable), for: "webhook",
        help: "The environment variable with the whsec_ secret that signs"),
      Setting(
        "allowPrivate", \.allowPrivate, .flag, for: "webhook",
        help: "Whether the URL may lead into a private network, and be plain http://"),
      Setting(
        "program", \.program, .optional(.program), for: "exec", "xmtp",
        help: "The program that publishes a message, or the XMTP co-process"),
      Setting(
        "timeout", \.timeout, .duration(.seconds(1) ... .hours(1)), for: "exec",
        help: "How long the program may take for a message"),
      Setting(
        "endpoint", \.endpoint, .optional(.hostAndPort), for: "xmtp", help: "Host and port of the XMTP node"),
      Setting(
        "insecure", \.insecure, .flag, for: "xmtp", help: "Whether the XMTP node is spoken to without TLS"),
      Setting(
        "keyFile", \.keyFile, .optional(.file), for: "xmtp", help: "The file with the private key of the XMTP account"),
      Setting(
        "python", \.python, .optional(.program), for: "xmtp",
        help: "The Python that runs the XMTP co-process; empty is the co-process's own choice"),
      Setting(
        "listen", \.listen, .flag, for: "matrix", "xmtp", help: "Whether photos that others send there are received"),
      Setting(
        "inbox", \.inbox, .optional(.identifier), for: "matrix", "xmtp",
        help: "The inbox that receives what is heard; empty is the standard one"),
    ]
  }

  /// A section of `networks`: a network with its own store and seal, where it has them.
  struct FurtherNetwork: SettingsSection {
    var network = Network()
    /// nil is the standard store.
    var store: String?
    /// nil is that of the standard network.
    var seal: Seal?

    static let rows: [Setting<FurtherNetwork>] =
      Network.rows.map { $0.below("", \FurtherNetwork.network) } + [
        Setting("store", \.store, .optional(.name), "The store of its photos; empty is the standard one"),
        Setting("seal", \.seal, .optional(.word), "The encryption of its photos; empty is the standard one"),
      ]
  }
}
