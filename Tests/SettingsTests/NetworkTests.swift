import Secrets
import Testing

@testable import Networks
@testable import Settings

struct NetworkTests {
  @Test("without a word of it, the network is local, with the standard store and seal")
  func standard() throws {
    let settings = try loadSettings("").settings
    #expect(
      settings.networks == [NetworkSettings(name: "local", store: "directory", seal: .xmtp, type: LocalNetworkType())])
  }

  @Test("a network is listened to only where that is said, for an inbox")
  func listening() throws {
    let settings = try loadSettings(
      """
      inbox: me
      networks:
        silent: {type: matrix, homeserver: "https://matrix.example.org", tokenFile: token, seal: none}
        heard: {type: matrix, homeserver: "https://matrix.example.org", tokenFile: token, seal: none, listen: true}
        work: {type: matrix, homeserver: "https://matrix.example.org", tokenFile: token, listen: true, inbox: boss}
      """
    ).settings
    let inboxes = settings.networks.map { "\($0.name) \($0.listening?.text ?? "-")" }
    #expect(inboxes == ["local -", "heard me", "silent -", "work boss"])
  }

  @Test("every type of network has what it needs, its store and its seal")
  func everyType() throws {
    let (settings, folder) = try loadSettings(
      """
      seal: none
      network: {type: webhook, url: "https://hooks.example.org/photos", secretVariable: HOOK_SECRET}
      stores:
        archive: {directory: /srv/archive}
      networks:
        work:
          type: matrix
          homeserver: https://matrix.example.org/
          tokenFile: matrix.token
          store: archive
          seal: matrix
        post: {type: exec, program: /usr/local/bin/post-photo, timeout: 5s, store: directory}
        here: {}
        chat:
          type: xmtp
          endpoint: "[::1]:5556"
          insecure: true
          keyFile: keys/xmtp
          program: /opt/photospool/photospool-xmtp
          python: /usr/bin/python3
          seal: xmtp
      """)
    #expect(
      settings.networks == [
        NetworkSettings(
          name: "webhook", store: "directory", seal: .unsealed,
          type: made { (webhook: inout WebhookNetworkType) in
            webhook.url = "https://hooks.example.org/photos"
            webhook.secret.variable = "HOOK_SECRET"
          }),
        NetworkSettings(
          name: "chat", store: "directory", seal: .xmtp,
          type: made { (xmtp: inout XMTPNetworkType) in
            xmtp.endpoint = "[::1]:5556"
            xmtp.insecure = true
            xmtp.keyFile = "\(folder)/keys/xmtp"
            xmtp.program = "/opt/photospool/photospool-xmtp"
            xmtp.python = "/usr/bin/python3"
          }),
        NetworkSettings(name: "here", store: "directory", seal: .unsealed, type: LocalNetworkType()),
        NetworkSettings(
          name: "post", store: "directory", seal: .unsealed,
          type: made { (exec: inout ExecNetworkType) in
            exec.program = "/usr/local/bin/post-photo"
            exec.timeout = .seconds(5)
          }),
        NetworkSettings(
          name: "work", store: "archive", seal: .matrix,
          type: made { (matrix: inout MatrixNetworkType) in
            matrix.homeserver = "https://matrix.example.org/"
            matrix.token.file = "\(folder)/matrix.token"
          }),
      ])
    #expect(settings.networks.map(\.type.isPlain) == [false, true, false, false, false])
  }

  @Test("a map of the file is its JSON, with types as in JSON, and may come from the environment as that")
  func maps() throws {
    let text = """
      network:
        type: firestore
        project: example-app
        emulator: http://127.0.0.1:8080
        fields:
          sender: "{inbox}"
          version: 2
          "quoted": "2"
          isPhoto: true
          nothing: ~
          list:
            - {url: "{url}"}
      """
    let map = #"{"sender":"{inbox}","version":2,"quoted":"2","isPhoto":true,"nothing":null,"list":[{"url":"{url}"}]}"#
    let network = try loadSettings(text).settings.networks.first?.type as? FirestoreNetworkType
    #expect(network?.fields == FieldMap(map))
    let other =
      try loadSettings(text, environment: ["PHOTOSPOOL_NETWORK_FIELDS": #"{"a":"{text}"}"#])
      .settings.networks.first?.type as? FirestoreNetworkType
    #expect(other?.fields == FieldMap(#"{"a":"{text}"}"#))
  }

  @Test("Google is asked without an emulator in the configuration, whatever the environment has")
  func emulators() throws {
    let settings = try loadSettings(
      """
      store: {type: gcs, bucket: photos, keyFile: key.json}
      network: {type: firestore, project: example-app, keyFile: key.json}
      """,
      environment: ["FIRESTORE_EMULATOR_HOST": "127.0.0.1:1", "STORAGE_EMULATOR_HOST": "http://127.0.0.1:1"]
    ).settings
    #expect((settings.networks.first?.type as? FirestoreNetworkType)?.emulator == nil)
    #expect(settings.networks.map(\.type.isPlain) == [false] && settings.stores.map(\.type.isPlain) == [false])
  }

  @Test(
    "a store of type matrix goes with networks of type matrix, sealed for Matrix or not at all",
    arguments: ["matrix", "none"])
  func matrixStore(seal: String) throws {
    let matrix = "type: matrix, homeserver: \"https://matrix.example.org\", tokenVariable: TOKEN"
    let settings = try loadSettings("seal: \(seal)\nstore: {\(matrix)}\nnetwork: {\(matrix)}").settings
    #expect(settings.networks.map(\.store) == ["matrix"])
  }

  @Test("settings that do not fit a store of type matrix are reported where they were set")
  func matrixStoreProblems() throws {
    let matrix = "type: matrix, homeserver: \"https://matrix.example.org\", tokenVariable: TOKEN"
    #expect(
      try settingsProblems("store: {\(matrix)}\nnetwork: {\(matrix)}") == [
        "f:1: photos of the store `matrix` have mxc:// URLs, which only the seals `matrix` and `none` can carry; "
          + "write `seal: matrix`"
      ])
    #expect(
      try settingsProblems("store: {\(matrix)}", environment: ["PHOTOSPOOL_NETWORK_TYPE": "local"]) == [
        "PHOTOSPOOL_NETWORK_TYPE: photos of the store `matrix` have mxc:// URLs, which only a network of type "
          + "`matrix` can carry, and `network` is of type `local`"
      ])
  }

  @Test(
    "a webhook goes unencrypted only to this computer or where it is allowed",
    arguments: [
      ("http://localhost:8080/a", false, true), ("http://127.0.0.1/a", false, true), ("http://[::1]/a", false, true),
      ("http://10.0.0.1/a", false, false), ("http://10.0.0.1/a", true, true), ("http://127.example.org", false, false),
      ("http://localhost.example.org", false, false), ("http://127.0.0.256/a", false, false),
      ("https://10.0.0.1/a", false, true),
    ])
  func plainWebhooks(url: String, allowPrivate: Bool, isGood: Bool) throws {
    let text = "network: {type: webhook, url: \"\(url)\", secretVariable: S, allowPrivate: \(allowPrivate)}"
    #expect(try settingsProblems(text).isEmpty == isGood)
  }

  @Test("a name that is invalid for another reason is not reported as unknown as well")
  func excusedNames() throws {
    let told = try settingsProblems(
      """
      store: {type: gold}
      network: {type: gold}
      stores: {Archive: {directory: /a}}
      networks: {work: {store: s3}, home: nothing}
      routes: [{conversation: a, network: exec}, {conversation: b, network: home}]
      """)
    #expect(told.count == 4)
    #expect(!told.contains { $0.contains("there is no such") })
  }

  @Test("settings of the connection and of the delivery come from the file")
  func connection() throws {
    let (settings, folder) = try loadSettings(
      """
      http: {authorityFile: ca.pem, proxy: "socks5h://proxy.example.org:1080", connect: 5s, stall: 20s, total: 10m}
      delivery: {probe: 500ms, mending: 1m}
      """)
    #expect(settings.http.client.authorityFile == "\(folder)/ca.pem")
    #expect(settings.http.client.proxy == "socks5h://proxy.example.org:1080")
    #expect(settings.http.limits.connect == .seconds(5))
    #expect(settings.http.limits.stall == .seconds(20))
    #expect(settings.http.limits.total == .seconds(600))
    #expect(settings.delivery.probe == .milliseconds(500))
    #expect(settings.delivery.mending == .seconds(60))
    #expect(Settings().http.limits.total == nil)
    #expect(Settings().delivery.probe == .seconds(5) && Settings().delivery.mending == .seconds(300))
  }
}
