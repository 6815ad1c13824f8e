'use strict';
// The charts, as specifications for Vega. What they show has been counted and grouped before; colours are variables of the style sheet, so
// that light, dark and paper need no drawing again.

const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif';
const INK = 'var(--ink)', QUIET = 'var(--quiet)', LINE = 'var(--line)', PAPER = 'var(--paper)';
const SERIES = Array.from({ length: 8 }, (_, i) => `var(--series-${i})`);
const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down', 'triangle-right'];
const STEPS = Array.from({ length: 7 }, (_, i) => `var(--step-${i})`), ON_STEPS = Array.from({ length: 7 }, (_, i) => `var(--on-step-${i})`);
const STEP_ENDS = [1.02, 1.05, 1.1, 1.25, 1.5, 2]; // times as long as the best

const VEGA_CONFIG = {
    aria: false,
    text: { font: FONT, fontSize: 12, fill: INK },
    axis: { labelFont: FONT, titleFont: FONT, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', labelColor: QUIET, titleColor: INK,
            gridColor: LINE, domainColor: QUIET, tickColor: QUIET, tickSize: 4, titlePadding: 8 },
    legend: { labelFont: FONT, titleFont: FONT, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', labelColor: INK, titleColor: INK,
              orient: 'bottom', direction: 'horizontal', offset: 8, labelLimit: 240, columnPadding: 16 },
};

const spec = (width, height, rest) => ({ width, height, padding: 2, autosize: { type: 'fit-x', contains: 'padding' }, ...rest });
const horizontal = (title, more) => ({ orient: 'bottom', scale: 'x', title, grid: true, domain: false, labelOverlap: 'greedy', ...more });
// The title lies above the axis, where it can be read.
const vertical = (title, more) => ({ orient: 'left', scale: 'y', title, grid: true, domain: false, ticks: false, titleAngle: 0, titleAlign: 'left',
                                     titleAnchor: 'end', titleX: 0, titleY: -14, titleBaseline: 'bottom', labelOverlap: 'greedy', ...more });
const mark = (type, values, enter, more) => ({ type, from: { data: values }, encode: { enter }, ...more });
const value = v => ({ value: v }), on = (scale, field) => ({ scale, field });
const tooltip = { tooltip: { field: 'tip' } };

// 1, 2 and 5 of each power of ten between two numbers, or as many of them as can be read.
function ticks(low, high, most = 7) {
    const all = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
        for (const d of [1, 2, 5])
            all.push(Number(`${d}e${e}`));
    const inside = all.filter(t => t >= low * 0.999 && t <= high * 1.001);
    if (inside.length < 3) { // so narrow a range has even steps
        const step = [1, 2, 5, 10].map(d => d * 10 ** Math.floor(Math.log10((high - low) / most))).find(s => (high - low) / s <= most);
        const first = Math.ceil(low / step);
        return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
    }
    if (inside.length <= most)
        return inside;
    const tens = inside.filter(t => /^10*$/.test(String(t)) || /^0\.0*1$/.test(String(t)) || /^1e/.test(String(t)));
    const step = Math.ceil(tens.length / most);
    return tens.filter((_, i) => i % step === 0);
}

// A logarithmic scale around what is given, and its axis' ticks.
function logScale(name, range, numbers, margin = 1.15, most = 7, span = 1) {
    let low = lowest(numbers) / margin, high = Math.max(0, highest(numbers)) * margin;
    const wider = Math.max(1, Math.sqrt(span * low / high)); // no less than so many times from end to end
    low = Math.max(low / wider, 1e-300); // whatever a file says
    high = Math.min(high * wider, 1e300);
    return { scale: { name, type: 'log', domain: [low, high], range, nice: false, zero: false },
             axis: { values: ticks(low, high, most), format: ',.5~r' } };
}

const few = width => width < 520 ? 4 : 7;
const columns = (width, each = 150) => Math.max(1, Math.floor(width / each));
const unitFor = times => timeUnit(Math.exp(times.reduce((s, t) => s + Math.log(t), 0) / times.length));

const seriesScales = names => [
    { name: 'colour', type: 'ordinal', domain: names, range: SERIES },
    { name: 'shape', type: 'ordinal', domain: names, range: SHAPES },
];
const seriesLegend = (names, width, title) => names.length < 2 ? [] : [{ fill: 'colour', shape: 'shape', title, columns: columns(width, Math.max(150, 30 + 7 * highest(names.map(n => n.length)))), symbolSize: 70 }];
const points = (values, x = 'x', y = 'y') => mark('symbol', values, {
    x: on('x', x), y: on('y', y), fill: on('colour', 'series'), shape: on('shape', 'series'), size: value(64), stroke: value(PAPER),
    strokeWidth: value(1), cursor: value('pointer'), ...tooltip,
}, { name: 'points' });

