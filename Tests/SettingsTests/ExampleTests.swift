import Foundation
import Testing

@testable import Settings

/// `etc/examples/`: configurations for a purpose each.
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
    #expect(settings.route(of: "family")?.alias?.first == "!")
    #expect(settings.route(of: "!room:example.org")?.network == "matrix")
    #expect(settings.route(of: "friends") == nil)
  }

  @Test("every message is posted to a webhook")
  func webhook() throws {
    let settings = try load("webhook")
    #expect(settings.stores.map(\.name) == ["presigned"])
    #expect(settings.networks.map(\.name) == ["webhook"])
    #expect(settings.http.total == .seconds(300))
  }

  @Test("a program publishes, and another one shows what is not sealed")
  func exec() throws {
    let settings = try load("exec")
    #expect(settings.networks.map(\.store) == ["directory", "frame"])
    #expect(settings.networks.map(\.seal) == [.xmtp, .unsealed])
    #expect(settings.route(of: "frame-kitchen")?.network == "frame")
  }

  @Test("no further example is without a test")
  func allOfThem() throws {
    let folder = URL(fileURLWithPath: SampleFileTests.path).deletingLastPathComponent().path + "/examples"
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.sorted() == ["exec.yaml", "s3-and-matrix.yaml", "webhook.yaml"])
  }
}
