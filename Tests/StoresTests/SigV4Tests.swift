import Digests
import HTTP
import Messages
import Secrets
import Testing

@testable import Stores

/// The examples of "Authenticating Requests: Using the Authorization Header", Amazon S3 API Reference.
@Suite struct SigV4Tests {
  private let credentials = S3Credentials(
    accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
  /// 2013-05-24T00:00:00Z.
  private let time = Timestamp(milliseconds: 1_369_353_600_000)

  private func headers(
    _ method: HTTPRequest.Method, _ path: String,
    headers: [HTTPHeader] = [], body: String = "", credentials: S3Credentials? = nil
  ) -> [HTTPHeader] {
    SigV4(credentials: credentials ?? self.credentials, region: "us-east-1").headers(
      method, host: "examplebucket.s3.amazonaws.com", path: path, headers: headers,
      payload: SHA256Digest(of: Array(body.utf8)), at: time)
  }

  private func authorization(_ headers: [HTTPHeader]) -> String {
    headers.first { $0.name == "Authorization" }?.value ?? ""
  }

  @Test func gettingAnObjectsRange() {
    let signed = headers(.get, "/test.txt", headers: [HTTPHeader("Range", "bytes=0-9")])
    #expect(
      authorization(signed)
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    #expect(signed.contains(HTTPHeader("x-amz-date", "20130524T000000Z")))
  }

  @Test func puttingAnObject() {
    let signed = headers(
      .put, "/test%24file.text",
      headers: [
        HTTPHeader("Date", "Fri, 24 May 2013 00:00:00 GMT"), HTTPHeader("x-amz-storage-class", "REDUCED_REDUNDANCY"),
      ], body: "Welcome to Amazon S3.")
    #expect(
      authorization(signed).hasSuffix(
        "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
  }

  @Test func blanksOfAValueDoNotCountTwice() {
    let once = headers(.get, "/test.txt", headers: [HTTPHeader("Range", "bytes=0-9 x")])
    let twice = headers(.get, "/test.txt", headers: [HTTPHeader("Range", "  bytes=0-9   x ")])
    #expect(authorization(once) == authorization(twice))
  }

  @Test func aSessionTokenIsSentAndSigned() {
    let temporary = S3Credentials(
      accessKey: credentials.accessKey, secretKey: credentials.secretKey, sessionToken: Secret("token"))
    let signed = headers(.get, "/", credentials: temporary)
    #expect(signed.contains(HTTPHeader("x-amz-security-token", "token")))
    #expect(authorization(signed).contains(";x-amz-date;x-amz-security-token,"))
  }
}
