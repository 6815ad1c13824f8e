'use strict';
// The part on one problem: the distribution of its times, the course of the search, how stable the best are, what each parameter does.

let detail = null;                         // the run that is looked at closely
let byTime = false, heatBy = 'best';       // chosen by the reader
let chosenVariant = null, heatPair = null; // likewise, of the op of that run

function setDetail(run) {
    detail = run;
    chosenVariant = heatPair = null;
}

function problemPart(chosen) {
    const known = measuredRuns(chosen);
    if (!known.some(r => r.n))
        return part('problem', 'One problem', note('No measurements of these problems are in the database, only winners.'));
    if (!known.includes(detail))
        setDetail(known.reduce((a, b) => (b.n - b.staleRows) > (a.n - a.staleRows) ? b : a));
    const run = detail, rows = timed(run), again = () => replacePart('problem', () => problemPart(chosenRuns()));
    const options = known.map(r => ({ value: r.index, text: `${runText(r)}: ${whole(r.n)} tried` })).sort((p, q) => inOrder(p.text, q.text));
    const picked = select('Problem', options, run.index, index => { setDetail(runs[index]); again(); document.querySelector('#problem select')?.focus(); });
    const w = run.winner, content = [el('div', { class: 'controls' }, picked)];
    if (w)
        content.push(el('p', {}, 'Winner: ', el('code', {}, breakable(kernelText(w.variant, w.config))), `, ${timeText(w.time)}`,
                        w.stats ? ` (95% interval ${timeText(w.stats.low)} to ${timeText(w.stats.high)}, ${plural(w.stats.n, 'sample')})` : '',
                        share(w) !== null ? `, ${percent(share(w))} of a copy` : ', no copy to compare', w.objective && w.objective !== 'time' ? `, chosen by ${w.objective}` : '', '.', flagsOf(w)));
    if (run.staleRows)
        content.push(el('p', { class: 'note' }, `${plural(run.staleRows, 'row')} of ${whole(run.n)} ${run.staleRows === 1 ? 'is' : 'are'} stale: the op or its template has changed since. The distribution shows them apart; all else leaves them out.`));
    if (!run.n)
        content.push(note('Of this problem only the winner is in the database, nothing of what was tried.'));
    else if (!rows.length)
        content.push(missing('distribution', 'Times', 'Nothing of this problem was timed in full and is still current.'));
    else {
        content.push(el('div', { class: 'charts' }, distributionChart(run, rows), courseChart(run, again), ...stabilityCharts(run)));
        content.push(...parameterCharts(run, again));
    }
    if (run.n)
        content.push(measurementsTable(run));
    return part('problem', 'One problem', ...content);
}

function distributionChart(run, rows) {
    const w = run.winner, best = fastest(run, rows), kinds = [[], [], []];
    for (let i = 0; i < run.n; i++)
        if (run.time(i) > 0 && (run.outcome(i) === OK || run.outcome(i) === SLOWER))
            kinds[run.stale(i) ? 2 : run.outcome(i) === OK ? 0 : 1].push(run.time(i));
    const sorted = rows.map(i => run.time(i)).sort((a, b) => a - b), low = lowest(kinds.flat()), high = highest(kinds.flat());
    const n = Math.max(6, Math.min(40, Math.ceil(Math.sqrt(kinds.flat().length) * 1.5))), [scale, unit] = timeUnit(Math.sqrt(low * high));
    const step = Math.max(Math.log(high / low) / n, 1e-3), counts = kinds.map(() => new Array(n).fill(0));
    kinds.forEach((times, k) => times.forEach(t => counts[k][Math.min(n - 1, Math.floor(Math.log(t / low) / step))]++));
    const bins = [];
    let tallest = 0;
    for (let b = 0; b < n; b++) {
        let from = 0;
        counts.forEach((of, k) => {
            if (!of[b])
                return;
            const ends = [low * Math.exp(b * step), low * Math.exp((b + 1) * step)];
            bins.push({ from: ends[0] / scale, to: ends[1] / scale, low: from, high: from += of[b], kind: KINDS[k], count: of[b], tip: `${timeText(ends[0])} to ${timeText(ends[1])}\n${plural(of[b], 'configuration')} ${KINDS[k]}` });
        });
        tallest = Math.max(tallest, from);
    }
    const copyNear = w && w.copy > low / 30 && w.copy < high * 30;
    const within = sorted.filter(t => t <= 1.1 * sorted[0]).length;
    return chart({
        id: 'distribution', title: 'Distribution of times',
        says: `${plural(rows.length, 'configuration')} timed in full: the best ${timeText(run.time(best))}, the median ${timeText(quantile(sorted, 0.5))}, the slowest ${timeText(sorted.at(-1))}; ${whole(within)} within 10% of the best.` +
            (kinds[1].length ? ` ${whole(kinds[1].length)} more were given up as slower: theirs is the time of one launch, a lower bound.` : ''),
        spec: width => distribution({ bins, unit, most: tallest, rules: [w && { at: w.time / scale, text: `winner ${timeText(w.time)}`, dash: [1, 0] }, copyNear && { at: w.copy / scale, text: `copy ${timeText(w.copy)}`, dash: [4, 3] }].filter(Boolean) }, width),
        table: () => table('Configurations by time', [timeColumn('from', b => b.from * scale), timeColumn('to', b => b.to * scale), textColumn('kind', b => b.kind), numberColumn('configurations', b => b.count, whole)], bins, 100),
    });
}