// Speeds over sizes or intensities: points { x, y, series, tip, run }, copies { x, y, tip }, roofs [{ from, to, text }] of two ends each.
function speeds({ winners, copies, roofs, names, xTitle, yTitle }, width) {
    const x = logScale('x', 'width', [...winners, ...copies].map(p => p.x), 1.6, few(width), 20);
    const [left, right] = x.scale.domain;
    // A roof is drawn from edge to edge: level, or rising with the intensity.
    const lines = roofs.flatMap((r, i) => [left, right].map(at => ({ roof: i, x: at, y: r.level ?? r.slope * at, text: r.text })));
    const rising = roofs.some(r => r.slope), inView = roofs.filter(r => r.level).map(r => rising ? r.level * 3 : r.level);
    const y = logScale('y', 'height', [...winners, ...copies].map(p => p.y).concat(inView), 1.5, 7, 20);
    const [bottom, top] = y.scale.domain;
    // A label lies where no point can be: above what is level, left of where what rises leaves the chart.
    const labels = roofs.filter(r => r.text).map(r => r.level ? { x: rising ? left : right, y: r.level, text: r.text, align: rising ? 'left' : 'right', dy: -5 } :
        { x: Math.min(right, top / r.slope), y: Math.min(top, r.slope * right), text: r.text, align: 'right', dy: 10 })
        .filter(l => l.y >= bottom && l.x >= left);
    return spec(width, 300, {
        data: [{ name: 'winners', values: winners }, { name: 'copies', values: copies }, { name: 'roofs', values: lines }, { name: 'labels', values: labels }],
        scales: [x.scale, y.scale, ...seriesScales(names)],
        axes: [horizontal(xTitle, x.axis), vertical(yTitle, y.axis)],
        legends: seriesLegend(names, width),
        marks: [
            { type: 'group', encode: { enter: { width: { signal: 'width' }, height: { signal: 'height' }, clip: value(true) } }, marks: [
                { type: 'group', from: { facet: { name: 'roof', data: 'roofs', groupby: 'roof' } }, marks: [
                    mark('line', 'roof', { x: on('x', 'x'), y: on('y', 'y'), stroke: value(QUIET), strokeDash: value([5, 3]), strokeWidth: value(1.2) })] },
                mark('symbol', 'copies', { x: on('x', 'x'), y: on('y', 'y'), shape: value('stroke'), size: value(240), stroke: value(QUIET), strokeWidth: value(2), ...tooltip })] },
            points('winners'),
            mark('text', 'labels', { x: on('x', 'x'), y: on('y', 'y'), text: { field: 'text' }, align: { field: 'align' }, dx: { signal: "datum.dy > 0 ? -26 : datum.align === 'right' ? -6 : 6" },
                                     dy: { field: 'dy' }, fill: value(QUIET), limit: { signal: 'width' } })],
    });
}

// One row for each problem, a point for each winner: { row, x, series, tip, low, high }, and a line where nothing is gained or lost.
function rowsOfPoints({ rows, values, names, title, at, log, legend, format }, width) {
    const numbers = values.flatMap(v => [v.x, v.low ?? v.x, v.high ?? v.x]).concat(at);
    const x = log ? logScale('x', 'width', numbers, 1.08, few(width)) :
        { scale: { name: 'x', type: 'linear', domain: [0, highest(numbers) * 1.05], range: 'width' }, axis: { tickCount: few(width), format } };
    const limit = Math.round(width * (width < 520 ? 0.55 : 0.45));
    const two = rows.some(row => 8 * row.length > limit), start = "regexp('^(.{9,}?,)(?=.{6,})')"; // long names on two lines
    return spec(width, rows.length * (two ? 32 : 20), {
        data: [{ name: 'values', values }, { name: 'at', values: [{ at }] }],
        scales: [x.scale, { name: 'y', type: 'point', domain: rows, range: 'height', padding: 0.5 }, ...(legend ?? seriesScales(names))],
        axes: [horizontal(title, x.axis), {
            orient: 'left', scale: 'y', domain: false, ticks: false, grid: true, labelLimit: limit, labelColor: INK, labelPadding: 6,
            encode: two ? { labels: { update: { text: { signal: `split(replace(datum.value, ${start}, '$1\\n'), '\\n')` },
                                                dy: { signal: `test(${start}, datum.value) ? -6 : 0` } } } } : {},
        }],
        legends: seriesLegend(names, width * 0.6),
        marks: [
            mark('rule', 'at', { x: on('x', 'at'), y: value(0), y2: { signal: 'height' }, stroke: value(QUIET), strokeDash: value([5, 3]) }),
            mark('rule', 'values', { x: { signal: "scale('x', isValid(datum.low) ? datum.low : datum.x)" }, x2: { signal: "scale('x', isValid(datum.high) ? datum.high : datum.x)" },
                                     y: on('y', 'row'), stroke: on('colour', 'series'), strokeWidth: value(2), opacity: value(0.6) }),
            points('values', 'x', 'row')],
    });
}

