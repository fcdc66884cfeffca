// The viewer: a photo on the whole screen, over the timeline.

import {Gestures} from './gestures.js'
import {by, make, say} from './parts.js'

/** A viewer, once its style is there. */
export async function begin(timeline, on) {
  const sheet = make('link', {rel: 'stylesheet', href: new URL('viewer.css', import.meta.url)})
  const loaded = new Promise((done, fail) => [sheet.onload, sheet.onerror] = [done, fail])
  document.head.append(sheet)
  await loaded
  return new Viewer(timeline, on)
}

class Viewer {
  /** `on.hide(photo)` hides a photo of somebody else again. */
  constructor(timeline, on) {
    this.timeline = timeline
    this.dialog = by('photo.main')
    for (const name of ['picture', 'stage', 'save', 'share', 'hide', 'previous', 'next', 'meta', 'close']) {
      this[name] = by(`photo.${name}`, this.dialog)
    }
    this.close.onclick = () => this.dialog.close()
    this.share.onclick = () => this.#share()
    this.previous.onclick = () => this.turn(-1)
    this.next.onclick = () => this.turn(1)
    this.hide.onclick = () => {
      this.dialog.close()
      on.hide(this.address.split('/')[2])
    }
    this.gestures = new Gestures(this.stage, this.picture, {swipe: step => this.turn(step)})
    this.dialog.addEventListener('keydown', event => this.#key(event))
    this.dialog.addEventListener('close', () => {
      this.picture.removeAttribute('src')
      this.#links[this.#index]?.focus()
    })
  }

  get #links() { return [...this.timeline.column.querySelectorAll('a[data-test="message.photo"]')] }

  /** The place of the photo among the links. They are other elements when their messages are rendered again. */
  get #index() { return this.#links.findIndex(link => link.getAttribute('href') === this.address) }

  open(link, step = 0) {
    const image = link.querySelector('img')
    const address = this.address = link.getAttribute('href')
    this.gestures.reset()
    // The picture of the timeline is there at once, the whole one over it.
    this.picture.src = image.src
    const whole = new Image()
    whole.src = `${address}/original`
    whole.decode().then(() => this.address === address && this.dialog.open && (this.picture.src = whole.src), () => {})
    if (step && !matchMedia('(prefers-reduced-motion)').matches) {
      this.picture.animate([{translate: `${80 * step}px`, opacity: 0}, {}], 160)
    }
    this.picture.alt = image.alt.replace(', opens full screen', '')
    this.hide.hidden = Boolean(link.closest('.own'))
    this.meta.textContent = this.picture.alt
    this.save.href = `${address}/original?save`
    this.share.hidden = !navigator.canShare?.({files: [new File([], 'photo.jpg', {type: 'image/jpeg'})]})
    const links = this.#links
    const index = links.indexOf(link)
    this.previous.hidden = index <= 0 && !this.timeline.groups[0].older
    this.next.hidden = index + 1 >= links.length && this.timeline.isNewest
    if (!this.dialog.open) this.dialog.showModal()
  }

  /** The link so many photos further; undefined if there is none, or the photo is gone. */
  #beside(step) {
    const index = this.#index
    return index < 0 ? undefined : this.#links[index + step]
  }

  async turn(step) {
    let next = this.#beside(step)
    if (!next) {
      await (step < 0 ? this.timeline.loadOlder() : this.timeline.loadNewer())
      next = this.#beside(step)
    }
    if (!next || !this.dialog.open) return
    const hadFocus = document.activeElement
    next.scrollIntoView({block: 'center'})
    this.open(next, step)
    if (hadFocus?.hidden) this.dialog.querySelector('a, button').focus()
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const act = {
      ArrowLeft: () => this.turn(-1), ArrowRight: () => this.turn(1), '+': () => this.gestures.zoom(1.5),
      '=': () => this.gestures.zoom(1.5), '-': () => this.gestures.zoom(1 / 1.5), 0: () => this.gestures.reset(),
    }[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }

  async #share() {
    try {
      const answer = await fetch(`${this.address}/original`)
      const file = new File([await answer.blob()], 'photo.jpg', {type: 'image/jpeg'})
      await navigator.share({files: [file]})
    } catch (error) {
      if (error.name !== 'AbortError') say('It cannot be shared here. Save it instead.', true)
    }
  }
}