const MOST_POINTS = 1500;

function courseChart(run, again) {
    const { tries, steps, end } = course(run, byTime), [scale, unit] = unitFor(tries.map(t => t.time));
    let shown = tries, many = false;
    if (tries.length > MOST_POINTS) { // one point for all tries that would lie on each other
        const seen = new Map(), times = tries.map(t => t.time), low = Math.log(lowest(times)), high = Math.log(highest(times));
        for (const t of tries)
            seen.set(Math.floor(t.x / end * 120) * 100 + Math.floor((Math.log(t.time) - low) / (high - low || 1) * 50), t);
        shown = [...seen.values()];
        many = true;
    }
    const point = t => ({ x: t.x, y: t.time / scale, tip: `${byTime ? `after ${whole(t.x)} s` : `try ${whole(t.x)}`}: ${timeText(t.time)}\n${rowText(run, t.row)}` });
    const near = steps.find(s => s.time <= 1.05 * steps.at(-1).time);
    return chart({
        id: 'course', title: 'Course of the search',
        says: `${plural(tries.length, 'configuration')} timed, the best so far as a line. Within 5% of its best ${byTime ? `after ${whole(near.x)} of ${whole(end)} s` : `at try ${whole(near.x)} of ${whole(end)}`}.`,
        controls: el('div', { class: 'controls' }, select('Over', [{ value: 'tries', text: 'tries' }, { value: 'time', text: 'time' }], byTime ? 'time' : 'tries', v => { byTime = v === 'time'; again(); document.querySelector('#course select')?.focus(); })),
        spec: width => searchCourse({ tries: shown.map(point), steps: steps.map(point), end, unit, many, xTitle: byTime ? 'since the first result, s' : 'configurations tried' }, width),
        notes: [byTime ? 'By the second in which each result was stored. What was measured again, as in the play-off, has its later time; pauses between runs are part of it.' : 'In the order in which the results were first stored; a result that was measured again has its last time.'],
        table: () => table('Steps of the best so far', [numberColumn(byTime ? 'after, s' : 'try', s => s.x, whole), timeColumn('best so far', s => s.time), configColumn('configuration', s => rowText(run, s.row))], steps, 100),
    });
}

const MOST_SAMPLES = 500;
const thinned = n => n > MOST_SAMPLES ? ` (${MOST_SAMPLES} of up to ${whole(n)}, evenly chosen)` : '';

