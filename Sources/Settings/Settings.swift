import Messages

/// The configuration in typed values: read once, checked once, never changed afterwards.
///
/// The initial values of the properties are the program's defaults. `SettingsSchema` gives each property its key.
public struct Settings: SettingsSection {
  public internal(set) var spool = Spool()
  /// The inbox of a request that names none.
  public internal(set) var inbox = InboxID(unchecked: "default")
  public internal(set) var log = Log()
  public internal(set) var metrics = Metrics()
  public internal(set) var intake = Intake()
  public internal(set) var delivery = Delivery()
  public internal(set) var photo = Photo()
  public internal(set) var cache = Cache()
  public internal(set) var janitor = Janitor()
  public internal(set) var receiving = Receiving()
  public internal(set) var http = HTTPSettings()
  public internal(set) var profile = Profile()
  public internal(set) var hooks = Hooks()

  /// What keeps uploaded photos: the standard store, then the further ones by their names.
  public internal(set) var stores = [StoreSettings(name: "directory", kind: .directory(.init(path: nil, url: nil)))]
  /// What publishes messages: the standard network, then the further ones by their names.
  public internal(set) var networks = [NetworkSettings(name: "local", store: "directory", seal: .xmtp, kind: .local)]
  /// The first that matches a conversation wins; what none matches goes to the standard network.
  public internal(set) var routes = [RouteSettings]()

  // What the file says, of which `stores` and `networks` are made.
  /// The encryption of the standard network's photos.
  var seal = Seal.xmtp
  var store = Store()
  var network = Network()
  var furtherStores = [String: Store]()
  var furtherNetworks = [String: FurtherNetwork]()

  /// By key; what is missing is at its default. Sections with a name of their own have one too.
  var origins = [String: SettingOrigin]()

  /// The defaults.
  public init() {}

  /// Where the value of a dotted key came from.
  public func origin(of key: String) -> SettingOrigin { origins[key] ?? .byDefault }

  public struct Spool: Sendable, Equatable {
    /// The directory that is the instance. A relative path starts in the directory where the program was started.
    public internal(set) var directory = "./spool"
    /// The user that `run` changes to when root starts it; nil is the owner of the directory.
    public internal(set) var user: String?
  }

  public struct Log: Sendable, Equatable {
    public internal(set) var level = Level.info
    public internal(set) var format = Format.logfmt

