// Zoom and drag of a picture: by fingers, wheel, double tap and keys.

const largest = 8

/** Moves and scales `picture` within `stage`. `on.swipe(step)` is called for a swipe of the whole picture. */
export class Gestures {
  #fingers = new Map()
  #lastTap = 0
  #wasMoved = false

  constructor(stage, picture, on) {
    Object.assign(this, {stage, picture, on})
    this.reset()
    stage.addEventListener('pointerdown', event => this.#down(event))
    stage.addEventListener('pointermove', event => this.#move(event))
    for (const type of ['pointerup', 'pointercancel']) stage.addEventListener(type, event => this.#up(event))
    stage.addEventListener('wheel', event => {
      event.preventDefault()
      this.zoom(Math.exp(-event.deltaY / (event.ctrlKey ? 100 : 400)), event.clientX, event.clientY)
    }, {passive: false})
  }

  reset() {
    Object.assign(this, {scale: 1, x: 0, y: 0})
    this.#apply()
  }

  /** Scales by a factor and leaves the point of the screen where it is. */
  zoom(factor, x, y) {
    const box = this.stage.getBoundingClientRect()
    const [left, top] = [(x ?? box.left + box.width / 2) - box.left - box.width / 2,
      (y ?? box.top + box.height / 2) - box.top - box.height / 2]
    const scale = Math.min(largest, Math.max(0.5, this.scale * factor))
    const ratio = scale / this.scale
    this.x = left - (left - this.x) * ratio
    this.y = top - (top - this.y) * ratio
    this.scale = scale
    if (!this.#fingers.size) this.#settle()
    this.#apply()
  }

  #settle() {
    if (this.scale <= 1) return Object.assign(this, {scale: 1, x: 0, y: 0})
    const {clientWidth: width, clientHeight: height} = this.stage
    const [farX, farY] = [width * (this.scale - 1) / 2, height * (this.scale - 1) / 2]
    this.x = Math.max(-farX, Math.min(farX, this.x))
    this.y = Math.max(-farY, Math.min(farY, this.y))
  }

  #apply() {
    this.picture.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`
    this.stage.dataset.scale = this.scale.toFixed(2)
  }

  #down(event) {
    if (event.button) return
    this.#fingers.set(event.pointerId, {x: event.clientX, y: event.clientY, begin: event.clientX})
    this.stage.setPointerCapture(event.pointerId)
    this.#wasMoved = this.#fingers.size > 1
  }

  #move(event) {
    const finger = this.#fingers.get(event.pointerId)
    if (!finger) return
    const [before, distance] = [this.#middle(), this.#distance()]
    Object.assign(finger, {x: event.clientX, y: event.clientY})
    const after = this.#middle()
    this.#wasMoved ||= Math.abs(event.clientX - finger.begin) > 8
    if (this.#fingers.size > 1) this.zoom(this.#distance() / Math.max(1, distance), after.x, after.y)
    if (this.scale > 1 || this.#fingers.size > 1) {
      this.x += after.x - before.x
      this.y += after.y - before.y
    } else {
      this.x = event.clientX - finger.begin
    }
    this.#apply()
  }

  #up(event) {
    const finger = this.#fingers.get(event.pointerId)
    if (!finger) return
    this.#fingers.delete(event.pointerId)
    if (this.#fingers.size) return
    const way = event.clientX - finger.begin
    this.#settle()
    this.#apply()
    if (event.type === 'pointercancel') return
    if (this.scale === 1 && Math.abs(way) > 60) return this.on.swipe(way < 0 ? 1 : -1)
    if (this.#wasMoved) return
    const now = event.timeStamp
    if (now - this.#lastTap < 350) {
      this.#lastTap = 0
      if (this.scale > 1) this.reset()
      else this.zoom(2.5, event.clientX, event.clientY)
    } else {
      this.#lastTap = now
    }
  }

  #middle() {
    const fingers = [...this.#fingers.values()]
    const mean = name => fingers.reduce((sum, finger) => sum + finger[name], 0) / Math.max(1, fingers.length)
    return {x: mean('x'), y: mean('y')}
  }

  #distance() {
    const [one, other] = [...this.#fingers.values()]
    return other ? Math.hypot(one.x - other.x, one.y - other.y) : 0
  }
}
