import CKernel
import MailParsing

extension Darkroom {
  /// Parses mails until the socket closes.
  static func serveMail(_ parent: Socket, _ charsets: Charsets) {
    while let (limit, mail) = parent.receiveMail() {
      let answer: MailAnswer
      do {
        answer = MailAnswer(.success(try MailParser.index(of: mail, charsets: charsets, limit: limit)))
      } catch {
        answer = MailAnswer(.failure(error))
      }
      guard parent.send(answer.encoded) else { return }
      ckernel_release_memory()
    }
  }
}