function stabilityCharts(run) {
    const w = run.winner, ties = new Set(w?.ties ?? []), sampled = samplesOf(run), order = [...sampled.keys()].sort((a, b) => run.time(a) - run.time(b));
    if (!order.length)
        return [missing('stability', 'Stability', 'No samples of this problem are in the database.')];
    const first = w && sampled.has(w.row) ? [w.row] : [], rest = order.filter(r => r !== first[0]), shown = [...first, ...rest].slice(0, 6);
    const name = row => row === first[0] ? 'winner' : `no. ${shown.indexOf(row) + 1}`, series = row => row === first[0] ? 'winner' : ties.has(row) ? 'tie' : 'other';
    const [scale, unit] = timeUnit(run.time(shown[0]));
    const of = shown.map(row => {
        const [low, high] = interval(run, row);
        return { row: name(row), index: row, series: series(row), median: run.time(row) / scale, low: low / scale, high: high / scale, text: `${rowText(run, row)}${ties.has(row) ? ' (a tie)' : ''}`,
                 tip: `${rowText(run, row)}\nmedian ${timeText(run.time(row))}, 95% interval ${timeText(low)} to ${timeText(high)}\n${plural(sampled.get(row).length, 'sample')}` };
    });
    const edge = 1.5 * highest(of.map(o => o.high)), beyond = shown.flatMap(row => sampled.get(row)).filter(ns => ns / scale > edge).length;
    const samples = shown.flatMap(row => evenly([...sampled.get(row)].sort((a, b) => a - b), MOST_SAMPLES).map(ns => ({ row: name(row), series: series(row), x: Math.min(edge, ns / scale), tip: `${name(row)}: ${timeText(ns)}` })));
    const charts = [chart({
        id: 'stability', title: 'Stability: samples of the best', height: of.length * 46 + 50,
        says: w && w.row >= 0 ? `The winner's median is ${timeText(w.stats.median)}, its 95% interval ${timeText(w.stats.low)} to ${timeText(w.stats.high)}. ${ties.size ? `${plural(ties.size, 'other configuration')} cannot be told apart from it.` : 'No other configuration ties with it.'}` : 'The winner\'s own measurement is not in the database; these are the fastest that are.',
        spec: width => strips({ samples, of, unit }, width),
        notes: [`Thin lines are samples${thinned(highest(shown.map(row => sampled.get(row).length)))}, the thick one is the median, the band its 95% interval. Ties are orange.${beyond ? ` At the right edge: ${plural(beyond, 'sample')} of more than ${timeText(edge * scale)}.` : ''}`],
        table: () => table('Medians and intervals', [textColumn('place', o => o.row), configColumn('configuration', o => o.text), timeColumn('median', o => o.median * scale), timeColumn('low', o => o.low * scale), timeColumn('high', o => o.high * scale),
                                                     numberColumn('samples', o => sampled.get(o.index).length, whole)], of),
    })];
    const row = shown[0], taken = sampled.get(row);
    if (taken.length > 1) {
        const [low, high] = interval(run, row), sorted = [...taken].sort((a, b) => a - b);
        charts.push(chart({
            id: 'drift', title: `Samples of the ${first.length ? 'winner' : 'fastest'} as they were taken`, height: 230,
            says: `${plural(taken.length, 'sample')} between ${timeText(sorted[0])} and ${timeText(sorted.at(-1))}; a drift or a step would show here${thinned(taken.length)}.`,
            spec: width => drift({ samples: evenly(taken.map((ns, i) => ({ x: i + 1, y: ns / scale, tip: `sample ${i + 1}: ${timeText(ns)}` })), MOST_SAMPLES), median: run.time(row) / scale, low: low / scale, high: high / scale, unit }, width),
            table: () => table('Samples', [numberColumn('sample', s => s.i, whole), timeColumn('time', s => s.ns)], taken.map((ns, i) => ({ i: i + 1, ns })), 50),
        }));
    }
    return charts;
}

