// The page: tabs, which capture is shown, colours, keys.
const KEYS = [['1 to 8', 'views'], ['/', 'filter'], ['d', 'colours'], ['c', 'the other capture'], ['← → + − Home', 'pan and zoom the time line'], ['n p', 'next, previous job'], ['[ ]', 'begin, end of a range of the time line'], ['arrows', 'regions of a heat map, rows of a table'], ['?', 'this list']];
const tabs = document.getElementById('tabs');
const main = document.getElementById('views');
const available = () => views.filter((v) => !v.when || v.when(shown()));

function render() {
  const c = shown();
  document.getElementById('title').textContent = c.name;
  document.getElementById('gpu').textContent = `${c.gpu}, ${c.model.clock_mhz} MHz`;
  const which = document.getElementById('which');
  fill(which, captures.length > 1 ? captures.map((x, i) => [pressed(x.name, i === state.capture, () => { state.capture = i; render(); }, i ? 'What was before' : 'What is now'), ' ']) : null);
  const list = available();
  if (!list.some((v) => v.key === state.view)) state.view = 'overview';
  fill(tabs, list.map((v, i) => el('button', {
    type: 'button', role: 'tab', id: 'tab-' + v.key, 'aria-controls': 'view-' + v.key, 'aria-selected': String(v.key === state.view), tabindex: v.key === state.view ? 0 : -1,
    onclick: () => go(v.key),
  }, v.title, el('span', { class: 'n', 'aria-hidden': 'true' }, ' ' + (i + 1)))));
  // Where the tabs have no room, the chosen one is in view.
  const chosen = document.getElementById('tab-' + state.view);
  tabs.scrollLeft = Math.max(0, chosen.offsetLeft + chosen.offsetWidth - tabs.clientWidth);
  const view = views.find((v) => v.key === state.view);
  const panel = el('div', { role: 'tabpanel', id: 'view-' + view.key, 'aria-labelledby': 'tab-' + view.key });
  fill(main, panel);
  view.render(panel);
}

// Shows a view; `to` says what of it.
function go(key, to) {
  const view = available().find((v) => v.key === key);
  if (!view) return;
  state.view = key;
  if (to && view.arrive) view.arrive(to);
  render();
  document.getElementById('tab-' + key).focus({ preventScroll: true });
  try { history.replaceState(null, '', '#' + key); } catch (e) { /* A page in a frame has no history. */ }
  window.scrollTo(0, 0);
}

tabs.addEventListener('keydown', (e) => {
  const list = available();
  const at = list.findIndex((v) => v.key === state.view);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[e.key];
  if (to === undefined) return;
  e.preventDefault();
  go(list[(to + list.length) % list.length].key);
});
const help = document.getElementById('help');
const keys = document.getElementById('keys');
fill(keys, KEYS.flatMap(([k, what]) => [el('kbd', {}, k), ' ' + what + '   ']));
const toggleKeys = () => { keys.hidden = !keys.hidden; help.setAttribute('aria-expanded', String(!keys.hidden)); };
help.addEventListener('click', toggleKeys);
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) {
    if (e.key === 'Escape' && e.target.blur) e.target.blur();
    return;
  }
  const list = available();
  if (/^[1-9]$/.test(e.key) && list[Number(e.key) - 1]) go(list[Number(e.key) - 1].key);
  else if (e.key === '/') { const f = main.querySelector('input[type="search"]'); if (f) { e.preventDefault(); f.focus(); } }
  else if (e.key === 'd') nextTheme();
  else if (e.key === 'c' && captures.length > 1) { state.capture = 1 - state.capture; render(); }
  else if (e.key === '?') toggleKeys();
});
let resized = 0;
window.addEventListener('resize', () => {
  cancelAnimationFrame(resized);
  resized = requestAnimationFrame(() => { const v = views.find((x) => x.key === state.view); if (v.canvas && v.canvas.isConnected) v.draw(); });
});
startTheme();
if (views.some((v) => '#' + v.key === location.hash)) state.view = location.hash.slice(1);
render();
