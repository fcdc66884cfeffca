import Foundation
import Testing

@testable import Networks
@testable import Settings

struct ExampleTests {
  private func load(_ name: String) throws -> Settings {
    let folder = URL(fileURLWithPath: SampleFileTests.path).deletingLastPathComponent().path + "/examples"
    return try Settings.load(file: "\(folder)/\(name).yaml", fileIsExplicit: true, environment: [:], flags: [:])
  }

  @Test("photos go to S3, and those of some conversations to Matrix")
  func s3AndMatrix() throws {
    let settings = try load("s3-and-matrix")
    #expect(settings.stores.map(\.name) == ["s3", "media"])
    #expect(settings.networks.map(\.name) == ["local", "matrix"])
    #expect(settings.networks.map(\.store) == ["s3", "media"])
    #expect(settings.networks.map(\.seal) == [.xmtp, .matrix])
    #expect(settings.route(of: "family")?.alias?.text.first == "!")
    #expect(settings.route(of: "!room:example.org")?.network == "matrix")
    #expect(settings.route(of: "friends") == nil)
  }

  @Test("every message is posted to a webhook")
  func webhook() throws {
    let settings = try load("webhook")
    #expect(settings.stores.map(\.name) == ["presigned"])
    #expect(settings.networks.map(\.name) == ["webhook"])
    #expect(settings.http.limits.total == .seconds(300))
  }

  @Test("a program publishes, and another one shows what is not sealed")
  func exec() throws {
    let settings = try load("exec")
    #expect(settings.networks.map(\.store) == ["directory", "frame"])
    #expect(settings.networks.map(\.seal) == [.xmtp, .unsealed])
    #expect(settings.route(of: "frame-kitchen")?.network == "frame")
  }

  @Test("a camera on a flaky line sends small photos to a room, and tries for two weeks")
  func camera() throws {
    let settings = try load("camera")
    #expect(settings.photo.limits.outputBytes == 300_000)
    #expect(settings.delivery.lifetime == .days(14))
    #expect(settings.networks.map(\.store) == ["matrix"])
    #expect(settings.route(of: "garden")?.alias?.text.first == "!")
  }

  @Test("a host of bots has a network for rooms, one for people, and one for all else")
  func bots() throws {
    let settings = try load("bots")
    #expect(settings.networks.map(\.name) == ["webhook", "people", "rooms"])
    #expect(settings.networks.map(\.store) == ["s3", "s3", "media"])
    #expect(settings.route(of: "#team:example.org")?.network == "rooms")
    #expect(settings.route(of: "dm:0123")?.network == "people")
    #expect(settings.route(of: "anything") == nil)
  }

  @Test("a kiosk shows photos on the wall, and keeps them unsealed in the house")
  func kiosk() throws {
    let settings = try load("kiosk")
    #expect(settings.networks.map(\.seal) == [.unsealed])
    #expect(settings.stores.map(\.name) == ["directory"])
    #expect(settings.photo.limits.bestQuality == 92)
  }

  @Test("an app on Firebase gets documents in its own fields, and unsealed photos of its own size")
  func firebase() throws {
    let settings = try load("firebase")
    #expect(settings.stores.map(\.name) == ["gcs"])
    #expect(settings.networks.map(\.name) == ["firestore"])
    #expect(settings.networks.map(\.seal) == [.unsealed])
    #expect(settings.photo.limits.longestSide == 1920 && settings.photo.limits.outputBytes < 2_000_000)
    let network = try #require(settings.networks.first?.type as? FirestoreNetworkType)
    #expect(network.fields == FirestoreNetworkType().fields, "they are the default ones")
    #expect(network.summary.fields.keys.sorted() == ["lastMessageAt", "lastMessageId"])
    #expect(network.secrets.map { "\($0)" }.first?.contains("examples/secrets/firebase-key.json") == true)
  }

  @Test("no further example is without a test")
  func allOfThem() throws {
    let folder = URL(fileURLWithPath: SampleFileTests.path).deletingLastPathComponent().path + "/examples"
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(
      files.sorted() == [
        "bots.yaml", "camera.yaml", "exec.yaml", "firebase.yaml", "kiosk.yaml", "s3-and-matrix.yaml", "webhook.yaml",
      ])
  }
}
