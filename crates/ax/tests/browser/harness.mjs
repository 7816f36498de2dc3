// A server in its own folder, and a browser that records everything a page must not do.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const { chromium } = await import(process.env.QUORUM_DRIVER);
const FOLDER = process.env.QUORUM_FOLDER;
export const SCREENSHOTS = process.env.QUORUM_SCREENSHOTS;
export { assert };

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/** The limit for any wait in a scenario; longer means that it hangs. */
const TIMEOUT = 30000;

const freePort = () =>
  new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

/** The environment of a server that can ask no model: without keys and programs. */
export const nobody = () => ({ PATH: FOLDER, HOME: FOLDER });

/** Runs `ax serve --offline`, or with other flags, on a port that it keeps over restarts. */
export async function house(config, { flags = ['--offline'], env = process.env } = {}) {
  const port = await freePort();
  writeFileSync(join(FOLDER, 'config.toml'), config);
  mkdirSync(join(FOLDER, 'data'), { recursive: true });
  const it = { base: `http://127.0.0.1:${port}`, child: null, start, kill, post, get };
  it.env = { ...env, AX_CONFIG: join(FOLDER, 'config.toml'), AX_DATA_DIR: join(FOLDER, 'data') };

  function start() {
    it.child = spawn(process.env.QUORUM_AX, ['serve', ...flags, '--port', String(port)], {
      env: it.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return new Promise((done, refuse) => {
      it.child.stderr.on('data', (text) => {
        if (String(text).includes('Listening')) done();
      });
      it.child.once('exit', (code) => refuse(new Error(`ax serve ended with ${code}`)));
    });
  }
  function kill() {
    const gone = new Promise((done) => it.child.once('exit', done));
    it.child.kill('SIGKILL');
    return gone;
  }
  async function post(path, body, headers = {}) {
    const response = await fetch(it.base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${path}: ${response.status} ${response.ok ? '' : await response.text()}`);
    return response.status === 204 ? null : response.json();
  }
  async function get(path) {
    return (await fetch(it.base + path)).text();
  }
  await start();
  return it;
}

/** The server's recorded facts, read from its event stream. */
export async function record(server, id) {
  const text = await server.get(`/api/discussions/${id}/events?view=facts`);
  return text
    .split('\n\n')
    .filter((block) => block.includes('event: fact'))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)[1]));
}

export const EVENTS = '**/events?view=all';

/** Gives a page this record in place of the server's. */
export function tell(page, facts) {
  const body = facts.map((it) => `event: fact\nid: ${it.seq}\ndata: ${JSON.stringify(it)}\n\n`).join('');
  return page.route(EVENTS, (route) => {
    const isNew = route.request().headers()['last-event-id'] === '0';
    return route.fulfill(isNew ? { contentType: 'text/event-stream', body } : { status: 204 });
  });
}

/** Chooses a pattern by its card. */
export async function choosePattern(page, name) {
  await page.waitForSelector(`input[name=pattern][value="${name}"]`, { state: 'attached' });
  if (!(await page.evaluate(() => document.querySelector('.patterns').open))) await page.click('.patterns summary');
  await page.click(`.pattern:has(input[value="${name}"])`);
}

/** Adds seats to the panel of the form. */
export async function addSeats(page, ...seats) {
  for (const it of seats) await page.click(`.pill[value="${it}"]`);
}

/** A page that records dialogs, foreign requests, reports and errors. */
export async function visitor(browser, base, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
    baseURL: base,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT);
  page.wrong = [];
  page.on('dialog', (dialog) => {
    page.wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`) && !request.url().startsWith('blob:'))
      page.wrong.push(`request: ${request.url()}`);
  });
  page.on('pageerror', (error) => page.wrong.push(`error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|Trusted Type/i.test(message.text()))
      page.wrong.push(`report: ${message.text()}`);
  });
  await context.addInitScript(() => {
    globalThis.reports = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      globalThis.reports.push(`${event.effectiveDirective} ${event.blockedURI}`),
    );
  });
  return page;
}

/** Runs a scenario, ends server and browser, and checks that no page had an error. */
export async function scenario(config, play, how) {
  const server = await house(config, how);
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
  const pages = [];
  const open = async (options) => {
    const page = await visitor(browser, server.base, options);
    pages.push(page);
    return page;
  };
  let code = 0;
  try {
    await play(server, open);
    for (const page of pages) assert.deepEqual(page.wrong, []);
  } catch (error) {
    console.log(error.stack);
    for (const page of pages) console.log(page.url(), page.wrong);
    code = 1;
  }
  await browser.close();
  server.child.removeAllListeners('exit');
  server.child.kill('SIGKILL');
  process.exit(code);
}

export const share = (list, part) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];

/** The foreign content on a page; evaluated in the page. */
export const strange = () =>
  [
    ...document.querySelectorAll(
      '#app :is(script, iframe, object, embed, style, link, base, meta, video, audio, form[action], svg image), #app img:not([src="/assets/icon.svg"])',
    ),
  ]
    .map((it) => it.outerHTML.slice(0, 200))
    .concat(
      [...document.querySelectorAll('*')].flatMap((it) =>
        [...it.attributes]
          .filter(
            ({ name }) =>
              /^on|^srcdoc$|^style$/.test(name) && !(name === 'style' && !/url|import/i.test(it.style.cssText)),
          )
          .map(({ name, value }) => `${name}=${value}`),
      ),
      [...document.querySelectorAll('a[href]')]
        .filter((it) => !['http:', 'https:', 'blob:'].includes(it.protocol))
        .map((it) => it.href),
    );
