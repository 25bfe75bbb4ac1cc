// How many warps the jobs on the time line hold, by the model: steps over the part of it that is shown.
function occupancyChart(view, canvas) {
  const c = shown();
  const [g, width] = view.context(canvas, 74);
  const scale = (width - view.left) / (view.to - view.from);
  const most = c.occupancy.most || 1;
  const top = 14;
  const height = 52;
  g.fillStyle = token('--soft');
  g.fillRect(view.left, top, width - view.left, height);
  const events = [];
  view.jobs.forEach((j) => {
    const end = j[2] + j[3];
    const held = j.held || 0;
    if (!held || end < view.from || j[2] > view.to) return;
    events.push([j[2], held], [end, -held]);
  });
  events.sort((a, b) => a[0] - b[0]);
  let [held, at, area] = [0, view.from, 0];
  g.fillStyle = COLOURS.arithmetic;
  const step = (to) => {
    const [a, b] = [Math.max(at, view.from), Math.min(to, view.to)];
    if (b > a && held > 0) {
      const part = Math.min(1, held / most);
      area += part * (b - a);
      g.fillRect(view.left + (a - view.from) * scale, top + height * (1 - part), Math.max(0.4, (b - a) * scale), height * part);
    }
    at = to;
  };
  events.forEach(([t, d]) => { step(t); held += d; });
  step(view.to);
  g.font = '12px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.fillStyle = token('--ink');
  g.font = '600 12px system-ui, sans-serif';
  g.fillText('warps', 2, top + 12);
  g.font = '12px system-ui, sans-serif';
  g.fillStyle = token('--dim');
  g.fillText(number(most), 2, top + 28);
  const mean = share(area, view.to - view.from);
  g.fillText(percent(mean), 2, top + 43);
  g.strokeStyle = token('--line');
  g.strokeRect(view.left + 0.5, top + 0.5, width - view.left - 1, height - 1);
  canvas.dataset.mean = mean.toFixed(2);
  canvas.setAttribute('aria-label', `Warps that are held while they wait, by the model: ${percent(mean)} of ${number(most)} on average in the part that is shown`);
}
