// Put into a report by the test: clicks through every view, and leaves what it read in <pre id="read">.
const read = { errors: window.pageErrors, opened: performance.now(), width: innerWidth };
try {
  document.body.getBoundingClientRect();
  read.opened = performance.now();
  const $ = (s) => document.querySelector(s);
  const $$ = (s) => [...document.querySelectorAll(s)];
  const text = (s) => ($(s) ? $(s).textContent : null);
  const key = (target, k) => target.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));
  const choose = (select, value) => { select.value = value; select.dispatchEvent(new Event('change', { bubbles: true })); };
  const type = (input, value) => { input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })); };
  const rows = () => $$('#rows tbody tr').map((r) => [Number(r.dataset.row), ...[...r.children].map((c) => c.textContent)]);
  const heads = () => $$('#rows thead th').map((h) => h.textContent);
  // How wide a view wants to be: more than the window is a fault.
  const wide = [];
  const fits = (view) => wide.push([view, document.documentElement.scrollWidth]);
  // How many colours a canvas has.
  const colours = (canvas) => {
    const d = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(d).size;
  };
  read.tabs = $$('#tabs button').map((b) => b.id);
  read.cards = $$('#cards .card').map((c) => c.textContent);
  // Width and height in the header of a PNG; the browser may not have decoded it yet.
  const sizeOf = (png) => { const b = atob(png.split(',')[1].slice(0, 44)); const at = (i) => b.charCodeAt(i) * 256 + b.charCodeAt(i + 1); return [at(18), at(22)]; };
  read.figures = $$('.figure').map((f) => ({
    title: f.querySelector('h2').textContent,
    picture: sizeOf(f.querySelector('img').src),
    rows: [...f.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent)),
  }));
  read.first = $('#first') ? { title: text('#first h2'), items: $$('#first li').map((l) => l.textContent), buttons: $$('#first button').map((b) => b.textContent) } : null;
  if ($('#the-whole')) {
    $('#the-whole').click();
    read.whole = rows().length;
    $('#tab-overview').click();
    $$('.time-note').forEach((a) => a.click());
  }
  read.times = $$('#what-time-is dt').map((t) => t.textContent);
  read.words = $$('#in-words li').length;
  read.dearest = $$('#dearest tbody tr').map((r) => r.textContent);
  fits('overview');

  // The table by its tab, all counters as columns.
  $('#tab-table').click();
  $('#columns').open = true;
  $('#columns').dispatchEvent(new Event('toggle'));
  $$('#columns input[type="checkbox"]').forEach((b) => { if (!b.checked) b.click(); });
  read.heads = heads();
  read.workloads = rows();
  read.foot = $$('#rows tfoot td').map((c) => c.textContent);
  const sortBy = (name) => $$('#rows thead button').find((b) => b.textContent === name).click();
  sortBy('Times');
  read.byTimes = rows().map((r) => r[0]);
  sortBy('Times');
  read.byTimesUp = rows().map((r) => r[0]);
  const search = () => $('#filter');
  type(search(), 'dispatch');
  read.dispatches = rows().map((r) => r[0]);
  type(search(), '-dispatch');
  read.others = rows().map((r) => r[0]);
  type(search(), '');
  key($('#rows tbody tr'), 'Enter');
  read.detail = text('#row-detail');
  fits('table');
  // A data graph's operators.
  const graph = rows().find((r) => r[1].includes('data graph'));
  if (graph) {
    const row = $(`#rows tr[data-row="${graph[0]}"]`);
    if (row.getAttribute('aria-selected') !== 'true') key(row, 'Enter');
    const cells = (table) => $$(`${table} tbody tr`).map((r) => [...r.children].map((c) => c.textContent));
    read.operators = cells('#operators');
    read.nodes = cells('#nodes');
    fits('operators');
  }
  const table = (name) => $$('.tools button').find((b) => b.textContent.startsWith(name)).click();
  table('runs');
  read.runs = rows().length;
  read.runNote = $$('.note').map((n) => n.textContent).join(' ');
  const has = (name) => $$('.tools button').some((b) => b.textContent.startsWith(name));
  if (has('frames')) {
    table('frames');
    read.frames = rows();
  }
  // Draws of a pass, by the button of its workload; the dearest first.
  if (has('draws')) {
    table('draws');
    read.draws = rows().length;
    table('workloads');
    const passes = rows().filter((r) => r[1].includes('render pass')).map((r) => r[0]);
    key($(`#rows tr[data-row="${Math.max(...passes)}"]`), 'Enter');
    $$('#row-detail button').find((b) => /^Its .* draws?$/.test(b.textContent)).click();
    read.drawFilter = search().value;
    read.drawHeads = heads();
    read.passDraws = rows();
    read.drawNote = $$('.note').map((n) => n.textContent).join(' ');
    key($('#rows tbody tr'), 'Enter');
    read.drawDetail = text('#row-detail');
    fits('draws');
    type(search(), '');
  }

  // The time line by the keyboard: its number, then its own keys.
  if ($('#tab-timeline')) {
    key(document.body, '3');
    read.view = $('#views > div').id;
    const lanes = $('#lanes');
    read.window = [text('#window')];
    read.drawn = Number(lanes.dataset.drawn);
    read.laneColours = colours(lanes);
    key(lanes, 'n');
    read.job = text('#job-detail');
    key(lanes, 'n');
    read.nextJob = text('#job-detail');
    // A range from this job's begin to its end, and of everything.
    key(lanes, '[');
    key(lanes, ']');
    read.rangeOfJob = [text('#range-detail h2'), text('#range-time')];
    const line = views.find((v) => v.key === 'timeline');
    line.setRange(line.begin, line.end);
    line.tell();
    read.range = { time: text('#range-time'), rows: $$('#range-rows tbody tr').map((r) => [...r.children].map((c) => [c.textContent, c.className])) };
    fits('range');
    key(lanes, 'Escape');
    read.dropped = text('#range-detail');
    read.warps = $('#warps') ? Number($('#warps').dataset.mean) : null;
    key(lanes, '+');
    key(lanes, '+');
    read.window.push(text('#window'));
    lanes.dispatchEvent(new WheelEvent('wheel', { deltaY: -400, clientX: 300, clientY: 100, cancelable: true }));
    read.window.push(text('#window'));
    key(lanes, 'Home');
    read.window.push(text('#window'));
    fits('timeline');
  }

  // Every counter of every pass.
  if ($('#tab-regions')) {
    $('#tab-regions').click();
    read.passes = [...$('#pass').options].map((o) => {
      choose($('#pass'), o.value);
      if (!$('#counter')) return null;
      const counters = [...$('#counter').options].map((c) => {
        choose($('#counter'), c.value);
        const first = text('#region');
        key($('#map'), 'ArrowRight');
        const second = text('#region');
        key($('#map'), 'ArrowLeft');
        return [c.textContent, text('#most'), first, second];
      });
      return { pass: Number(o.value), counters, hottest: text('#hottest tbody td'), colours: colours($('#map')) };
    });
    fits('regions');
  }

  if ($('#tab-shaders')) {
    $('#tab-shaders').click();
    // Bars with their titles; a zoom into the last, and back.
    const flame = () => {
      const bars = () => $$('.flame button').map((x) => [Number(x.dataset.level), x.title]);
      const all = bars();
      if (!all.length) return null;
      const last = $$('.flame button')[all.length - 1];
      last.click();
      const zoomed = bars().length;
      $('.flame button.above').click();
      return { all, zoomed, back: bars().length };
    };
    read.shaders = $$('#shader-list button').map((b, i) => {
      $$('#shader-list button')[i].click();
      const blocks = $$('#blocks tbody tr').map((r) => [Number(r.dataset.block), ...[...r.children].map((c) => c.textContent)]);
      const first = $('#blocks tbody tr');
      if (first) first.click();
      return { name: b.firstChild.textContent, heat: b.querySelector('small').textContent, flame: flame(), stalls: $$('#line-stalls tbody tr').map((r) => [Number(r.dataset.line), ...[...r.children].map((c) => c.textContent)]), blocks, code: $$('#code tbody tr').length, here: $$('#code .here').length, lines: $('#code').getAttribute('aria-label') === 'Source' ? $$('#code tbody tr').map((r) => [r.children[0].textContent, r.children[3].textContent]).filter((l) => l[0]) : [] };
    });
    fits('shaders');
  }

  if ($('#tab-structures')) {
    $('#tab-structures').click();
    const cells = (r) => [...r.children].map((c) => c.textContent);
    const list = () => $$('#structures tbody tr').map((r) => Number(r.dataset.structure));
    read.structureHeads = $$('#structures thead th').map((h) => h.textContent);
    read.structures = list().sort((a, b) => a - b).map((i) => {
      $(`#structures tr[data-structure="${i}"]`).click();
      return { at: i, cells: cells($(`#structures tr[data-structure="${i}"]`)), detail: text('#structure-detail dl'), traces: $$('#structure-traces tbody tr').map(cells) };
    });
    const sort = (name) => { $$('#structures thead button').find((b) => b.textContent === name).click(); return list(); };
    read.structuresBy = { Bytes: sort('Bytes'), Primitives: sort('Primitives') };
    key($('#structures tbody tr'), 'Enter');
    key($('#structures tbody tr'), 'ArrowDown');
    read.structureDown = Number(document.activeElement.dataset.structure);
    fits('structures');
  }

  if ($('#tab-advice')) {
    $('#tab-advice').click();
    $$('.advice details').forEach((d) => { d.open = true; });
    read.advice = $$('.advice').map((a) => [a.querySelector('h2').textContent, a.textContent]);
    fits('advice');
    // A draw or pass leads to the table.
    const link = $('.advice a[href="#table"]');
    if (link) {
      link.click();
      read.led = $('#views > div').id;
    }
  }

  if ($('#tab-compare')) {
    $('#tab-compare').click();
    const compared = (id) => $$(`#${id} tbody tr`).map((r) => [...r.children].map((c) => [c.textContent, c.className]));
    read.totals = compared('totals');
    read.compared = compared('compare-workloads');
    read.counters = compared('compare-counters');
    read.comparedShaders = compared('compare-shaders');
    read.lines = $$('#compare-lines tbody tr').map((r) => [r.className, ...[...r.children].map((c) => c.textContent)]);
    fits('compare');
    // The other capture, by its key.
    const before = text('#title');
    key(document.body, 'c');
    read.titles = [before, text('#title')];
  }

  // Colours: the switch goes through system, light, dark.
  read.themes = [1, 2, 3].map(() => { $('#theme').click(); return [document.documentElement.dataset.theme || '', getComputedStyle(document.body).backgroundColor]; });
  // Arrows among tabs; only the chosen one is in the tab order.
  $('#tabs [aria-selected="true"]').focus();
  key(document.activeElement, 'Home');
  key(document.activeElement, 'ArrowRight');
  read.arrow = document.activeElement.id;
  read.reachable = $$('#tabs button[tabindex="0"]').length;
  read.unnamed = $$('button, input, select').filter((e) => !(e.textContent || e.getAttribute('aria-label') || e.title || e.closest('label'))).length;
  read.wide = wide;
} catch (e) {
  read.errors.push(String(e.stack));
}
const pre = document.createElement('pre');
pre.id = 'read';
pre.textContent = JSON.stringify(read);
(window.parent === window ? document : window.parent.document).body.append(pre);
