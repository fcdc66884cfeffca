// The composer: a tray of photos that are uploaded at once, a text, and Send.

import {Problem, ask, by, make, part, say, sizeInWords, symbol} from './parts.js'
import {listenForMoves} from './tray.js'
import {checkFile, line, upload} from './upload.js'

const most = 10
const largest = 10_000_000

/** The number of a photo's place, which the server's name of it begins with. Photos that arrive out of order keep theirs. */
const placeOf = item => item.place ? Number(item.place.slice(6, 8)) : item.number
const mark = item => `${placeOf(item)} ${item.bytes}`

export class Composer {
  items = []
  /** Uploads follow one another, two at once. */
  #lanes = [Promise.resolve(), Promise.resolve()]
  #running = 0
  /** Compositions that were sent, one after another. The next draft begins after them. */
  #outbox = Promise.resolve()
  /** Messages of the outbox that are not sent yet. */
  #unsent = new Set()
  #settling = Promise.resolve()
  #lastSend = 0
  #wasMoved = false
  /** Own changes of the draft that the server has not answered. */
  #changes = 0
  /** Places and sizes of photos that were removed while they were uploaded. The server may have had all of one. */
  #removed = new Set()
  /** Photos that the server has still to remove. Send waits for that. */
  #removals = new Set()
  /** Grows when an own change begins and when it ends. A page that was asked for before that shows an older draft. */
  version = 0

