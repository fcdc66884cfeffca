import Secrets

/// A place that keeps uploaded photos, with all that its type needs and nothing else.
public struct StoreSettings: Sendable, Equatable {
  /// Unique: the standard store's is the word of its type.
  public let name: String
  public let kind: Kind

  public enum Kind: Sendable, Equatable {
    case directory(Directory)
    case s3(S3)
    case presigned(Presigned)
    case matrix(Matrix)
  }

  public struct Directory: Sendable, Equatable {
    /// nil is `objects` in the spool. A relative path starts in the directory where the program was started.
    public let path: String?
    /// What receivers find before `/NAME`; nil is the `file://` URL of the directory.
    public let url: String?
  }

  public struct S3: Sendable, Equatable {
    /// The service's URL without the bucket, without a query.
    public let endpoint: String
    public let region: String
    public let bucket: String
    public let addressing: Addressing
    /// A template that `ObjectNaming` takes.
    public let naming: String
    /// What receivers find before `/NAME`; nil is the bucket's own URL.
    public let url: String?
    public let accessKey: SecretSource
    public let secretKey: SecretSource
    public let sessionToken: SecretSource?
  }

  public enum Addressing: String, CaseIterable, Sendable {
    case path
    case virtualHost = "virtual-host"
  }

  public struct Presigned: Sendable, Equatable {
    public let endpoint: String
    /// What the endpoint is shown; nil is nothing.
    public let token: SecretSource?
  }

  public struct Matrix: Sendable, Equatable {
    /// The URL of the homeserver, without a slash at its end.
    public let homeserver: String
    public let token: SecretSource
  }

  /// Where its secrets are.
  public var secrets: [SecretSource] {
    switch kind {
    case .directory: []
    case .s3(let s3): [s3.accessKey, s3.secretKey] + [s3.sessionToken].compactMap { $0 }
    case .presigned(let presigned): [presigned.token].compactMap { $0 }
    case .matrix(let matrix): [matrix.token]
    }
  }

  /// Whether tokens and signatures go to the store unencrypted, so that others on the way can read along.
  public var isPlainHTTP: Bool {
    switch kind {
    case .directory: false
    case .s3(let s3): isPlain(s3.endpoint)
    case .presigned(let presigned): isPlain(presigned.endpoint)
    case .matrix(let matrix): isPlain(matrix.homeserver)
    }
  }
}

func isPlain(_ url: String) -> Bool { WebAddress(url)?.isPlain == true }
