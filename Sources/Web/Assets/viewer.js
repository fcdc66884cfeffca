// The viewer: a photo on the whole screen, over the timeline.

import {Gestures} from './gestures.js'
import {by, make, say, symbol} from './parts.js'

export class Viewer {
  /** `on.hide(photo)` hides a photo of somebody else again. */
  constructor(timeline, on) {
    this.timeline = timeline
    const button = (name, word, picture, act) => {
      const element = make('button', {class: 'icon', label: word, title: word, test: `photo.${name}`},
        symbol(picture))
      element.addEventListener('click', act)
      return element
    }
    this.picture = make('img', {alt: '', draggable: 'false', test: 'photo.picture'})
    this.stage = make('div', {class: 'stage', test: 'photo.stage'}, this.picture)
    this.save = make('a', {class: 'button', test: 'photo.save', download: true}, symbol('save'), 'Save')
    this.share = make('button', {class: 'button plain', test: 'photo.share', hidden: true}, 'Share')
    this.hide = make('button', {class: 'button plain', test: 'photo.hide'}, symbol('hide'), 'Hide again')
    this.hide.addEventListener('click', () => {
      const {link} = this
      this.dialog.close()
      on.hide(link.getAttribute('href').split('/')[2])
    })
    this.share.addEventListener('click', () => this.#share())
    this.before = button('previous', 'Previous photo', 'back', () => this.turn(-1))
    this.after = button('next', 'Next photo', 'next', () => this.turn(1))
    this.before.classList.add('turn', 'previous')
    this.after.classList.add('turn', 'next')
    this.meta = make('footer', {class: 'meta', test: 'photo.meta'})
    this.dialog = make('dialog', {class: 'viewer', label: 'Photo', test: 'photo.main'},
      make('header', {class: 'bar'}, this.save, this.share, this.hide, button('close', 'Close', 'close', () => this.dialog.close())),
      this.stage, this.before, this.after, this.meta)
    document.body.append(this.dialog)
    this.gestures = new Gestures(this.stage, this.picture, {swipe: step => this.turn(step)})
    this.dialog.addEventListener('keydown', event => this.#key(event))
    this.dialog.addEventListener('close', () => {
      this.picture.removeAttribute('src')
      this.link?.isConnected && this.link.focus()
    })
  }

  get #links() { return [...this.timeline.column.querySelectorAll('a[data-test="message.photo"]')] }

  open(link) {
    this.link = link
    const image = link.querySelector('img')
    const address = link.getAttribute('href')
    this.gestures.reset()
    // The picture of the timeline is there at once, the whole one over it.
    this.picture.src = image.src
    const whole = new Image()
    whole.src = `${address}/original`
    whole.decode().then(() => this.link === link && this.dialog.open && (this.picture.src = whole.src), () => {})
    this.picture.alt = image.alt.replace(', opens full screen', '')
    this.hide.hidden = Boolean(link.closest('.own'))
    this.meta.textContent = this.picture.alt
    this.save.href = `${address}/original?save`
    this.share.hidden = !navigator.canShare?.({files: [new File([], 'photo.jpg', {type: 'image/jpeg'})]})
    const links = this.#links
    const index = links.indexOf(link)
    this.before.hidden = index <= 0 && !this.timeline.groups[0].older
    this.after.hidden = index + 1 >= links.length && this.timeline.isNewest
    if (!this.dialog.open) this.dialog.showModal()
  }

  async turn(step) {
    let next = this.#links[this.#links.indexOf(this.link) + step]
    if (!next) {
      await (step < 0 ? this.timeline.loadOlder() : this.timeline.loadNewer())
      next = this.#links[this.#links.indexOf(this.link) + step]
    }
    if (!next) return
    const hadFocus = document.activeElement
    next.scrollIntoView({block: 'center'})
    this.open(next)
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
      const answer = await fetch(`${this.link.getAttribute('href')}/original`)
      const file = new File([await answer.blob()], 'photo.jpg', {type: 'image/jpeg'})
      await navigator.share({files: [file]})
    } catch (error) {
      if (error.name !== 'AbortError') say('It cannot be shared here. Save it instead.', true)
    }
  }
}
