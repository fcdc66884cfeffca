// Pages for who looks after the system: they show news, too, until somebody pauses them.

import {by, make, part, remember, renew, say, swap, symbol} from './parts.js'

/** Milliseconds between two looks at a page that changes all the time. */
const pace = 1000

export class Board {
  isPaused = false

  /** `goOn` is called when somebody has the page go on. */
  constructor(main, goOn) {
    this.main = main
    this.column = main.querySelector('.board')
    remember(this.column)
    for (const list of this.column.querySelectorAll('[data-rows]')) remember(list)
    this.goOn = goOn
    if (main.dataset.board === 'pause') this.#addPause()
    this.#again()
    this.column.addEventListener('click', event => {
      const link = event.target.closest('a[href^="/storage/clear"]')
      if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      this.#rehearse(link).catch(error => say(error.message, true))
    })
  }

  #addPause() {
    const button = make('button', {class: 'icon', test: 'board.pause'})
    const tell = () => {
      const word = this.isPaused ? 'Go on live' : 'Pause live'
      for (const name of ['aria-label', 'title']) button.setAttribute(name, word)
      button.replaceChildren(symbol(this.isPaused ? 'go' : 'pause'))
    }
    button.addEventListener('click', () => {
      this.isPaused = !this.isPaused
      tell()
      if (!this.isPaused) this.goOn()
    })
    tell()
    this.main.querySelector('h1').after(button)
  }

  /** Says what Clear would remove and what stays, before it does. */
  async #rehearse(link) {
    const page = await part(link.getAttribute('href'))
    const dialog = make('dialog', {class: 'help', label: 'Clear', test: 'clear.sheet'},
      ...[page.querySelector('h1'), by('clear.plan', page), page.querySelector('.batch')].map(one => document.importNode(one, true)))
    by('clear.keep', dialog).addEventListener('click', event => {
      event.preventDefault()
      dialog.close()
    })
    dialog.addEventListener('close', () => dialog.remove())
    document.body.append(dialog)
    dialog.showModal()
  }

  /** Looks again soon while something runs of which no event tells. */
  #again() {
    clearTimeout(this.timer)
    if (this.column.querySelector('[data-again]')) this.timer = setTimeout(this.goOn, pace)
  }

  /** Takes over what a fresh page shows, unless somebody is being asked something, or has chosen a photo. */
  async take(page) {
    const isChosen = [...this.column.querySelectorAll('[type="file"]')].some(input => input.files.length)
    if (!this.isPaused && !isChosen && !this.column.querySelector('details[open], [role="alert"]')
      && !by('clear.sheet')) {
      for (const name of ['h1 .sub', '.bar .mark']) {
        const [here, fresh] = [this.main, page].map(within => within.querySelector(name))
        if (here && fresh) renew(here, fresh)
      }
      const board = page.querySelector('.board')
      const id = this.column.querySelector('[name="id"]')?.getAttribute('value')
      // Each page has a new key for its form. With the former one the form stays, in which somebody may be choosing a photo.
      if (id) for (const input of board.querySelectorAll('[name="id"]')) input.setAttribute('value', id)
      swap(this.column, board)
    }
    this.#again()
    await new Promise(done => setTimeout(done, pace))
  }
}