function spreadChart(id, run, m, bounds) {
    const [scale, unit] = timeUnit(Math.sqrt(bounds[0] * bounds[1]));
    const rows = m.groups.map(g => ({ label: String(g.value), count: `${g.ok}/${g.ok + g.slower + g.failed}`, ...Object.fromEntries(['min', 'q1', 'median', 'q3', 'max'].map(k => [k, g.times.length ? g[k] / scale : null])),
        tip: `${m.name} = ${g.value}\n` + (g.times.length ? `best ${timeText(g.min)}, median ${timeText(g.median)}, half from ${timeText(g.q1)} to ${timeText(g.q3)}\n` : '') + `${g.ok} timed in full, ${g.slower} given up as slower, ${g.failed} failed` }));
    const bestGroup = m.groups.filter(g => g.times.length).reduce((a, b) => !a || b.min < a.min ? b : a, null);
    return chart({
        id, title: id === 'by-variant' ? 'Variant' : m.name, height: rows.length * 24 + 44,
        says: m.groups.length < 2 ? `Only ${m.groups[0].value} was tried.` : `${m.explained === null ? `${plural(m.n, 'time')}: too few to tell how much it explains` : `Explains ${percent(m.explained)} of the spread`}${bestGroup ? `; the best time is with ${bestGroup.value}` : ''}.`,
        spec: width => spread({ rows, low: bounds[0] / scale, high: bounds[1] / scale, unit }, width),
        table: () => table(`Times by ${m.name}`, [textColumn(m.name, g => g.value), timeColumn('best', g => g.min), timeColumn('median', g => g.median), numberColumn('timed in full', g => g.ok, whole),
                                                  numberColumn('given up as slower', g => g.slower, whole), numberColumn('failed', g => g.failed, whole)], m.groups, 70),
    });
}

function parameterCharts(run, again) {
    const variants = run.op.variants, count_ = v => run.counts[v][OK];
    const tried = variants.map((_, v) => v).filter(v => run.counts[v].some(n => n));
    if (chosenVariant === null || !tried.includes(chosenVariant)) {
        const winners = variants.findIndex(v => v.name === run.winner?.variant);
        chosenVariant = winners >= 0 && count_(winners) > 1 ? winners : tried.reduce((a, b) => count_(b) > count_(a) ? b : a);
    }
    const bounds = rows => [lowest, highest].map(of => of(rows.map(i => run.time(i))));
    const all = timed(run), own = all.filter(i => run.variant(i) === chosenVariant), name = variants[chosenVariant].name;
    const content = [el('h3', { class: 'title' }, 'What each parameter does'),
                     note('For each value: the best time (dot), the median (line), the middle half (box) and all that was timed in full (thin line); right, how many of those tried were timed in full. What was given up as slower or failed has no time here: if that is most of a value, the value is slower than its box looks. "Explains" is the share of the variance of log time that lies between the values, less what luck would give.')];
    if (tried.length > 1)
        content.push(el('div', { class: 'small' }, spreadChart('by-variant', run, variantMarginal(run), bounds(all))));
    content.push(el('div', { class: 'controls' }, select('Variant', tried.map(v => ({ value: v, text: `${variants[v].name}: ${whole(count_(v))} timed` })), chosenVariant,
                                                         v => { chosenVariant = Number(v); heatPair = null; again(); document.querySelector('#variant select, #parameters select')?.focus(); })));
    content.at(-1).id = 'variant';
    if (!own.length)
        return [...content, missing('heat', 'Two parameters', `Nothing of ${name} was timed in full.`)];
    const each = marginals(run, chosenVariant), several = each.filter(m => m.groups.length > 1), fixed = each.filter(m => m.groups.length < 2);
    content.push(el('div', { class: 'small', id: 'parameters' }, several.map((m, i) => spreadChart(`parameter-${i}`, run, m, bounds(own)))));
    if (fixed.length)
        content.push(note(`With one value only: ${fixed.map(m => `${m.name}=${m.groups[0].value}`).join(', ')}.`));
    content.push(el('div', { class: 'charts' }, heatChart(run, several, own, again)));
    return content;
}

