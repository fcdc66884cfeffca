// Events of the server. All tabs of a browser share one stream: the tab that holds a lock reads it, and tells the others.
// A visible tab holds a lock that is named like its view. Without such locks each visible tab has a stream.

const locks = navigator.locks
const channel = new BroadcastChannel('photospool')
const prefix = 'view '
const isVisible = () => document.visibilityState === 'visible'
let hear = () => {}
let stream = null
let views = []
let isLeading = false
let release = null

/** Calls `on({type, view, ids, ...})` for each event that concerns this tab, while it is visible. */
export function listen(view, on) {
  hear = event => isVisible() && (event.view ?? view) === view && on(event)
  channel.onmessage = ({data}) => data === 'views' ? check() : hear(data)
  const show = () => {
    if (!locks) return open(isVisible() ? [view] : [])
    if (isVisible() && !release) {
      locks.request(prefix + view, {mode: 'shared'}, () => new Promise(done => {
        release = done
        tell('views')
      })).then(() => tell('views'))
    } else if (!isVisible()) {
      release?.()
      release = null
    }
  }
  document.addEventListener('visibilitychange', () => {
    show()
    hear({type: 'reload'})
  })
  addEventListener('pagehide', () => channel.postMessage('views'))
  locks?.request('photospool leader', () => new Promise(() => {
    isLeading = true
    check()
  }))
  show()
}

function tell(message) {
  channel.postMessage(message)
  if (message === 'views') check()
  else hear(message)
}

async function check() {
  if (!isLeading) return
  const {held} = await locks.query()
  const names = new Set(held.map(lock => lock.name).filter(name => name.startsWith(prefix)))
  open([...names].map(name => name.slice(prefix.length)).sort())
}

function open(wanted) {
  if (stream && stream.readyState !== EventSource.CLOSED && wanted.join('\n') === views.join('\n')) return
  stream?.close()
  views = wanted
  stream = null
  if (!wanted.length) return
  const source = stream = new EventSource('/events?' + wanted.map(view => `view=${encodeURIComponent(view)}`).join('&'))
  source.onopen = () => tell({type: 'line', isCut: false})
  source.onerror = () => {
    // The browser tries again by itself after a cut, but not after a refusal.
    if (source.readyState !== EventSource.CLOSED) return tell({type: 'line', isCut: true})
    tell({type: 'reload'})
    setTimeout(() => source === stream && open(views), 5000)
  }
  const on = (type, read) => source.addEventListener(type, ({data}) => tell({type, ...read(data.split(' '))}))
  on('reload', () => ({}))
  on('trouble', ([isDown]) => ({isDown: isDown === '1'}))
  on('queue', ([waiting]) => ({waiting: Number(waiting)}))
  on('progress', ([message, share]) => ({message, share: Number(share)}))
  for (const type of ['changed', 'gone']) on(type, ([index, ...ids]) => ({view: wanted[index], ids}))
}
