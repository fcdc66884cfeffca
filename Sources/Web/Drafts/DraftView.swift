import Ledgers
import Messages
import Spooling

extension PageSource {
  /// The values of a composer's draft, if there is one.
  func values(of draft: OpenDraft?) throws -> Values {
    guard let draft else { return ["hasDraft": false, "draft": "", "draftPhotos": [Values]()] }
    // A draft that the daemon has not looked at has no messages yet.
    let messages = (try? ledger?.story(of: draft.name.text))?.messages ?? []
    let photos = try draft.photos().map { photo in
      values(of: photo, messages.first { $0.file == photo.file })
    }
    return ["hasDraft": true, "draft": draft.name.text, "draftPhotos": photos]
  }

  private func values(of photo: OpenDraft.Photo, _ message: RequestStory.Message?) -> Values {
    let name = PhotoName.original(photo.file)
    let progress = message.flatMap { self.progress?[$0.message] }.map { Int($0 * 100) }
    let isUploaded = message?.state == .uploaded
    return [
      "hasPicture": message?.photo != nil && session.may(.see), "message": message?.message ?? "",
      "file": shown(name), "fileQuery": inAddress(photo.file), "bytes": photo.bytes, "size": sizeInWords(photo.bytes),
      "hasError": message?.error != nil, "error": message?.error.map(shown) ?? "", "isUploaded": isUploaded,
      "progress": isUploaded ? 100 : progress ?? 0,
    ]
  }
}
