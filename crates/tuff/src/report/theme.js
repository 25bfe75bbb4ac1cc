// Colours: as the system has them, light or dark.
const THEMES = ['system', 'light', 'dark'];
function setTheme(name) {
  if (name === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', name);
  document.getElementById('theme').textContent = '◐ ' + name;
  state.theme = name;
  try { localStorage.setItem('tuff-theme', name); } catch (e) { /* A file may keep nothing. */ }
}
const nextTheme = () => { setTheme(THEMES[(THEMES.indexOf(state.theme) + 1) % 3]); render(); };
function startTheme() {
  let theme = 'system';
  try { theme = localStorage.getItem('tuff-theme') || 'system'; } catch (e) { /* As above. */ }
  setTheme(THEMES.includes(theme) ? theme : 'system');
  document.getElementById('theme').addEventListener('click', nextTheme);
}
