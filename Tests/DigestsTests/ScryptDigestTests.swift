import Foundation
import Testing

@testable import Digests

@Suite struct ScryptDigestTests {
  @Test("A digest matches its password alone, and each has its own salt")
  func matches() throws {
    let digest = ScryptDigest(of: "correct horse")
    #expect(digest.matches("correct horse"))
    for other in ["", "correct", "correct horse ", "Correct horse"] { #expect(!digest.matches(other)) }
    #expect(digest != ScryptDigest(of: "correct horse"))
    let copy = try JSONDecoder().decode(ScryptDigest.self, from: JSONEncoder().encode(digest))
    #expect(copy.matches("correct horse"))
    #expect(!String(decoding: try JSONEncoder().encode(digest), as: UTF8.self).contains("correct"))
  }

  @Test("A damaged digest matches nothing")
  func damaged() throws {
    for text in [#"{"salt":"x","digest":""}"#, #"{"salt":"00","digest":"00"}"#] {
      #expect(!(try JSONDecoder().decode(ScryptDigest.self, from: Data(text.utf8)).matches("")))
    }
  }
}
