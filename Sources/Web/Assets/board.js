// Pages for who looks after the system: they show news, too, until somebody pauses them.

import {by, make, part, remember, say, swap} from './parts.js'

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
    const button = make('button', {class: 'button plain pause', test: 'board.pause'}, 'Pause live')
    button.addEventListener('click', () => {
      this.isPaused = !this.isPaused
      button.textContent = this.isPaused ? 'Go on live' : 'Pause live'
      if (!this.isPaused) goOn()
    })
    main.querySelector('h1').after(button)
    this.goOn = goOn
    this.#again()
    this.column.addEventListener('click', event => {
      const link = event.target.closest('a[href^="/storage/clear"]')
      if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      this.#rehearse(link).catch(error => say(error.message, true))
    })
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
      const [here, fresh] = [this.main, page].map(within => within.querySelector('h1 .sub'))
      if (here && fresh && here.textContent !== fresh.textContent) here.textContent = fresh.textContent
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