function heatChart(run, several, own, again) {
    const title = 'Two parameters together';
    if (several.length < 2)
        return missing('heat', title, `${run.op.variants[chosenVariant].name} has fewer than two parameters with more than one value tried.`);
    heatPair ??= [several[0].j, several[1].j];
    const [a, b] = heatPair, of = j => several.find(m => m.j === j), found = cells(run, chosenVariant, a, b), best = run.time(fastest(run, own));
    const values = found.map(c => {
        const time = c[heatBy];
        return { x: String(c.x), y: String(c.y), time, tried: c.tried, timed: c.times.length, ratio: time === null ? null : time / best, text: time === null ? '' : (time / best).toFixed(2),
                 tip: `${of(a).name}=${c.x}, ${of(b).name}=${c.y}\n${time === null ? 'none timed in full' : `${heatBy} ${timeText(time)}, ${(time / best).toFixed(3)} times as long as the best`}\n${c.times.length} of ${c.tried} timed in full` };
    });
    const pick = (i, label) => select(label, several.map(m => ({ value: m.j, text: m.name })), heatPair[i], j => {
        const other = heatPair[1 - i];
        heatPair[1 - i] = Number(j) === other ? heatPair[i] : other;
        heatPair[i] = Number(j);
        again();
        document.querySelectorAll('#heat select')[i]?.focus();
    });
    const least = values.filter(v => v.ratio !== null).reduce((p, q) => !p || q.ratio < p.ratio ? q : p, null);
    return chart({
        id: 'heat', title, height: of(b).groups.length * 34 + 110,
        says: `The ${heatBy} time for each pair of ${of(a).name} and ${of(b).name} of ${run.op.variants[chosenVariant].name}, relative to its best, ${timeText(best)}. ${least ? `It lies at ${of(a).name}=${least.x}, ${of(b).name}=${least.y}.` : 'None that has both was timed in full.'}${several[1].explained !== null && several[0].j === a && several[1].j === b ? ' These two explain most.' : ''}`,
        controls: el('div', { class: 'controls' }, pick(0, 'Across'), pick(1, 'Down'), select('Time', [{ value: 'best', text: 'the best' }, { value: 'median', text: 'the median' }], heatBy, v => { heatBy = v; again(); document.querySelectorAll('#heat select')[2]?.focus(); })),
        spec: width => heat({ cells: values, xs: of(a).groups.map(g => String(g.value)), ys: of(b).groups.map(g => String(g.value)), xName: of(a).name, yName: of(b).name }, width),
        notes: ['A cross: tried, but none was timed in full. Nothing: not tried.'],
        table: () => table(title, [textColumn(of(a).name, c => c.x), textColumn(of(b).name, c => c.y), timeColumn(heatBy, c => c.time), numberColumn('times as long', c => c.ratio, r => r.toFixed(3)), numberColumn('tried', c => c.tried, whole), numberColumn('timed in full', c => c.timed, whole)], values, 100),
    });
}

function measurementsTable(run) {
    const rows = Array.from({ length: run.n }, (_, i) => i), rank = i => run.outcome(i) === OK ? run.stale(i) ? 1 : 0 : run.outcome(i) === SLOWER ? 2 : 3;
    rows.sort((a, b) => rank(a) - rank(b) || (rank(a) < 3 ? run.time(a) - run.time(b) : a - b));
    const resource = (i, k) => { const v = data.resources[run.resources(i)][k]; return v < 0 ? null : v; };
    return el('section', { 'aria-label': 'All measurements' }, el('h3', { class: 'title' }, 'All measurements of this problem'), table('Sorted by time; a column head sorts by another.', [
        { ...configColumn('configuration', i => rowText(run, i)), text: i => el('span', {}, breakable(rowText(run, i)), run.winner?.row === i && flag('winner'), run.stale(i) ? flag('stale') : null) },
        textColumn('outcome', i => data.outcomes[run.outcome(i)]),
        { ...timeColumn('time', i => run.time(i)), text: i => run.time(i) ? (run.outcome(i) === OK ? '' : run.outcome(i) === SLOWER ? 'over ' : '') + timeText(run.time(i)) : unknown },
        { name: '95% interval', value: i => run.outcome(i) === OK ? run.low(i) + run.high(i) : null, text: i => run.outcome(i) === OK && run.time(i) ? interval(run, i).map(timeText).join(' to ') : unknown },
        numberColumn('samples', i => run.samples(i) || null, whole), numberColumn('registers', i => resource(i, 0), whole), numberColumn('shared, B', i => resource(i, 1), whole), numberColumn('spills, B', i => resource(i, 2), whole),
        numberColumn('compile, ms', i => run.compile(i) || null), numberColumn('energy, J', i => run.joules(i) || null),
        { ...textColumn('reason', i => data.reasons[run.reason(i)] || null), prose: true },
    ].filter(column => rows.some(i => column.value(i) !== null)), rows));
}
