// The timeline: some 180 messages in the document, in groups of 60 as the server pages them.

import {by, make, part, remember, renew, swap} from './parts.js'

const most = 180

export class Timeline {
  /** Pictures of this browser for messages whose photos are not prepared yet, by request. */
  pictures = new Map()
  #isBusy = false

  constructor(main) {
    this.main = main
    this.scroll = main.querySelector('#timeline')
    this.column = this.scroll.firstElementChild
    this.address = `/conversation?name=${main.dataset.name}`
    const list = by('conversation.timeline', main)
    remember(list)
    this.groups = [{list, address: location.pathname + location.search, ...this.#links(main)}]
    this.top = make('p', {class: 'page'}, make('a', {class: 'quiet', test: 'conversation.older'}, 'Older'))
    this.end = make('p', {class: 'page'}, make('a', {class: 'quiet', test: 'conversation.newer'}, 'Newer'), ' ',
      make('a', {class: 'quiet', href: this.address, test: 'conversation.newest'}, 'Newest'))
    this.pending = make('ol', {class: 'timeline', test: 'conversation.pending'})
    for (const old of this.column.querySelectorAll('p.page')) old.remove()
    this.column.prepend(this.top)
    this.column.append(this.end, this.pending)
    this.#show()
    this.scroll.addEventListener('scroll', () => this.#look(), {passive: true})
    this.#look()
  }

  #links(page) {
    const link = name => by(name, page)?.getAttribute('href') ?? null
    return {older: link('conversation.older'), newer: link('conversation.newer')}
  }

  get isNewest() { return !this.groups.at(-1).newer }

  #show() {
    for (const [place, address] of [[this.top, this.groups[0].older], [this.end, this.groups.at(-1).newer]]) {
      place.hidden = !address
      if (address) place.firstElementChild.href = address
    }
    const seen = new Set()
    for (const day of this.column.querySelectorAll('.day')) {
      // Each page names its first day, and one day may go on over several.
      day.hidden = seen.has(day.textContent)
      seen.add(day.textContent)
    }
    this.dress()
  }

  /** Whether requests are shown that the daemon has not accepted. They may turn out to be duplicates, without an event. */
  get isWaiting() {
    return [...this.groups.at(-1).list.querySelectorAll('.m')].some(({id, dataset}) => dataset.request && id.startsWith(dataset.request))
  }

  loadOlder() { return this.#load(this.groups[0].older, true) }
  loadNewer() { return this.#load(this.groups.at(-1).newer, false) }

  /** Adds a group at one end, drops groups at the other, and holds what is seen in its place. */
  async #load(address, isOlder) {
    if (!address || this.#isBusy) return
    this.#isBusy = true
    try {
      const page = await part(address)
      const list = document.importNode(by('conversation.timeline', page), true)
      remember(list)
      const group = {list, address, ...this.#links(page)}
      this.#leave(list, group)
      this.#hold(() => {
        this.groups.at(isOlder ? 0 : -1).list[isOlder ? 'before' : 'after'](list)
        this.groups[isOlder ? 'unshift' : 'push'](group)
        while (this.groups.length > 1 && this.column.querySelectorAll('.timeline > .m').length > most) {
          this.groups[isOlder ? 'pop' : 'shift']().list.remove()
        }
        this.#show()
      })
      this.#look()
    } catch {
      // The links stay, and the next scroll tries again.
    } finally {
      this.#isBusy = false
    }
  }

  /** Loads what is soon to be seen. */
  #look() {
    requestAnimationFrame(() => {
      const box = this.scroll.getBoundingClientRect()
      const isNear = one => {
        const place = one.getBoundingClientRect()
        return !one.hidden && place.bottom > box.top - 1500 && place.top < box.bottom + 1500
      }
      if (isNear(this.top)) this.loadOlder()
      else if (isNear(this.end)) this.loadNewer()
    })
  }

  /** Changes the document and leaves what is seen where it is; but a low end follows what is new. */
  #hold(change, isLow) {
    const place = one => one.getBoundingClientRect()
    const {top} = place(this.scroll)
    const anchor = [...this.column.querySelectorAll('.m')].find(one => place(one).bottom > top)
    const was = anchor && place(anchor).top
    change()
    if (isLow || !anchor?.isConnected) return
    const moved = place(anchor).top - was
    // Writing the same value would end a phone's scrolling.
    if (Math.abs(moved) > 0.5) this.scroll.scrollTop += moved
  }

