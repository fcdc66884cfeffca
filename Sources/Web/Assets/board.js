// Pages for who looks after the system: they show news, too, until somebody pauses them.

import {make, remember, swap} from './parts.js'

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
  }

  /** Takes over what a fresh page shows, unless somebody is being asked something. */
  async take(page) {
    if (!this.isPaused && !this.column.querySelector('details[open]')) {
      const [here, fresh] = [this.main, page].map(within => within.querySelector('h1 .sub'))
      if (here && fresh) here.textContent = fresh.textContent
      swap(this.column, page.querySelector('.board'))
    }
    await new Promise(done => setTimeout(done, pace))
  }
}
