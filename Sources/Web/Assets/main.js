// The page's script. Everything works without it; with it, pages live.

import {Composer} from './composer.js'
import {listen} from './live.js'
import {Problem, ask, by, make, parse, part, say, swap, remember, symbol} from './parts.js'
import {Timeline} from './timeline.js'
import {line} from './upload.js'
import {Viewer} from './viewer.js'

const main = document.querySelector('main[data-view]')
const title = document.title
const rows = by('list.rows')
const form = by('composer.form')
const timeline = main?.dataset.name ? new Timeline(main) : null
const viewer = timeline && new Viewer(timeline, {hide: photo => perform(main, null, '', async () => {
  await ask(`/photo/${photo}/hide`, {method: 'POST'})
  await timeline.renew(photo)
  await renewConversation()
})})
const shares = new Map()
let isCut = false

// What the server renders

/** Runs one task at a time; of those that come meanwhile, one more. */
function once(task) {
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

const renewList = once(async () => {
  if (!rows) return
  const page = await part(main.dataset.view === 'list' ? location.pathname + location.search : '/')
  const fresh = by('list.rows', page)
  const own = main.dataset.name && fresh.querySelector(`a[href$="name=${CSS.escape(main.dataset.name)}"]`)
  if (own) own.setAttribute('aria-current', 'page')
  swap(rows, fresh)
  if (main.dataset.view === 'list') {
    const none = by('list.none')
    if (none) none.hidden = fresh.childElementCount > 0
  }
})

const renewConversation = once(async () => {
  if (timeline) take(await part(timeline.address))
})

/** Takes over all of a conversation's page but the composer's text. */
function take(page) {
  timeline.take(page)
  clearTimeout(take.timer)
  if (timeline.isWaiting) take.timer = setTimeout(renewConversation, 1000)
  banners(page)
  const [here, fresh] = [by('conversation.held', main), by('conversation.held', page)]
  if (here && !fresh) here.remove()
  if (fresh && !here) main.querySelector('h1').after(document.importNode(fresh, true))
  composer?.merge([...by('composer.tray', page)?.children ?? []], page.querySelector('[name="draft"]')?.value ?? '')
}

function banners(page) {
  for (const name of ['page.daemon', 'page.ledger']) {
    by(name, main)?.remove()
    const fresh = by(name, page)
    const place = main.querySelector('#timeline, .list')
    if (fresh && place) place.before(document.importNode(fresh, true))
  }
}

// Sending

function cut(isNow) {
  if (isNow === isCut) return
  isCut = isNow
  by('page.cut')?.remove()
  if (isCut) {
    const banner = make('div', {class: 'banner', role: 'status', test: 'page.cut'}, symbol('alert'),
      make('p', {}, 'The connection is cut. What you do here goes on by itself when it is back.'))
    main.querySelector('#timeline, .list')?.before(banner)
    probe()
  }
}

async function probe() {
  await line()
  if (isCut) fetch('/healthz').then(() => cut(false), probe)
}

const composer = form && timeline && new Composer(form, {
  cut,
  pending: (message, cancel) => timeline.wait(message, cancel),
  sent(page, message, request) {
    timeline.pictures.set(request, message.items.map(item => item.picture ?? item.preview))
    take(page)
  },
})

// Forms of messages and settings that stay on this page

document.addEventListener('submit', event => {
  const sent = event.target
  const path = new URL(sent.action, location.href).pathname
  const [, kind, name, act] = path.split('/')
  const isHere = timeline && (kind === 'request' || kind === 'photo' || path === '/conversation/prefs' && sent.matches('.ask'))
  if (!isHere || event.defaultPrevented) return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(sent, event.submitter))
  perform(sent, event.submitter, act, async () => {
    const answer = await ask(sent.getAttribute('action'), {method: 'POST', body})
    const text = await answer.text()
    if (kind === 'request' && text) say(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`)
    if (kind === 'photo') await timeline.renew(name)
    if (path === '/conversation/prefs') return sent.closest('dialog')?.close() ?? sent.remove()
    await renewConversation()
    if (act === 'reveal') sheet(parse(text))
  })
})

async function perform(sent, button, act, task) {
  const words = {cancel: 'Cancelling', retry: 'Trying again', delete: 'Deleting', fetch: 'Fetching'}
  const before = [...button?.childNodes ?? []]
  const message = sent.closest('.m')?.id
  if (button) {
    button.disabled = true
    if (words[act]) button.replaceChildren(words[act])
  }
  try {
    await task()
    cut(false)
  } catch (error) {
    if (!(error instanceof Problem)) cut(true)
    say(error instanceof Problem ? error.message : 'The connection is cut. Try again when it is back.', true)
  }
  if (button?.isConnected) {
    button.disabled = false
    button.replaceChildren(...before)
  }
  const here = message && document.getElementById(message)
  if (here && document.activeElement === document.body) here.querySelector('a, button')?.focus({preventScroll: true})
}

/** After the first reveal the server asks what becomes of later photos. */
function sheet(page) {
  const question = by('ask.form', page)
  if (!question || document.querySelector('dialog[open]')) return
  by('ask.form')?.remove()
  const close = make('button', {class: 'icon', label: 'Close', test: 'ask.close'}, symbol('close'))
  const dialog = make('dialog', {class: 'bottom', label: 'Hidden photos', test: 'ask.sheet'}, close,
    document.importNode(question, true))
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

document.addEventListener('click', event => {
  const link = event.target.closest('a[data-test="message.photo"]')
  if (!viewer || !link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  viewer.open(link)
})

// Keys

const shortcuts = [
  ['c', 'write a message', () => form?.elements.text.focus()],
  ['p', 'choose photos', () => form?.elements.photo.click()],
  ['/', 'filter conversations', () => by('list.filter')?.focus()],
  ['?', 'show this list', () => help()],
]
const others = [
  ['Ctrl Enter', 'send'], ['← →', 'move a photo of the tray; turn in the viewer'], ['Delete', 'remove a photo of the tray'],
  ['+ − 0', 'zoom in the viewer'], ['Esc', 'close'],
]

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  if (event.target.closest('input, textarea, select')) return
  const found = shortcuts.find(([key]) => key === event.key)
  if (!found) return
  event.preventDefault()
  found[2]()
})

function help() {
  const list = make('dl', {}, ...[...shortcuts, ...others].map(([key, word]) =>
    make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, word))))
  const close = make('button', {class: 'button', test: 'help.close'}, 'Close')
  const dialog = make('dialog', {class: 'help', label: 'Shortcuts', test: 'help.main'},
    make('h2', {}, 'Shortcuts'), list, close)
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

// Events

function tellTitle(waiting) {
  tellTitle.waiting = waiting ?? tellTitle.waiting ?? 0
  const known = [...shares].filter(([message]) => document.getElementById(message)).map(([, share]) => share)
  const percent = known.length ? ` ${Math.round(100 * known.reduce((sum, share) => sum + share, 0) / known.length)} %` : ''
  document.title = tellTitle.waiting ? `(${tellTitle.waiting} ↑${percent}) ${title}` : title
}

function hear(event) {
  switch (event.type) {
    case 'line': return cut(event.isCut)
    case 'queue': return tellTitle(event.waiting)
    case 'progress':
      shares.set(event.message, event.share)
      composer?.progress(event.message, event.share)
      if (timeline && !timeline.progress(event.message, event.share) && document.getElementById(event.message)) renewConversation()
      return tellTitle()
    case 'trouble':
      if (event.isDown !== Boolean(by('page.daemon'))) renewPage()
      return
    case 'reload': return renewPage()
    default:
      for (const id of event.ids) shares.delete(id)
      if (event.ids.includes('list')) renewList()
      if (event.ids.some(id => id !== 'list')) renewConversation()
  }
}


if (main) {
  if (rows) remember(rows)
  listen(main.dataset.view, hear)
}

function renewPage() {
  renewList()
  renewConversation()
}
