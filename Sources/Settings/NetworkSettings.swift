import Messages
import Secrets

/// What publishes messages, with all that its type needs and nothing else.
public struct NetworkSettings: Sendable, Equatable {
  /// Unique: the standard network's is the word of its type.
  public let name: String
  /// The name of the store that keeps its photos: one of `Settings.stores`.
  public let store: String
  /// The encryption of its photos.
  public let seal: Settings.Seal
  public let kind: Kind
  /// Whether others are listened to there; nil is not.
  public internal(set) var listening: Listening?

  public struct Listening: Sendable, Equatable {
    /// The inbox that receives what is heard.
    public let inbox: InboxID
  }

  /// The same, for sending alone.
  public var withoutListening: NetworkSettings {
    var settings = self
    settings.listening = nil
    return settings
  }

  public enum Kind: Sendable, Equatable {
    /// A file per conversation in the spool.
    case local
    case matrix(Matrix)
    case webhook(Webhook)
    case exec(Exec)
    case xmtp(XMTP)
  }

  public struct Matrix: Sendable, Equatable {
    /// The URL of the homeserver, without a slash at its end.
    public let homeserver: String
    public let token: SecretSource
  }

  public struct Webhook: Sendable, Equatable {
    /// `https://`, or `http://` to this computer or where private addresses are allowed.
    public let url: String
    /// One `whsec_` secret, or several separated by blanks.
    public let secret: SecretSource
    /// Whether the URL may lead to an address of a private network.
    public let allowsPrivate: Bool
  }

  public struct Exec: Sendable, Equatable {
    /// An absolute path.
    public let program: String
    public let timeout: Duration
  }

  public struct XMTP: Sendable, Equatable {
    /// `HOST:PORT`.
    public let endpoint: String
    public let isInsecure: Bool
    /// The file with the account's private key. The co-process reads it, not we.
    public let keyFile: String
    /// The absolute path of the co-process; nil is the one beside photospool.
    public let program: String?
    /// The absolute path of the Python that runs it; nil is its own choice.
    public let python: String?
  }

  /// Where its secrets are, but for those that only its co-process reads.
  public var secrets: [SecretSource] {
    switch kind {
    case .local, .exec, .xmtp: []
    case .matrix(let matrix): [matrix.token]
    case .webhook(let webhook): [webhook.secret]
    }
  }

  /// Whether messages, tokens and signatures go unencrypted, so that others on the way can read along.
  public var isPlainHTTP: Bool {
    switch kind {
    case .local, .exec: false
    case .matrix(let matrix): isPlain(matrix.homeserver)
    case .webhook(let webhook): isPlain(webhook.url)
    case .xmtp(let xmtp): xmtp.isInsecure
    }
  }
}
