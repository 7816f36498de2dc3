// Requests to the server, and event streams. A token, if required, is kept for this tab and sent in
// a header only.

import { dialog, h } from './dom.js';

const KEY = 'quorum-token';

/** An error response of the server. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.fields = problem.fields ?? [];
  }
}

export const hasToken = () => Boolean(token());

/** A value from this tab's storage; nothing if the browser has no storage. */
export const recalled = (key) => attempt(() => sessionStorage.getItem(key));

export const keep = (key, value) => attempt(() => sessionStorage.setItem(key, value));

function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

const token = () => recalled(KEY);

let asking;
let isDeclined = false;

/** Asks the user for the token, once for any number of requests. */
function askForToken(wasWrong) {
  asking ??= (async () => {
    const input = h('input', {
      type: 'password',
      name: 'token',
      required: true,
      autocomplete: 'off',
      autofocus: true,
    });
    const words = wasWrong ? 'The server does not know that token.' : 'This server wants to know who you are.';
    const answer = await dialog(
      'Token',
      h('p', {}, `${words} The token is kept in this tab only.`),
      h('label', {}, 'Token ', input),
      h('menu', {}, h('button.primary', { value: 'ok' }, 'Go on')),
    );
    if (answer === 'ok' && input.value) keep(KEY, input.value.trim());
    asking = undefined;
    isDeclined = answer !== 'ok';
    return answer === 'ok' && Boolean(input.value);
  })();
  return asking;
}

/** Sends a request; asks for the token if the server requires one. */
export async function ask(path, options = {}) {
  for (;;) {
    const held = token();
    const headers = { ...options.headers, ...(held && { Authorization: `Bearer ${held}` }) };
    const response = await reach(path, { ...options, headers });
    if (response.status !== 401 || isDeclined) return response;
    if (token() === held && !(await askForToken(Boolean(held)))) return response;
  }
}

/** Sends no credentials, so that the browser leaves asking for them to us. */
async function reach(path, options) {
  try {
    const response = await fetch(path, { ...options, credentials: 'omit', cache: 'no-store' });
    const theirs = Date.parse(response.headers.get('Date'));
    if (theirs) skew = Date.now() - theirs;
    return response;
  } catch {
    throw new Refused(0, { detail: 'The server does not answer.' });
  }
}

let skew = 0;

/** How far this machine's clock is ahead of the server's, which only reports whole seconds. */
export const ahead = () => (Math.abs(skew) < 2000 ? 0 : skew);

async function answered(response) {
  if (response.ok) return response.status === 204 ? null : response.json();
  if (response.status === 401) throw new Refused(401, { detail: 'A token is needed. Reload the page to give one.' });
  throw new Refused(response.status, await response.json().catch(() => ({})));
}

export const get = async (path) => answered(await ask(path));

/** All pages of a list, up to `pages` of them. */
export async function getAll(path, pages = 20) {
  const all = [];
  for (let next = path; next && pages > 0; pages -= 1) {
    const page = await ask(next);
    all.push(...(await answered(page)));
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return all;
}

export async function post(path, body = {}, headers = {}) {
  const json = { 'Content-Type': 'application/json', ...headers };
  return answered(await ask(path, { method: 'POST', headers: json, body: JSON.stringify(body) }));
}

export const remove = async (path) => answered(await ask(path, { method: 'DELETE' }));

/** Downloads a file: with a link, or through this page if a token must be sent. */
export function download(path, file) {
  return h('a', {
    href: path,
    download: file,
    on: {
      click: async (event) => {
        if (!hasToken()) return;
        event.preventDefault();
        const blob = await (await ask(path)).blob();
        const link = h('a', { href: URL.createObjectURL(blob), download: file });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      },
    },
  });
}

const SILENCE = 45000;

/**
 * Listens to a discussion after event `last` and reconnects whenever the connection breaks: every
 * fact once and in order. `hear(name, data)` receives facts and text deltas; `standing(word)`
 * receives live, lost, over or gone.
 */
export function listen(id, last, hear, standing) {
  const stop = new AbortController();
  const listening = { last, stop: () => stop.abort() };
  void follow(id, listening, hear, standing, stop.signal);
  return listening;
}

async function follow(id, listening, hear, standing, signal) {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const { epoch, last } = listening;
      const headers = { Accept: 'text/event-stream', 'Last-Event-ID': epoch ? `${epoch}-${last}` : String(last) };
      const response = await ask(`/api/discussions/${id}/events?view=all`, { headers, signal });
      if (response.status === 204) return standing('over');
      if (response.status === 404 || response.status === 400) return standing('gone');
      if (response.status === 401) return standing('closed');
      if (!response.ok) throw new Refused(response.status, {});
      failures = 0;
      standing('live');
      await read(response.body, (name, id, data) => take(listening, hear, name, id, data));
      // A stream ends when the discussion is over or the server closes: asking again shows which.
      await pause(100, signal);
    } catch {
      if (signal.aborted) return;
      standing('lost');
      await pause(Math.min(4000, 250 * 2 ** failures++), signal);
    }
  }
}

function take(listening, hear, name, id, data) {
  if (name === 'fact') {
    const [number, epoch] = id.split('-').reverse();
    // Facts may have been lost when a replica took over, so everything is read again.
    if (listening.epoch && listening.epoch !== epoch) return location.reload();
    listening.epoch = epoch;
    return next(listening, hear, Number(number), data);
  }
  hear(name, data);
}

function next(listening, hear, number, data) {
  if (number <= listening.last) return;
  // A missing event is requested again rather than skipped.
  if (number !== listening.last + 1) throw new Error(`event ${listening.last + 1} is missing`);
  listening.last = number;
  hear('fact', data);
}

/** Reads events from a stream. */
async function read(body, event) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      held += value;
      for (let end = held.indexOf('\n\n'); end >= 0; end = held.indexOf('\n\n')) {
        parse(held.slice(0, end), event);
        held = held.slice(end + 2);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parse(block, event) {
  let [name, id, data] = ['message', '', ''];
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) data += line.slice(6);
    else if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('id: ')) id = line.slice(4);
  }
  if (data) event(name, id, JSON.parse(data));
}

/** The server sends something every 15 seconds; if it does not, the connection is lost. */
function inTime(promise) {
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error('silence')), SILENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function pause(ms, signal) {
  return new Promise((done) => {
    setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
