// The page's script. Everything works without it; with it, pages live.

import {Composer} from './composer.js'
import {listen} from './live.js'
import {Problem, ask, by, make, once, parse, part, remember, renew, say, swap, symbol} from './parts.js'
import {Timeline} from './timeline.js'
import {line} from './upload.js'

const main = document.querySelector('main[data-view]')
const isList = main?.dataset.view === 'list'
const title = document.title
const rows = by('list.rows')
const form = by('composer.form')
const timeline = main?.dataset.name ? new Timeline(main) : null
/** The viewer is fetched when it is opened first. */
let viewer = null
const board = main && 'board' in main.dataset && new (await import('./board.js')).Board(main, () => renewList())
const shares = new Map()
let isCut = false

// Templates that the server renders

const renewList = once(async () => {
  if (!rows) return
  const page = await part(isList ? location.pathname + location.search : '/')
  const fresh = by('list.rows', page)
  const own = main.dataset.name && fresh.querySelector(`a[href$="name=${CSS.escape(main.dataset.name)}"]`)
  own?.setAttribute('aria-current', 'page')
  swap(rows, fresh)
  renew(by('page.foot'), by('page.foot', page))
  const none = by('list.none')
  if (none) none.hidden = fresh.childElementCount > 0
  if (isList) takeBanners(page)
  if (board) await board.take(page)
})

const renewConversation = once(async () => {
  if (!timeline) return
  let version, page
  do {
    version = composer?.version
    page = await part(timeline.address)
    // It may show the draft as it was before an own change.
  } while (composer?.version !== version)
  take(page)
})

/** The server tells of the newest messages. Older ones are asked for, if they are not final. */
const renewUnfinished = once(async () => timeline?.renew(group => group.list.querySelector('.st, .failed')))

async function renewMessage(name) {
  await timeline.renew(group => group.list.querySelector(`#${CSS.escape(name)}, [data-request="${CSS.escape(name)}"]`))
  await renewConversation()
}

/** Takes over all of a conversation's page. */
function take(page) {
  timeline.take(page)
  clearTimeout(take.timer)
  if (timeline.isWaiting) take.timer = setTimeout(renewConversation, 1000)
  takeBanners(page)
  const [here, fresh] = [by('conversation.held', main), by('conversation.held', page)]
  if (!fresh) here?.remove()
  else if (!here) main.querySelector('h1').after(document.importNode(fresh, true))
  composer?.merge([...by('composer.tray', page)?.children ?? []], page.querySelector('[name="draft"]')?.value ?? '',
    by('composer.text', page)?.value)
}

function takeBanners(page) {
  for (const name of ['page.daemon', 'page.storage', 'page.ledger']) {
    const [here, fresh] = [by(name, main), by(name, page)]
    if (here && fresh) renew(here, fresh)
    else if (fresh) place().before(document.importNode(fresh, true))
    else here?.remove()
  }
}

/** Banners stand before it. */
function place() { return main.querySelector('.scroll, .brandbar') }

// Sending

function cut(isNow) {
  if (isNow === isCut) return
  isCut = isNow
  by('page.cut')?.remove()
  if (isCut) {
    const banner = make('div', {class: 'banner', role: 'status', test: 'page.cut'}, symbol('alert'),
      make('p', {}, 'The connection is cut. What you do here goes on by itself when it is back.'))
    place().before(banner)
    probe()
  }
}

async function probe() {
  await line()
  if (isCut) ask('/healthz').then(() => cut(false), probe)
}

const composer = form && timeline && new Composer(form, {
  cut,
  settled: renewConversation,
  pending: (message, cancel) => timeline.wait(message, cancel),
  sent(page, message, request) {
    timeline.pictures.set(request, message.items.map(item => item.picture ?? item.preview))
    take(page)
    if (!main.dataset.view) say('It is on its way. This link does not show what was sent.')
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
    if (path === '/conversation/prefs') return sent.closest('dialog')?.close() ?? sent.remove()
    await renewMessage(name)
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
  if (!timeline || !by('photo.main') || !link || event.button || event.ctrlKey || event.metaKey || event.shiftKey
    || event.altKey) return
  event.preventDefault()
  view(link)
})

const hide = photo => perform(main, null, '', async () => {
  await ask(`/photo/${photo}/hide`, {method: 'POST'})
  await renewMessage(photo)
})

async function view(link) {
  try {
    viewer ??= import('./viewer.js').then(({begin}) => begin(timeline, {hide}))
    const opened = await viewer
    opened.open(link)
  } catch {
    viewer = null
    location.assign(link.href)
  }
}

// Keys

const shortcuts = {
  c: () => form?.elements.text.focus(),
  p: () => form?.elements.photos.click(),
  '/': () => by('list.filter')?.focus(),
  '?': () => by('help.main')?.showModal(),
}

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  if (!shortcuts[event.key] || event.target.closest('input, textarea, select')) return
  event.preventDefault()
  shortcuts[event.key]()
})

// Acts of a person count as use of the session. What the page asks for by itself does not.

let used = Date.now()

function use() {
  if (!main || Date.now() - used < 6e5) return
  used = Date.now()
  ask('/use', {method: 'POST'}).catch(() => {})
}

for (const act of ['pointerdown', 'keydown', 'wheel']) addEventListener(act, use, true)

// Events

function tellTitle(waiting) {
  tellTitle.waiting = waiting ?? tellTitle.waiting ?? 0
  const known = [...shares].filter(([message]) => document.getElementById(message)).map(([, share]) => share)
  const percent = known.length ? ` ${Math.round(100 * known.reduce((sum, share) => sum + share, 0) / known.length)} %` : ''
  document.title = tellTitle.waiting ? `(${tellTitle.waiting} ↑${percent}) ${title}` : title
}

function hear(event) {
  if (event.type === 'line') return cut(event.isCut)
  if (board) {
    if (board.isPaused) return
    renewList()
  }
  switch (event.type) {
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
      if (event.ids.some(id => id !== 'list')) renewConversation()
      if (event.ids.includes('list')) {
        renewList()
        renewUnfinished()
      }
  }
}

function renewPage() {
  renewList()
  renewConversation()
  timeline?.renew(() => true)
}

if (rows) remember(rows)
if (main?.dataset.view) listen(decodeURIComponent(main.dataset.view), hear)
