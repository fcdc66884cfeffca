import CKernel
import Imaging
import Photos

extension Darkroom {
  /// Prepares one photo after the other, until nobody wants any more.
  static func serve(_ parent: Socket) {
    while let (order, photo) = parent.receive() {
      let answer: DarkroomAnswer
      do {
        answer = DarkroomAnswer(.success(try Preparer().prepare(photo, limits: order.limits)))
      } catch {
        answer = DarkroomAnswer(.failure(error))
      }
      guard parent.send(answer.encoded) else { return }
      // What is idle holds little memory, and nothing of the last photo but filters of its size.
      ckernel_release_memory()
    }
  }
}
