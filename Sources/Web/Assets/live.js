// Events of the server. All tabs of a browser share one stream: the tab that holds a lock reads it, and tells the others.
// A visible tab holds a lock that is named like its view. Without such locks each visible tab has a stream.

const locks = navigator.locks
const channel = new BroadcastChannel('photospool')
const prefix = 'view '
let hear = () => {}
let stream = null
let views = []
let isLeading = false
let release = null

/** Calls `on({type, view, ids, ...})` for each event that concerns this tab, while it is visible. */
export function listen(view, on) {
  hear = event => {
    if (document.visibilityState === 'visible' && (event.view === undefined || event.view === view)) on(event)
  }
  channel.onmessage = ({data}) => data === 'views' ? check() : hear(data)
  if (!locks) {
    const look = () => open(document.visibilityState === 'visible' ? [view] : [])
    document.addEventListener('visibilitychange', look)
    return look()
  }
  locks.request('photospool leader', () => new Promise(() => {
    isLeading = true
    check()
  }))
  const show = () => {
    const isVisible = document.visibilityState === 'visible'
    if (isVisible && !release) {
      locks.request(prefix + view, {mode: 'shared'}, () => new Promise(done => {
        release = done
        tell('views')
      }))
    } else if (!isVisible && release) {
      release()
      release = null
      setTimeout(() => tell('views'), 50)
    }
    if (isVisible) on({type: 'reload'})
  }
  document.addEventListener('visibilitychange', show)
  addEventListener('pagehide', () => channel.postMessage('views'))
  if (document.visibilityState === 'visible') {
    locks.request(prefix + view, {mode: 'shared'}, () => new Promise(done => {
      release = done
      tell('views')
    }))
  }
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
  const source = new EventSource('/events?' + wanted.map(view => `view=${encodeURIComponent(view)}`).join('&'))
  stream = source
  source.onopen = () => tell({type: 'line', isCut: false})
  source.onerror = () => {
    tell({type: 'line', isCut: true})
    // A refusal ends it; the browser tries again by itself after a cut.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => source === stream && open(views), 3000)
  }
  const on = (type, read) => source.addEventListener(type, ({data}) => tell({type, ...read(data.split(' '))}))
  on('reload', () => ({}))
  on('trouble', ([isDown]) => ({isDown: isDown === '1'}))
  on('queue', ([waiting, failed]) => ({waiting: Number(waiting), failed: Number(failed)}))
  on('progress', ([message, share]) => ({message, share: Number(share)}))
  for (const type of ['changed', 'gone']) on(type, ([index, ...ids]) => ({view: wanted[index], ids}))
}