// How many configurations took how long: bins { from, to, low, high, kind, tip } and rules { at, text }.
const KINDS = ['timed in full', 'given up as slower', 'stale'];
function distribution({ bins, rules, unit, most }, width) {
    const x = logScale('x', 'width', bins.flatMap(b => [b.from, b.to]).concat(rules.map(r => r.at)), 1.05, few(width));
    const names = KINDS.filter(k => bins.some(b => b.kind === k));
    return spec(width, 220, {
        data: [{ name: 'bins', values: bins }, { name: 'rules', values: rules.map((r, i) => ({ ...r, dy: 10 + 15 * i })) }],
        scales: [x.scale, { name: 'y', type: 'linear', domain: [0, most * 1.15], range: 'height' },
                 { name: 'colour', type: 'ordinal', domain: KINDS, range: [SERIES[0], 'var(--pale)', 'var(--stale)'] },
                 { name: 'legend', type: 'ordinal', domain: names, range: names.map(n => [SERIES[0], 'var(--pale)', 'var(--stale)'][KINDS.indexOf(n)]) }],
        axes: [horizontal(`time, ${unit}`, x.axis), vertical('configurations', { tickCount: 5, format: ',d', tickMinStep: 1 })],
        legends: names.length > 1 ? [{ fill: 'legend', symbolType: 'square', columns: columns(width, 170) }] : [],
        marks: [
            mark('rect', 'bins', { x: on('x', 'from'), x2: on('x', 'to'), y: on('y', 'low'), y2: on('y', 'high'), fill: on('colour', 'kind'), stroke: value(PAPER),
                                   strokeWidth: value(0.5), ...tooltip }),
            mark('rule', 'rules', { x: on('x', 'at'), y: value(0), y2: { signal: 'height' }, stroke: value(INK), strokeDash: { field: 'dash' } }),
            mark('text', 'rules', { x: on('x', 'at'), y: { field: 'dy' }, text: { field: 'text' }, align: { signal: "scale('x', datum.at) > width * 0.6 ? 'right' : 'left'" },
                                    dx: { signal: "scale('x', datum.at) > width * 0.6 ? -4 : 4" }, stroke: value(PAPER), strokeWidth: value(4), strokeJoin: value('round') }),
            mark('text', 'rules', { x: on('x', 'at'), y: { field: 'dy' }, text: { field: 'text' }, align: { signal: "scale('x', datum.at) > width * 0.6 ? 'right' : 'left'" },
                                    dx: { signal: "scale('x', datum.at) > width * 0.6 ? -4 : 4" } })],
    });
}

// The best so far as steps over the tries; `many` says that a point stands for several tries.
function searchCourse({ tries, steps, end, unit, xTitle, many }, width) {
    const y = logScale('y', 'height', tries.map(t => t.y), 1.1);
    const line = [...steps, { x: end, y: steps.at(-1).y }];
    return spec(width, 220, {
        data: [{ name: 'tries', values: tries }, { name: 'line', values: line }, { name: 'steps', values: steps }],
        scales: [{ name: 'x', type: 'linear', domain: [0, Math.max(end, 1)], range: 'width', nice: true }, y.scale],
        axes: [horizontal(xTitle, { tickCount: few(width), format: ',d', tickMinStep: 1 }), vertical(`time, ${unit}`, y.axis)],
        marks: [
            mark('symbol', 'tries', { x: on('x', 'x'), y: on('y', 'y'), size: value(many ? 9 : 16), fill: value(QUIET), opacity: value(many ? 0.4 : 0.55), ...tooltip }),
            mark('line', 'line', { x: on('x', 'x'), y: on('y', 'y'), stroke: value(SERIES[0]), strokeWidth: value(2), interpolate: value('step-after') }),
            mark('symbol', 'steps', { x: on('x', 'x'), y: on('y', 'y'), size: value(36), fill: value(SERIES[0]), stroke: value(PAPER), ...tooltip })],
    });
}

