import CKernel
import Imaging
import Photos

extension Darkroom {
  /// Prepares photos until the socket closes.
  static func serve(_ parent: Socket) {
    while let (limits, photo) = parent.receive() {
      let answer: DarkroomAnswer
      do {
        answer = DarkroomAnswer(.success(try Preparer().prepare(photo, limits: limits)))
      } catch {
        answer = DarkroomAnswer(.failure(error))
      }
      guard parent.send(answer.encoded) else { return }
      // An idle process holds little memory, and nothing of the last photo but filters of its size.
      ckernel_release_memory()
    }
  }
}
