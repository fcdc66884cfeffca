import Messages
import Settings
import Testing

@testable import Composition

@Suite struct DestinationFactoryTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static let frame = """
    networks: {frame: {type: local, store: frame, seal: none}}
    stores: {frame: {type: directory, directory: %}}
    routes:
      - {conversation: "frame-*", network: frame}
      - {conversation: family, network: frame, as: hall}
    """

  private func settings(directory: String = "frame") throws -> Settings {
    try scratch.settings(Self.frame.replacing("%", with: scratch.directory.path(directory)))
  }

  @Test("A configuration that changes one store makes only that store and its network anew")
  func anew() throws {
    var first = DestinationFactory(try settings(), spool: scratch.spool) { _ in }
    _ = try first.destinations()
    var same = DestinationFactory(try settings(), spool: scratch.spool, after: first) { _ in }
    _ = try same.destinations()
    #expect(same.anew == [])
    var other = DestinationFactory(try settings(directory: "other"), spool: scratch.spool, after: same) { _ in }
    _ = try other.destinations()
    #expect(other.anew == ["store frame"])
  }

  @Test("A message is published under its alias only in the files of its own network")
  func publishedNames() throws {
    let settings = try settings()
    func names(_ conversation: String) -> [String] {
      settings.publishedNames(of: ConversationID(unchecked: conversation)).map(\.text)
    }
    #expect(names("family") == ["family", "hall"])
    #expect(names("frame-red") == ["frame-red"])
    #expect(names("other") == ["other"])
  }

  @Test("The routes to a network say which conversations are heard there, and under which name")
  func heard() throws {
    let settings = try settings()
    let frame = try #require(settings.networks.first { $0.name == "frame" })
    let heard = settings.heardConversations(on: frame)
    #expect(heard.conversation(at: Address(unchecked: "hall"))?.text == "family")
    #expect(heard.conversation(at: Address(unchecked: "frame-red"))?.text == "frame-red")
    #expect(heard.conversation(at: Address(unchecked: "family")) == nil)
    #expect(heard.conversation(at: Address(unchecked: "other")) == nil)
    let standard = settings.heardConversations(on: try #require(settings.networks.first))
    #expect(standard.conversation(at: Address(unchecked: "other"))?.text == "other")
  }

  @Test("A secret that cannot be read is named with its store")
  func missingSecret() throws {
    let settings = try scratch.settings(
      """
      store: {type: s3, endpoint: "https://s3.example.org", region: eu, bucket: b, accessKeyFile: none, secretKeyFile: none}
      """)
    let error = #expect(throws: Failure.self) {
      var factory = DestinationFactory(settings, spool: scratch.spool) { _ in }
      _ = try factory.destinations()
    }
    #expect(error?.status == .configuration)
    #expect(error?.description.hasPrefix("store \(try #require(settings.stores.first).name): ") == true)
  }
}