// The spread of times for each value of one parameter, on the scale of all of them: rows { label, min, q1, median, q3, max, count, tip }.
function spread({ rows, low, high, unit }, width) {
    const x = logScale('x', 'width', [low, high], 1.06, 4);
    const timedRows = rows.filter(r => r.median);
    return spec(width, rows.length * 24, {
        data: [{ name: 'rows', values: rows }, { name: 'timed', values: timedRows }],
        scales: [x.scale, { name: 'y', type: 'band', domain: rows.map(r => r.label), range: 'height', padding: 0.3 }],
        axes: [horizontal(`time, ${unit}`, x.axis),
               { orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelLimit: Math.round(width * 0.35), labelPadding: 6 },
               { orient: 'right', scale: 'y', domain: false, ticks: false, labelPadding: 6,
                 encode: { labels: { update: { text: { signal: "data('rows')[indexof(domain('y'), datum.value)].count" } } } } }],
        marks: [
            mark('rule', 'timed', { x: on('x', 'min'), x2: on('x', 'max'), y: { scale: 'y', field: 'label', band: 0.5 }, stroke: value(QUIET), ...tooltip }),
            mark('rect', 'timed', { x: on('x', 'q1'), x2: on('x', 'q3'), y: on('y', 'label'), height: { scale: 'y', band: 1 }, fill: value(SERIES[0]), fillOpacity: value(0.35),
                                    stroke: value(SERIES[0]), cornerRadius: value(2), ...tooltip }),
            mark('rule', 'timed', { x: on('x', 'median'), y: on('y', 'label'), y2: { scale: 'y', field: 'label', band: 1 }, stroke: value(INK), strokeWidth: value(2), ...tooltip }),
            mark('symbol', 'timed', { x: on('x', 'min'), y: { scale: 'y', field: 'label', band: 0.5 }, fill: value(SERIES[0]), size: value(40), stroke: value(PAPER), ...tooltip })],
    });
}

// The best time of each pair of values: cells { x, y, ratio, text, tip }; ratio null: none was timed.
function heat({ cells: values, xs, ys, xName, yName }, width) {
    const timedCells = values.filter(c => c.ratio !== null), others = values.filter(c => c.ratio === null);
    const at = { x: on('x', 'x'), width: { scale: 'x', band: 1 }, y: on('y', 'y'), height: { scale: 'y', band: 1 } };
    const middle = { x: { scale: 'x', field: 'x', band: 0.5 }, y: { scale: 'y', field: 'y', band: 0.5 }, align: value('center'), baseline: value('middle'), fontSize: value(11) };
    const words = STEP_ENDS.map((end, i) => i ? `${STEP_ENDS[i - 1]} to ${end}` : `up to ${end}`).concat(`over ${STEP_ENDS.at(-1)}`);
    return spec(width, Math.max(2, ys.length) * 34, {
        data: [{ name: 'cells', values: timedCells }, { name: 'others', values: others }],
        scales: [{ name: 'x', type: 'band', domain: xs, range: 'width', padding: 0.04 }, { name: 'y', type: 'band', domain: ys, range: 'height', padding: 0.06 },
                 { name: 'colour', type: 'threshold', domain: STEP_ENDS, range: STEPS }, { name: 'ink', type: 'threshold', domain: STEP_ENDS, range: ON_STEPS },
                 { name: 'legend', type: 'ordinal', domain: words, range: STEPS }],
        axes: [{ orient: 'bottom', scale: 'x', title: xName, domain: false, ticks: false, labelColor: INK, labelOverlap: 'greedy' },
               vertical(yName, { grid: false, labelColor: INK, labelLimit: Math.round(width * 0.25) })],
        legends: [{ fill: 'legend', symbolType: 'square', title: 'times as long as the best', columns: columns(width, 100), symbolSize: 140, symbolStrokeWidth: 0 }],
        marks: [
            mark('rect', 'others', { ...at, fill: value('transparent'), stroke: value(LINE), strokeDash: value([3, 2]), ...tooltip }),
            mark('text', 'others', { ...middle, text: value('×'), fill: value(QUIET) }, { interactive: false }),
            mark('rect', 'cells', { ...at, fill: on('colour', 'ratio'), ...tooltip }),
            mark('text', 'cells', { ...middle, text: { field: 'text' }, fill: on('ink', 'ratio'), limit: { scale: 'x', band: 1 } }, { interactive: false })],
    });
}