  /** Takes the newest messages over from a page. */
  take(page) {
    const fresh = by('conversation.timeline', page)
    if (!this.isNewest || !fresh) return
    const group = this.groups.at(-1)
    this.#leave(fresh, group)
    // Messages that have moved beyond the page stay, until there are too many and nobody looks at them.
    const isLow = this.scroll.scrollTop > -100
    const isFull = isLow && group.list.childElementCount > most
    this.#hold(() => swap(group.list, fresh, !isFull), isLow)
    if (isFull) {
      for (const {list} of this.groups.splice(0, this.groups.length - 1)) list.remove()
      Object.assign(group, this.#links(page))
    }
    this.#show()
    const none = by('conversation.none', this.main)
    if (none) none.hidden = Boolean(this.column.querySelector('.m'))
  }

  /** Renders groups again, but the newest one. */
  async renew(isWanted) {
    for (const group of this.groups.filter(isWanted)) {
      if (group === this.groups.at(-1) && this.isNewest) continue
      const fresh = by('conversation.timeline', await part(group.address))
      this.#leave(fresh, group)
      this.#hold(() => swap(group.list, fresh))
    }
    this.#show()
  }

  /** Renews what other groups have of a page, and takes it out of the page: pages overlap as messages come. */
  #leave(fresh, group) {
    for (const element of [...fresh.children]) {
      const here = element.id && document.getElementById(element.id)
      if (here && !group.list.contains(here)) {
        renew(here, element)
        element.remove()
      }
    }
  }

  /** Shows this browser's pictures in messages that have none yet. */
  dress() {
    for (const [request, pictures] of this.pictures) {
      const messages = this.column.querySelectorAll(`.m[data-request="${CSS.escape(request)}"]`)
      let isNeeded = messages.length === 0
      ;[...messages].forEach((message, index) => {
        const plate = message.querySelector('.plate')
        if (!plate || !pictures[index]) return
        isNeeded = true
        if (!plate.classList.contains('dressed')) {
          plate.classList.add('dressed')
          plate.prepend(make('img', {src: pictures[index], alt: ''}))
        }
      })
      if (isNeeded) continue
      this.pictures.delete(request)
      // Those that the server made are no such addresses, and stay.
      for (const address of pictures) URL.revokeObjectURL(address)
    }
  }

  progress(message, share) {
    const state = by('message.state', document.getElementById(message) ?? this.pending)
    const bar = state?.parentElement.querySelector('progress')
    if (!bar) return false
    const percent = Math.round(share * 100)
    bar.value = percent
    state.textContent = `Uploading, ${percent} %`
    return true
  }

  /** Shows a message before the server knows it. */
  wait({items, text}, cancel) {
    const elements = items.map(item => {
      const state = make('p', {class: 'st busy', test: 'message.state'})
      const bar = make('progress', {max: 100, label: 'Sent'})
      item.on = share => {
        state.textContent = share < 0.5 ? `Sending, ${Math.round(share * 200)} %` : 'Pending'
        bar.value = share * 200
      }
      item.on(item.share)
      const button = make('button', {class: 'button small', test: 'message.cancel'}, 'Cancel')
      button.addEventListener('click', cancel)
      const address = item.picture ?? item.preview
      return make('li', {class: 'm own', test: 'message'},
        make('div', {class: 'frame'}, address ? make('img', {src: address, alt: `Photo from you: ${item.name}`}) : item.name,
          make('div', {class: 'over'}, make('div', {class: 'go'}, state, bar), button)))
    })
    if (text.trim()) {
      elements.push(make('li', {class: 'm own', test: 'message'},
        make('p', {class: 'text', dir: 'auto', test: 'message.text'}, text),
        make('div', {class: 'line'}, make('p', {class: 'st busy', test: 'message.state'}, 'Pending'))))
    }
    this.pending.append(...elements)
    this.scroll.scrollTop = 0
    return {remove: () => elements.forEach(element => element.remove())}
  }
}