  /** `on.sent(part)` gets the answer to Send, `on.cut(isCut)` tells of the line, `on.pending` shows messages. */
  constructor(form, on) {
    this.form = form
    this.on = on
    this.conversation = form.closest('main').dataset.name
    this.text = form.elements.text
    /** The text as it is in the draft; null if this is unknown. */
    this.kept = this.text.defaultValue
    /** The text of the last page that was taken over; null if it was put since. */
    this.told = this.text.defaultValue
    this.key = form.elements.id.value
    this.draft = form.elements.draft?.value ?? ''
    this.problem = by('composer.problem', form)
    this.tray = by('composer.tray', form)
    const rows = [...this.tray.children]
    this.tray.replaceChildren()
    this.tray.classList.add('thumbs')
    this.merge(rows)
    form.classList.add('live')
    for (const input of form.querySelectorAll('[type="file"]')) {
      input.addEventListener('change', () => {
        this.add([...input.files])
        input.value = ''
      })
    }
    form.addEventListener('submit', event => {
      event.preventDefault()
      this.send()
    })
    this.text.addEventListener('input', () => {
      this.explain('')
      clearTimeout(this.timer)
      this.timer = setTimeout(() => this.#keepText(), 1000)
    })
    this.text.addEventListener('keydown', event => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
    })
    this.#listenForFiles()
    listenForMoves(this)
    addEventListener('beforeunload', event => this.#isLostOnLeaving && event.preventDefault())
    addEventListener('pagehide', () => this.#keepText())
    document.addEventListener('visibilitychange', () => document.hidden && this.#keepText())
  }

  /** Whether a message is on its way to the server. */
  isBusy = false

  /** Whether something would be lost if the page were left: a message, or a photo that is only in this browser. */
  get #isLostOnLeaving() { return this.isBusy || this.items.some(item => !item.place && !item.problem) }

  #listenForFiles() {
    const main = this.form.closest('main')
    const hasFiles = event => [...event.dataTransfer?.types ?? []].includes('Files')
    for (const type of ['dragover', 'dragenter']) {
      main.addEventListener(type, event => {
        if (!hasFiles(event)) return
        event.preventDefault()
        main.classList.add('drop')
      })
    }
    main.addEventListener('dragleave', event => main.contains(event.relatedTarget) || main.classList.remove('drop'))
    main.addEventListener('drop', event => {
      main.classList.remove('drop')
      if (!hasFiles(event)) return
      event.preventDefault()
      this.add([...event.dataTransfer.files])
    })
    addEventListener('paste', event => {
      const files = [...event.clipboardData?.files ?? []]
      if (!files.length) return
      event.preventDefault()
      this.add(files)
    })
  }

  /** Changes the draft. Nothing is taken over from the server meanwhile; afterwards everything is. */
  async #change(task) {
    this.#changes += 1
    this.version += 1
    try {
      return await task()
    } finally {
      this.#changes -= 1
      this.version += 1
      if (!this.#changes) this.on.settled()
    }
  }

  /** Asks the server, and again while the line is cut. */
  async #insist(task) {
    for (;;) {
      try {
        const answer = await task()
        this.on.cut(false)
        return answer
      } catch (error) {
        if (error instanceof Problem) throw error
        this.on.cut(true)
        await line()
      }
    }
  }

  explain(sentence) {
    this.problem.lastElementChild.textContent = sentence
    this.problem.hidden = !sentence
  }

  // Photos

  add(files) {
    this.explain('')
    for (const file of files) {
      if (this.items.length >= most) {
        return this.explain(`These are more than ${most} photos. Send the others in a second message.`)
      }
      const place = 1 + Math.max(-1, ...this.items.map(placeOf))
      const item = this.#show({file, name: file.name || 'photo', bytes: file.size, number: place,
        preview: URL.createObjectURL(file)})
      if (file.size > largest) {
        this.#fail(item, `It is larger than ${sizeInWords(largest)}. Send a smaller copy.`)
      } else if (!file.size) {
        this.#fail(item, 'It is empty. Choose it again.')
      } else {
        this.#enqueue(item)
      }
    }
  }

  #enqueue(item) {
    const lane = this.items.indexOf(item) % 2
    item.upload = this.#lanes[lane] = this.#lanes[lane].then(() => this.#upload(item))
  }

  /** Uploads photos that were left over, as far as the message has room for them. */
  #admit() {
    const left = this.items.filter(item => item.isLeft)
    for (const item of left.slice(0, Math.max(0, most - this.items.length + left.length))) {
      item.isLeft = false
      this.#enqueue(item)
    }
  }

  /** Puts a photo at the end of the tray. */
  #show(item) {
    item.share ??= 0
    const remove = make('button', {class: 'icon', label: `Remove ${item.name}`,
      title: 'Remove', test: 'composer.remove'}, symbol('close'))
    remove.addEventListener('click', () => this.remove(item))
    item.tile = make('span', {class: 'tile'}, symbol('photo'))
    item.bar = make('progress', {max: 100, value: 0, label: `${item.name} uploaded`})
    item.error = make('em', {class: 'bad', test: 'composer.error'})
    item.element = make('li', {tabindex: 0, test: 'composer.photo'}, item.tile,
      make('span', {class: 'what'}, make('bdi', {}, item.name), sizeInWords(item.bytes), item.error), item.bar, remove)
    item.element.item = item
    this.items.push(item)
    this.tray.append(item.element)
    const picture = item.picture ?? item.preview
    if (picture) this.#picture(item, picture)
    this.#share(item, item.share)
    this.#number()
    return item
  }

  #picture(item, address) {
    const image = make('img', {class: 'tile', src: address, alt: '', draggable: 'false'})
    // The browser may not know the format; the darkroom's thumbnail comes later.
    image.onload = () => {
      item.tile.replaceWith(image)
      item.tile = image
    }
  }

  /** Lets go of this browser's picture of a photo. */
  #release(item) {
    if (item.preview) URL.revokeObjectURL(item.preview)
    item.preview = null
  }

  #number() {
    this.items.forEach((item, index) => item.element.setAttribute('aria-label',
      `${item.name}, ${sizeInWords(item.bytes)}, photo ${index + 1} of ${this.items.length}. Arrow keys move it, Delete removes it.`))
  }

  #share(item, share) {
    item.share = share
    item.bar.value = Math.round(share * 100)
    item.element.classList.toggle('done', share >= 1)
    item.on?.(share)
  }

  #fail(item, sentence) {
    item.problem = sentence
    item.error.textContent = sentence
    item.element.classList.toggle('failed', Boolean(sentence))
  }

  async #upload(item) {
    if (item.isRemoved) return
    await (item.after ?? this.#outbox)
    await this.#settling
    if (item.isRemoved || item.isLeft || item.place) return
    await this.#change(async () => {
      this.#running += 1
      try {
        const answer = await upload(this.conversation, item, {
          progress: share => this.#share(item, share / 2), cut: this.on.cut})
        item.place = answer.added
        this.draft = answer.draft
        this.#removed.delete(mark(item))
        this.#share(item, 0.5)
      } catch (error) {
        // Somebody else composes here: the photo goes with the form.
        if (error.status === 409) item.isLocal = true
        else if (item.isRemoved) item.place = await this.#find(item)
        else this.#fail(item, error.message)
      }
      this.#running -= 1
      if (item.isRemoved && item.place) await this.#delete(item)
      await this.settle()
    })
  }

  /** The name in the draft of a photo that was removed while it was uploaded; undefined if the server does not have it. */
  async #find(item) {
    try {
      const {draft, photos} = await this.#insist(async () =>
        (await ask(`/draft?name=${this.conversation}`, {method: 'POST'})).json())
      if (this.items.some(other => placeOf(other) === placeOf(item))) return
      this.draft = draft ?? ''
      return photos.find(({file, bytes}) => mark({place: file, bytes}) === mark(item))?.file
    } catch (error) {
      say(error.message, true)
    }
  }

  /** Removes a photo from the draft. If the server refuses, it says why in `item.refusal`, and the photo comes back. */
  #delete(item) {
    return this.#change(async () => {
      try {
        await this.#insist(() => ask(`/draft/${this.draft}/photo?file=${encodeURIComponent(item.place)}`, {method: 'DELETE'}))
      } catch (error) {
        if (error.status === 404) return
        item.refusal = error.message
        item.isRemoved = false
        this.explain(`${item.name}: ${item.refusal}`)
        this.#show(item)
      }
    })
  }

  async remove(item) {
    item.isRemoved = true
    const index = this.items.indexOf(item)
    this.items.splice(index, 1)
    item.element.remove()
    this.#number()
    this.#admit()
    this.explain('')
    const next = this.items[Math.min(index, this.items.length - 1)]
    if (next) next.element.focus()
    else this.text.focus()
    // If the server has all of it, its answer comes, and tells what to delete.
    if (!item.place && item.share < 0.5) this.#abort(item)
    await this.#withdraw(item)
    if (item.isRemoved) this.#release(item)
  }

  /** Has the server remove a photo. Send waits for it. */
  async #withdraw(item) {
    item.refusal = ''
    // An order that is on its way gives the photo another name.
    if (item.place) this.#settling = this.#settling.then(() => this.#delete(item))
    item.removal = item.place ? this.#settling : item.upload
    this.#removals.add(item)
    await item.removal
    this.#removals.delete(item)
  }

  #abort(item) {
    if (!item.abort) return
    this.#removed.add(mark(item))
    item.abort()
  }

  /** Puts the photos of the draft into the order of the tray, once none is on its way. */
  settle() {
    if (this.#running) return this.#settling
    return this.#settling = this.#settling.then(() => this.#order(this.items))
  }

  async #order(items) {
    const there = items.filter(item => item.place)
    const wanted = there.map(item => item.place)
    if (wanted.length < 2 || !this.#wasMoved && wanted.every((name, index) => !index || wanted[index - 1] < name)) return
    this.#wasMoved = false
    await this.#change(async () => {
      try {
        const {photos} = await this.#insist(async () =>
          (await ask(`/draft/${this.draft}/order`, {method: 'POST', body: wanted.join('\n')})).json())
        there.forEach((item, index) => item.place = photos[index]?.file)
      } catch (error) {
        this.#wasMoved = true
        say(error.message, true)
      }
    })
  }

  // Order

  move(item, place) {
    const index = this.items.indexOf(item)
    place = Math.max(0, Math.min(place, this.items.length - 1))
    if (index === place) return
    this.items.splice(index, 1)
    this.items.splice(place, 0, item)
    const hasFocus = document.activeElement === item.element
    this.tray.insertBefore(item.element, this.tray.children[place > index ? place + 1 : place] ?? null)
    if (hasFocus) item.element.focus()
    this.#wasMoved = true
    this.#number()
  }

  /** Takes over what the server knows of the draft: thumbnails, progress, faults, and what other windows did. */
  merge(rows, draft = this.draft, text = this.told) {
    if (this.#changes || this.isBusy) return
    this.draft = draft
    // Two pages are compared, since a page shows unseen characters of the text as codes. What somebody types here stays.
    if (this.told !== null && text !== this.told && this.text.value === this.kept) this.text.value = this.kept = text
    this.told = text
    const known = new Map(this.items.filter(item => item.place).map(item => [item.place, item]))
    for (const row of rows) {
      const place = decodeURIComponent(row.dataset.file)
      const name = row.querySelector('bdi').textContent
      let item = known.get(place)
      known.delete(place)
      const bytes = Number(row.dataset.bytes)
      if (!item && this.#removed.delete(mark({place, bytes}))) {
        this.#withdraw({name, bytes, place, isRemoved: true})
        continue
      }
      item ??= this.#show({name, bytes, place})
      item.message = row.dataset.message
      const picture = row.querySelector('img')?.getAttribute('src')
      if (picture && item.picture !== picture) {
        item.picture = picture
        this.#picture(item, picture)
        this.#release(item)
      }
      this.#share(item, 'uploaded' in row.dataset ? 1 : 0.5 + Number(row.dataset.progress) / 200)
      this.#fail(item, row.querySelector('em')?.textContent ?? '')
    }
    for (const item of known.values()) {
      this.items.splice(this.items.indexOf(item), 1)
      item.element.remove()
    }
    this.#number()
  }

  /** The store has so much of a photo of the draft. */
  progress(message, share) {
    const item = this.items.find(item => item.message === message)
    if (item) this.#share(item, 0.5 + share / 2)
  }

  // Text

  async #keepText() {
    clearTimeout(this.timer)
    // Without a message on its way, it is put at once: the page may be left just now.
    if (this.isBusy) await this.#outbox
    const text = this.text.value
    if (text === this.kept) return
    this.kept = text
    this.told = null
    return this.keeping = this.#change(async () => {
      try {
        // A request that goes on without its page has at most 64 KiB. A character of this length has at most 3 bytes.
        const answer = await ask(`/draft/${this.draft || 'new'}/text?name=${this.conversation}`,
          {method: 'PUT', body: text, headers: {'Content-Type': 'text/plain'}, keepalive: text.length < 20_000})
        this.draft = (await answer.json()).draft ?? ''
      } catch (error) {
        if (this.kept === text) this.kept = null
        if (error instanceof Problem && error.status === 413) this.explain(error.message)
      }
    })
  }

  // Send

  send() {
    const isAgain = Date.now() - this.#lastSend < 600
    if (!this.text.value.trim() && !this.items.length) {
      if (isAgain || this.isBusy) return
      this.explain('Write something or add a photo.')
      return this.text.focus()
    }
    const failed = this.items.find(item => item.problem && !item.place)
    if (failed) return this.explain(`${failed.name}: ${failed.problem} Remove it, then send.`)
    this.#lastSend = Date.now()
    clearTimeout(this.timer)
    const message = {key: this.key, text: this.text.value, items: this.items.filter(item => !item.isLeft),
      removals: [...this.#removals]}
    this.key = this.key.replace(/[^-]*$/, '') + crypto.getRandomValues(new Uint32Array(4)).reduce((text, word) => text + word.toString(36), '')
    this.form.elements.id.value = this.key
    this.items = this.items.filter(item => item.isLeft)
    this.tray.replaceChildren(...this.items.map(item => item.element))
    this.#number()
    this.text.value = ''
    this.kept = ''
    this.explain('')
    this.isBusy = true
    message.pending = this.on.pending(message, () => this.#cancel(message))
    this.#unsent.add(message)
    const delivery = this.#outbox.then(() => this.#change(async () => {
      await this.#deliver(message)
      this.isBusy = this.#outbox !== delivery
    }))
    for (const item of message.items) item.after ??= this.#outbox
    this.#outbox = delivery
    this.#admit()
    this.text.focus()
  }

  async #deliver(message) {
    // It was held back by an earlier one.
    if (!this.#unsent.has(message)) return
    let answer, request
    try {
      await this.keeping
      await Promise.allSettled([...message.removals.map(item => item.removal), ...message.items.map(item => item.upload)])
      await this.#settling
      await this.#order(message.items)
      if (message.isCancelled) return await this.#drop(message)
      const failed = message.items.find(item => item.problem && !item.place)
      if (failed) throw new Problem(`${failed.name}: ${failed.problem} Nothing was sent.`)
      const kept = message.removals.find(item => item.refusal)
      if (kept) throw new Problem(`${kept.name}: ${kept.refusal} Nothing was sent.`)
      const body = new FormData()
      body.append('id', message.key)
      body.append('text', message.text)
      body.append('draft', this.draft)
      const local = message.items.filter(item => item.isLocal)
      for (const item of local) body.append('photo', item.file, item.name)
      message.isPosted = true
      answer = await this.#post(body, local)
      const problem = by('composer.problem', answer)
      if (!problem.hidden) throw new Problem(problem.textContent.trim())
      request = this.draft
      this.draft = ''
      this.#unsent.delete(message)
    } catch (error) {
      return this.#restore(error.message)
    }
    // It is sent, whether or not the answer can be shown.
    try {
      this.on.sent(answer, message, request)
    } catch (error) {
      reportError(error)
    }
    message.pending.remove()
  }

  #post(body, local) {
    return this.#insist(async () => {
      try {
        return await part(`/conversation?name=${this.conversation}`, {method: 'POST', body})
      } catch (error) {
        if (!(error instanceof Problem)) for (const item of local) await this.#check(item)
        throw error
      }
    })
  }

  async #check(item) {
    try {
      await checkFile(item.file)
    } catch (error) {
      this.#fail(item, error.message)
      throw new Problem(`${item.name}: ${error.message}`)
    }
  }

  #cancel(message) {
    if (message.isPosted) return say('It is too late: the message was sent on. Cancel it there.')
    message.isCancelled = true
    for (const item of message.items) {
      item.isRemoved = true
      if (!item.place) this.#abort(item)
    }
    message.pending.remove()
    say('Cancelled. Nothing was sent.')
  }

  /** Deletes the draft of a cancelled message. */
  async #drop(message) {
    try {
      if (this.draft) await this.#insist(() => ask(`/draft/${this.draft}`, {method: 'DELETE'}))
    } catch (error) {
      if (error.status !== 404) throw error
    }
    this.draft = ''
    this.#unsent.delete(message)
    for (const item of message.items) this.#release(item)
  }

  /** Puts what could not be sent back into the composer, in its order: a message, those that wait behind it, and what was
   *  begun since. They become one message, since the draft has photos of the first one. Photos that it has no room for are
   *  left in the composer when it is sent. */
  #restore(sentence) {
    const back = [...this.#unsent]
    this.#unsent.clear()
    for (const message of back) message.pending.remove()
    const texts = back.filter(message => !message.isCancelled).map(message => message.text)
    this.text.value = [...texts, this.text.value].filter(text => text.trim()).join('\n')
    // Of a cancelled message, the photos that the server did not remove come back.
    const items = back.flatMap(message => message.items).filter(item => item.place || !item.isRemoved)
    for (const item of items) item.isRemoved = false
    this.items.unshift(...items)
    this.tray.prepend(...items.map(item => item.element))
    // Photos that are still to be uploaded get a place behind the others.
    const placed = this.items.filter(item => item.place)
    let place = Math.max(-1, ...placed.map(placeOf))
    let room = most - placed.length
    for (const item of this.items.filter(item => !item.place)) {
      item.number = place += 1
      item.after = null
      if (room-- < 1) item.isLeft = true
    }
    this.#admit()
    this.#number()
    this.explain(room < 0 ? `${sentence} Send takes ${most} of the photos.` : sentence)
    this.#keepText()
  }
}
