import Foundation
import Settings
import Testing

@testable import Composition

/// The store that `cluster.bytes` names.
struct ClusterBytesTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    let key = scratch.directory.path("key")
    try Data("secret".utf8).write(to: URL(fileURLWithPath: key))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
  }

  private func settings(_ bytes: String?) throws -> Settings {
    let store = "type: s3, endpoint: \"https://s3.example.org\", accessKeyFile: key, secretKeyFile: key"
    return try scratch.settings(
      """
      cluster: {servers: "nats://queue1", secretFile: key, work: false\(bytes.map { ", bytes: \($0)" } ?? "")}
      store: {\(store), bucket: standard}
      stores: {one: {\(store), bucket: one}, two: {\(store), bucket: two}}
      """)
  }

  @Test(arguments: ["s3", "one"]) func theBytesAreInTheStoreOfThatName(_ name: String) throws {
    #expect(try settings(nil).makeBytes() == nil)
    #expect(try settings(name).makeBytes() != nil)
  }

  @Test func hostsThatKeepBytesElsewhereHaveAnotherDigest() throws {
    let digests = try [nil, "s3", "one", "two"].map { try settings($0).routesDigest }
    #expect(Set(digests).count == 4)
    #expect(try settings("one").routesDigest == digests[2])
  }

  @Test func theBytesStayInTheirBucketUntilTheNextStart() throws {
    func isFixed(_ key: String, _ bytes: String?) throws -> Bool {
      let settings = try settings(bytes)
      return Configured.isFixed(key, former: settings, new: settings)
    }
    #expect(try isFixed("stores.one.bucket", "one") && isFixed("store.bucket", "s3"))
    #expect(try !isFixed("stores.one.bucket", "two") && !isFixed("store.bucket", "one"))
    #expect(try !isFixed("stores.one.bucket", nil) && isFixed("cluster.bytes", nil))
  }
}
