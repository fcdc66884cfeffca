// Photos on their way from the browser to the draft.

import {Problem, isUnreached} from './parts.js'

/** Puts a photo into the draft of a conversation, and tries again while the line is cut.
 *  `on.progress(share)` and `on.cut(isCut)` tell how it goes. */
export async function upload(conversation, photo, on) {
  for (;;) {
    try {
      const answer = await put(conversation, photo, on)
      on.cut(false)
      return answer
    } catch (error) {
      if (error instanceof Problem || photo.isRemoved) throw error
      await checkFile(photo.file)
      on.progress(0)
      on.cut(true)
      await line()
      if (photo.isRemoved) throw error
    }
  }
}

/** Throws a Problem if a file was changed or deleted after it was chosen. Its upload fails as if the line were cut. */
export async function checkFile(file) {
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch {
    throw new Problem('It cannot be read any more. Choose it again.')
  }
}

/** Resolves when it is worth trying again. */
export function line() {
  return new Promise(done => {
    const timer = setTimeout(go, 1500)
    function go() {
      clearTimeout(timer)
      removeEventListener('online', go)
      done()
    }
    addEventListener('online', go)
  })
}

function put(conversation, photo, on) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest()
    photo.abort = () => request.abort()
    request.open('PUT', `/draft/new/photo?name=${conversation}&file=${encodeURIComponent(photo.name)}&place=${photo.number}`)
    request.responseType = 'json'
    request.upload.onprogress = event => on.progress(event.loaded / Math.max(1, event.total))
    request.onload = () => {
      if (request.status === 201) done(request.response)
      else if (isUnreached(request.status, request.getResponseHeader('content-type'))) request.onerror()
      else fail(new Problem(request.response?.detail ?? `The server answered ${request.status}.`, request.status))
    }
    request.onerror = request.onabort = () => fail(new TypeError('the line is cut'))
    request.send(photo.file)
  })
}
