// Runs before anything is painted, so that nobody who chose dark is shown light first.
'use strict';
try {
  const chosen = localStorage.getItem('quorum-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden; then the system's choice stands.
}
