// Asking the server, and listening to it. The token, where one is needed, is kept for this tab and sent in a header only.

import { dialog, h } from './dom.js';

const KEY = 'quorum-token';

/** What the server said no to, with what it said. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.fields = problem.fields ?? [];
  }
}

export const hasToken = () => Boolean(token());

/** What is kept for this tab; nothing, where the browser keeps nothing. */
export const recalled = (key) => attempt(() => sessionStorage.getItem(key));

export const keep = (key, value) => attempt(() => sessionStorage.setItem(key, value));

function attempt(deed) {
  try {
    return deed();
  } catch {
    return null;
  }
}

const token = () => recalled(KEY);

let asking;
let isDeclined = false;

/** Asks for the token, once however many requests need it. */
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

/** One request; asks for the token where the server wants one. */
export async function ask(path, options = {}) {
  for (;;) {
    const held = token();
    const headers = { ...options.headers, ...(held && { Authorization: `Bearer ${held}` }) };
    const response = await reach(path, { ...options, headers });
    if (response.status !== 401 || isDeclined) return response;
    if (token() === held && !(await askForToken(Boolean(held)))) return response;
  }
}

/** Without credentials of its own the browser leaves the asking to us. */
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

/** How far this machine's clock is ahead of the server's, which tells whole seconds only. */
export const ahead = () => (Math.abs(skew) < 2000 ? 0 : skew);

async function answered(response) {
  if (response.ok) return response.status === 204 ? null : response.json();
  if (response.status === 401) throw new Refused(401, { detail: 'A token is needed. Reload the page to give one.' });
  throw new Refused(response.status, await response.json().catch(() => ({})));
}

export const get = async (path) => answered(await ask(path));

export async function post(path, body = {}, headers = {}) {
  const json = { 'Content-Type': 'application/json', ...headers };
  return answered(await ask(path, { method: 'POST', headers: json, body: JSON.stringify(body) }));
}

/** A file, by a link where that works and through this page where a token must go with it. */
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
 * Listens to a discussion from after `last` on, however often the connection breaks: every fact once and in order.
 * `hear(name, data)` is given facts and pieces of text; `standing(word)` says live, lost, over or gone.
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
      const headers = { Accept: 'text/event-stream', 'Last-Event-ID': String(listening.last) };
      const response = await ask(`/api/discussions/${id}/events?view=all`, { headers, signal });
      if (response.status === 204) return standing('over');
      if (response.status === 404 || response.status === 400) return standing('gone');
      if (response.status === 401) return standing('closed');
      if (!response.ok) throw new Refused(response.status, {});
      failures = 0;
      standing('live');
      await read(response.body, (name, number, data) => take(listening, hear, name, number, data));
      // A stream that ends is over, or its server closes: asking again tells which.
      await pause(100, signal);
    } catch {
      if (signal.aborted) return;
      standing('lost');
      await pause(Math.min(4000, 250 * 2 ** failures++), signal);
    }
  }
}

function take(listening, hear, name, number, data) {
  if (name === 'fact') {
    if (number <= listening.last) return;
    // What is missing is asked for anew rather than passed over.
    if (number !== listening.last + 1) throw new Error(`event ${listening.last + 1} is missing`);
    listening.last = number;
  }
  hear(name, data);
}

/** Reads events off a stream. */
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
  let [name, number, data] = ['message', NaN, ''];
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) data += line.slice(6);
    else if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('id: ')) number = Number(line.slice(4));
  }
  if (data) event(name, number, JSON.parse(data));
}

/** A server says something every 15 seconds; one that does not is gone. */
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
