// Runs before the first paint, so that a user who chose dark never sees a light page.
'use strict';
try {
  const chosen = localStorage.getItem('quorum-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden; then the system's preference applies.
}