    /// From everything to nearly nothing. The raw values are swift-log's.
    public enum Level: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error }
    public enum Format: String, CaseIterable, Sendable { case logfmt, json }
  }

  public struct Metrics: Sendable, Equatable {
    /// The file that the daemon writes its metrics to, for node_exporter; nil is none.
    public internal(set) var textfile: String?
    /// How long the daemon rests between two reports, of metrics and of its status.
    public internal(set) var pause = Duration.seconds(15)
  }

  public struct Intake: Sendable, Equatable {
    /// How often `new/` is read as a whole, in case that the kernel's notices were lost.
    public internal(set) var rescan = Duration.seconds(30)
    /// How long an entry that was built in `new/` has to be left alone before it is taken.
    public internal(set) var settle = Duration.seconds(5)
  }

  public struct Delivery: Sendable, Equatable {
    /// How many conversations of each network and store are served at once; the others wait for their turn.
    public internal(set) var conversations = 256
    /// How many photos of one conversation are prepared and uploaded while earlier ones wait.
    public internal(set) var lookahead = 4
    /// How many uploads to one store run at once; at most half of them are of one conversation.
    public internal(set) var uploads = 8
    /// How long a request is tried before it fails.
    public internal(set) var lifetime = Duration.seconds(5 * 86_400)
    public internal(set) var backoff = Backoff()
    /// The longest time from one probe of a destination that does not work to the next.
    public internal(set) var probe = Duration.seconds(5)
    /// The pause of a conversation after a destination refused it or the credentials.
    public internal(set) var mending = Duration.seconds(300)
  }

  /// The pause before another attempt: doubled from the first to the longest, with full jitter.
  public struct Backoff: Sendable, Equatable {
    public internal(set) var first = Duration.seconds(1)
    public internal(set) var longest = Duration.seconds(300)
  }

  public struct Photo: Sendable, Equatable {
    /// Pixels of the longer side of what is sent, at most.
    public internal(set) var longestSide = 2048
    /// Bytes of what is sent, at most.
    public internal(set) var bytes = 999_999
    /// The JPEG quality that is tried first.
    public internal(set) var bestQuality = 85
    /// The JPEG quality below which the photo is made smaller instead.
    public internal(set) var worstQuality = 50
    /// Bytes of a photo as dropped, at most.
    public internal(set) var inputBytes = 10_000_000
    /// Pixels of a photo as dropped, at most.
    public internal(set) var pixels = 100_000_000
    /// Pixels of the longer side of the thumbnail in the cache.
    public internal(set) var thumbnailSide = 300
    /// How many photos are prepared at once; 0 is one per processor.
    public internal(set) var threads = 0
    /// Memory that preparing one photo may take, in bytes.
    public internal(set) var memory = 768 << 20
    /// Processor time that preparing one photo may take; three times as long by the clock.
    public internal(set) var time = Duration.seconds(10)
  }

  /// What becomes of the inboxes' own profile photos.
  public struct Profile: Sendable, Equatable {
    /// The name of the network that they are set on; nil is the standard one.
    public internal(set) var network: String?
    /// Pixels of each side, at most.
    public internal(set) var side = 512
    /// Bytes, at most.
    public internal(set) var bytes = 200_000
  }

  /// The programs that are told of what happened, each by its absolute path; nil is none.
  public struct Hooks: Sendable, Equatable {
    public internal(set) var sent: String?
    public internal(set) var failed: String?
    public internal(set) var received: String?
    /// How long a program may take for one event.
    public internal(set) var timeout = Duration.seconds(10)
    /// How often each of them may be started within a minute.
    public internal(set) var perMinute = 60
  }

  /// How much of sent and received photos is kept.
  public struct Cache: Sendable, Equatable {
    /// Bytes that one inbox may have; beyond it its own photos go.
    public internal(set) var inbox = 500_000_000
    /// Bytes of all inboxes together.
    public internal(set) var total = 1_000_000_000
    /// How long after its upload a stored photo counts as one that can be fetched again.
    public internal(set) var remote = Duration.seconds(30 * 86_400)
  }

  /// What becomes of photos that others send.
  public struct Receiving: Sendable, Equatable {
    /// What is fetched before anybody asks for it, where a conversation's preferences say nothing.
    public internal(set) var fetch = FetchPolicy.known
    /// Bytes of a photo.
    public internal(set) var bytes = 10_000_000
    /// How many photos are fetched at once.
    public internal(set) var downloads = 4
    /// How many photos are fetched from one host at once.
    public internal(set) var perHost = 2
    /// How long fetching a photo may take, each time.
    public internal(set) var time = Duration.seconds(300)
    /// How long a photo that cannot be had is tried.
    public internal(set) var lifetime = Duration.seconds(86_400)
    /// Whether photos may lie in private networks and behind plain `http://`.
    public internal(set) var allowPrivate = false
  }

  /// How long the janitor leaves things alone.
  public struct Janitor: Sendable, Equatable {
    /// What was never moved out of `tmp/`.
    public internal(set) var tmp = Duration.seconds(36 * 3600)
    /// What was never sent.
    public internal(set) var drafts = Duration.seconds(86_400)
    /// Receipts, and what the ledger knows of their requests.
    public internal(set) var receipts = Duration.seconds(7 * 86_400)
    /// Requests that failed, and what could not be received.
    public internal(set) var failed = Duration.seconds(30 * 86_400)
    /// Photos that others announced and nobody wanted.
    public internal(set) var announced = Duration.seconds(90 * 86_400)
  }

  public enum Seal: String, CaseIterable, Sendable {
    /// RemoteAttachment: AES-256-GCM under keys derived by HKDF-SHA256.
    case xmtp
    /// EncryptedFile v2: AES-256-CTR under a key of its own.
    case matrix
    /// No encryption: whoever can read the store sees the photos.
    case unsealed = "none"
  }
}

extension Settings: Equatable {
  /// Whether every setting has the same value, wherever it came from.
  public static func == (left: Settings, right: Settings) -> Bool {
    SettingsSchema.settings.allSatisfy { $0.text(in: left) == $0.text(in: right) }
      && left.stores == right.stores && left.networks == right.networks && left.routes == right.routes
  }
}
