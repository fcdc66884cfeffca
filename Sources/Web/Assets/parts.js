// Parts of pages: fetched as the server's templates render them, and put in place.

const fragment = 'text/vnd.photospool.fragment'
const policy = window.trustedTypes?.createPolicy('photospool', {createHTML: text => text})
  ?? {createHTML: text => text}

/** A refusal by the server: one sentence. */
export class Problem extends Error {
  constructor(sentence, status) {
    super(sentence)
    this.status = status
  }
}

/** Whether a proxy answers, since it does not reach the page. The page's own refusals are problems. */
export const isUnreached = (status, type) => [502, 503, 504].includes(status) && !type?.startsWith('application/problem')

/** Asks the server. Throws a Problem if it refuses, and a TypeError if the line is cut. */
export async function ask(address, options = {}) {
  const answer = await fetch(address, {...options, headers: {Accept: fragment, ...options.headers}})
  // The session has ended. The page says so, or asks for the password. A log out that has just ended it shows its own page first.
  if (answer.status === 401) setTimeout(() => location.reload(), 1000)
  const type = answer.headers.get('content-type') ?? ''
  if (type.startsWith('application/problem')) {
    throw new Problem((await answer.json()).detail, answer.status)
  }
  if (isUnreached(answer.status, type)) throw new TypeError('the page is not reached')
  // A form that cannot be sent comes back with its sentence and 422.
  if (!answer.ok && answer.status !== 422) throw new Problem(`The server answered ${answer.status}.`, answer.status)
  return answer
}

/** The elements of a part of a page. */
export async function part(address, options) {
  const answer = await ask(address, options)
  return parse(await answer.text())
}

export function parse(text) {
  return new DOMParser().parseFromString(policy.createHTML(text), 'text/html')
}

export const by = (name, within = document) => within.querySelector(`[data-test="${name}"]`)

const attribute = {test: 'data-test', label: 'aria-label'}

/** An element: `make('p', {class: 'why', test: 'its.name', hidden: true}, 'text', child)`. A button does not submit. */
export function make(name, attributes, ...children) {
  const element = document.createElement(name)
  if (name === 'button') element.type = name
  for (const key in attributes) {
    const value = attributes[key]
    if (value !== false) element.setAttribute(attribute[key] ?? key, value === true ? '' : value)
  }
  element.append(...children)
  return element
}

/** A symbol of the page's sprite. */
export function symbol(name) {
  const space = 'http://www.w3.org/2000/svg'
  const picture = document.createElementNS(space, 'svg')
  const use = document.createElementNS(space, 'use')
  use.setAttribute('href', `#i-${name}`)
  picture.setAttribute('aria-hidden', 'true')
  picture.append(use)
  return picture
}

// How the server rendered an element that is in place.
const sources = new WeakMap()
const source = element => sources.get(element) ?? element.outerHTML
// A form has its field `id` for this property.
const key = element => element.getAttribute('id') || element.firstElementChild?.getAttribute('href') || element.textContent

/** Remembers how the server rendered the children of a list, before anything changes them. */
export function remember(list) {
  for (const element of list.children) sources.set(element, element.outerHTML)
}

/** Makes the children of a list those of `fresh`. Equal children stay, with their pictures and the focus, which a child that is
 *  moved would lose. Children before the first one that both have stay, too, if `keepsFirst`. */
export function swap(list, fresh, keepsFirst = false) {
  const old = new Map([...list.children].map(one => [key(one), one]))
  const gone = new Set(old.values())
  for (const one of fresh.children) gone.delete(old.get(key(one)))
  let next = list.firstElementChild
  if (keepsFirst && gone.size < old.size) while (gone.delete(next)) next = next.nextElementSibling
  for (const element of fresh.children) {
    while (gone.has(next)) next = next.nextElementSibling
    const name = key(element)
    const here = old.get(name)
    old.delete(name)
    if (here !== next) list.insertBefore(here ?? put(element), next)
    else next = next.nextElementSibling
    if (!here || source(here) === element.outerHTML) continue
    if ('rows' in here.dataset) {
      swap(here, element)
      sources.set(here, element.outerHTML)
    } else put(element, here)
  }
  for (const one of gone) one.remove()
}

function put(element, here) {
  const next = document.importNode(element, true)
  sources.set(next, element.outerHTML)
  if (!here) return next
  for (const image of next.querySelectorAll('img')) {
    const loaded = [...here.querySelectorAll('img')].find(one => one.outerHTML === image.outerHTML)
    if (loaded) image.replaceWith(loaded)
  }
  for (const {value} of here.querySelectorAll('input:checked')) {
    const tick = next.querySelector(`input[value="${CSS.escape(value)}"]`)
    if (tick) tick.checked = true
  }
  const focus = here.contains(document.activeElement) ? document.activeElement.dataset.test : null
  here.replaceWith(next)
  if (focus) (by(focus, next) ?? next.querySelector('a, button'))?.focus({preventScroll: true})
  return next
}

/** Puts an element in the place of an older one, if it is different. */
export function renew(here, element) {
  if (source(here) !== element.outerHTML) put(element, here)
}

/** Runs one task at a time; of those that come meanwhile, one more. */
export function once(task) {
  let running = null
  let isWanted = false
  return function run() {
    if (running) {
      isWanted = true
      return running
    }
    running = task().catch(() => {}).finally(() => {
      running = null
      if (isWanted) {
        isWanted = false
        run()
      }
    })
    return running
  }
}

/** Says something in the page's live region, for a while. */
export function say(sentence, isBad = false) {
  let notice = by('page.said')
  if (!notice) {
    notice = make('div', {class: 'said', role: 'status', test: 'page.said'})
    document.body.append(notice)
  }
  notice.classList.toggle('bad', isBad)
  notice.textContent = sentence
  clearTimeout(say.timer)
  say.timer = setTimeout(() => notice.textContent = '', 12000)
}

export const sizeInWords = bytes => bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`
