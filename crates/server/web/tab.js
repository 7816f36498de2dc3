// The tab's title and icon. They say when somebody waits for the reader, who may be in another tab.

const USUAL = '/assets/icon.svg';
const WAITING = '/assets/icon-turn.svg';

let [title, isWaiting] = [document.title, false];

/** Names the tab. */
export function titled(text) {
  title = text;
  show();
}

/** Says whether it is the reader's turn. */
export function alerted(isTurn) {
  if (isTurn === isWaiting) return;
  isWaiting = isTurn;
  show();
  const icon = document.querySelector('link[rel=icon]');
  if (icon) icon.href = isTurn ? WAITING : USUAL;
}

function show() {
  document.title = isWaiting ? `● Your turn: ${title}` : title;
}