// All samples of a few configurations: samples { row, x }, and of each { row, text, median, low, high, tip }.
function strips({ samples, of, unit }, width) {
    const numbers = samples.map(s => s.x).concat(of.flatMap(o => [o.low, o.high]));
    const low = lowest(numbers), high = highest(numbers), margin = (high - low) * 0.04 || low * 0.05;
    const y = (band, dy = 0) => ({ scale: 'y', field: 'row', band, offset: dy });
    return spec(width, of.length * 46, {
        data: [{ name: 'samples', values: samples }, { name: 'of', values: of }],
        scales: [{ name: 'x', type: 'linear', domain: [low - margin, high + margin], range: 'width', zero: false },
                 { name: 'y', type: 'band', domain: of.map(o => o.row), range: 'height' },
                 { name: 'colour', type: 'ordinal', domain: ['winner', 'tie', 'other'], range: [SERIES[0], SERIES[1], QUIET] }],
        axes: [horizontal(`time, ${unit}`, { tickCount: few(width), format: ',.6~r' }), { orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelPadding: 6 }],
        marks: [
            mark('text', 'of', { x: value(2), y: y(0, 12), text: { field: 'text' }, fill: value(QUIET), fontSize: value(11), limit: { signal: 'width' } }),
            mark('rect', 'of', { x: on('x', 'low'), x2: { signal: "max(scale('x', datum.high), scale('x', datum.low) + 1)" }, y: y(0, 17), y2: y(0, 39),
                                 fill: on('colour', 'series'), fillOpacity: value(0.25), ...tooltip }),
            mark('rule', 'samples', { x: on('x', 'x'), y: y(0, 21), y2: y(0, 35), stroke: on('colour', 'series'), strokeOpacity: value(0.55), ...tooltip }),
            mark('rule', 'of', { x: on('x', 'median'), y: y(0, 17), y2: y(0, 39), stroke: value(INK), strokeWidth: value(2), ...tooltip })],
    });
}

// The winner's samples as they were taken, its median and the interval of that.
function drift({ samples, median, low, high, unit }, width) {
    const numbers = samples.map(s => s.y).concat(low, high), bottom = lowest(numbers), top = highest(numbers), margin = (top - bottom) * 0.1 || bottom * 0.05;
    return spec(width, 180, {
        data: [{ name: 'samples', values: samples }, { name: 'of', values: [{ median, low, high }] }],
        scales: [{ name: 'x', type: 'linear', domain: [0, samples.at(-1).x + 1], range: 'width' },
                 { name: 'y', type: 'linear', domain: [bottom - margin, top + margin], range: 'height', zero: false }],
        axes: [horizontal('sample, in the order of time', { tickCount: few(width), format: 'd', tickMinStep: 1 }), vertical(`time, ${unit}`, { tickCount: 5, format: ',.6~r' })],
        marks: [
            mark('rect', 'of', { x: value(0), x2: { signal: 'width' }, y: on('y', 'high'), y2: on('y', 'low'), fill: value(SERIES[0]), fillOpacity: value(0.18) }),
            mark('rule', 'of', { x: value(0), x2: { signal: 'width' }, y: on('y', 'median'), stroke: value(SERIES[0]), strokeWidth: value(1.5) }),
            mark('symbol', 'samples', { x: on('x', 'x'), y: on('y', 'y'), fill: value(SERIES[0]), size: value(30), stroke: value(PAPER), ...tooltip })],
    });
}

// How rows ended: bars { row, outcome, from, to, tip }.
function endings({ rows, bars, names }, width) {
    return spec(width, rows.length * 22, {
        data: [{ name: 'bars', values: bars }],
        scales: [{ name: 'x', type: 'linear', domain: { data: 'bars', field: 'to' }, range: 'width', nice: true },
                 { name: 'y', type: 'band', domain: rows, range: 'height', padding: 0.22 },
                 { name: 'colour', type: 'ordinal', domain: names, range: names.map(n => `var(--outcome-${n})`) }],
        axes: [horizontal('configurations', { tickCount: few(width), format: ',d', tickMinStep: 1 }),
               { orient: 'left', scale: 'y', domain: false, ticks: false, labelColor: INK, labelLimit: Math.round(width * 0.4), labelPadding: 6 }],
        legends: [{ fill: 'colour', symbolType: 'square', columns: columns(width, 120), symbolSize: 110 }],
        marks: [mark('rect', 'bars', { x: on('x', 'from'), x2: on('x', 'to'), y: on('y', 'row'), height: { scale: 'y', band: 1 }, fill: on('colour', 'outcome'), ...tooltip })],
    });
}
