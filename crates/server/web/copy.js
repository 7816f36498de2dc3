// Buttons that copy a text.

import { h, notice } from './dom.js';

/** A button that copies the text which `read` returns. */
export function copier(read, what = 'Copy') {
  const button = h('button.link.copy', { type: 'button', on: { click: () => void take() } }, what);
  async function take() {
    if (!(await copied(read()))) return notice('The browser does not let this page copy.', 'error');
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = what), 1500);
  }
  return button;
}

/** Browsers offer their clipboard to pages of this machine and of https only; others get a way round. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.body.appendChild(h('textarea.unseen', { value: text, 'aria-hidden': 'true', tabIndex: -1 }));
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}
