// The tray: photos change places by arrow keys, by a mouse, and by a finger that rests on one first. A finger that moves at
// once pans the tray.

/** Milliseconds that a finger rests on a photo before it moves it. */
const rest = 350

export function listenForMoves(composer) {
  const {tray} = composer
  // The photo that a finger moves.
  let held = null
  tray.addEventListener('keydown', event => {
    const item = event.target.item
    if (!item) return
    const step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key]
    if (step) {
      composer.move(item, composer.items.indexOf(item) + step)
      composer.settle()
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      composer.remove(item)
    } else {
      return
    }
    event.preventDefault()
  })
  tray.addEventListener('touchmove', event => held && event.preventDefault(), {passive: false})
  tray.addEventListener('contextmenu', event => held && event.preventDefault())
  tray.addEventListener('pointerdown', event => {
    const item = event.target.closest('li')?.item
    if (!item || event.button || event.target.closest('button')) return
    const {pointerId, clientX: begin, pointerType} = event
    const isFinger = pointerType === 'touch'
    let isMoving = false
    const hold = () => {
      held = item
      item.element.classList.add('moving')
    }
    const timer = isFinger && setTimeout(hold, rest)
    const go = event => {
      if (event.pointerId !== pointerId || isFinger && !held) return
      isMoving ||= Math.abs(event.clientX - begin) > 8
      if (!isMoving) return
      item.element.classList.add('moving')
      const over = composer.items.findIndex(other => {
        const box = other.element.getBoundingClientRect()
        return event.clientX >= box.left && event.clientX < box.right
      })
      if (over >= 0) composer.move(item, over)
    }
    const end = event => {
      if (event.pointerId !== pointerId) return
      clearTimeout(timer)
      held = null
      removeEventListener('pointermove', go)
      for (const type of ['pointerup', 'pointercancel']) removeEventListener(type, end)
      item.element.classList.remove('moving')
      if (isMoving) composer.settle()
    }
    addEventListener('pointermove', go)
    for (const type of ['pointerup', 'pointercancel']) addEventListener(type, end)
  })
}
