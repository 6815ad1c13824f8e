'use strict';
// The page: filters, and a part for each question (problem.js has one of them). Every part is made anew from the runs that the filters leave.

// ---- filters -------------------------------------------------------------------------------------------------------------------------

const FILTERS = [
    { name: 'source', label: 'Database', of: r => r.source, text: r => sourceText(r.source) },
    { name: 'device', label: 'Device', of: r => r.device, text: r => deviceText(r.device) },
    { name: 'op', label: 'Op', of: r => r.problem.op, text: r => r.op.name },
    { name: 'types', label: 'Types', of: r => r.problem.types, text: r => r.problem.types },
    { name: 'problem', label: 'Problem', of: r => r.raw.problem, text: r => problemText(r.problem) },
    { name: 'cache', label: 'Cache', of: r => r.cache, text: r => r.cache },
];
const filters = {}; // name -> what is chosen; not there: all

const passes = (run, but) => FILTERS.every(f => f === but || !(f.name in filters) || f.of(run) === filters[f.name]);

function choose(filter, key) {
    if (key === '')
        delete filters[filter.name];
    else
        filters[filter.name] = JSON.parse(key);
    for (const other of [...FILTERS].reverse()) // what excludes all by now gives way
        if (other !== filter && !runs.some(r => passes(r)))
            delete filters[other.name];
    update();
}

function showFilters() {
    const form = document.getElementById('filters'), focused = document.activeElement?.closest('[data-filter]')?.dataset.filter;
    form.replaceChildren(...FILTERS.map(filter => {
        const options = new Map(runs.filter(r => passes(r, filter)).map(r => [JSON.stringify(filter.of(r)), filter.text(r)]));
        const sorted = [...options].map(([value, text]) => ({ value, text })).sort((a, b) => inOrder(a.text, b.text));
        const only = sorted.length === 1 && !(filter.name in filters); // nothing to choose
        const label = select(filter.label, only ? sorted : [{ value: '', text: `All (${sorted.length})` }, ...sorted],
                             filter.name in filters ? JSON.stringify(filters[filter.name]) : '', key => choose(filter, key));
        label.dataset.filter = filter.name;
        label.querySelector('select').disabled = only;
        return label;
    }), el('button', { type: 'button', 'data-filter': 'reset', hidden: !Object.keys(filters).length, onclick: () => { FILTERS.forEach(f => delete filters[f.name]); update(); } }, 'Show all'));
    form.querySelector(`[data-filter="${focused}"]`)?.querySelector('select')?.focus();
}

// ---- parts ---------------------------------------------------------------------------------------------------------------------------

const part = (id, title, ...content) => el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title`, tabindex: '-1' }, title), ...content);

function lookAt(run) {
    setDetail(run);
    replacePart('problem', () => problemPart(chosenRuns()));
    const title = document.getElementById('problem-title');
    title.scrollIntoView();
    title.focus({ preventScroll: true });
}

const chosenRuns = () => runs.filter(r => passes(r));
const measuredRuns = chosen => chosen.filter(r => !r.claims);
const problemsOf = chosen => new Set(chosen.map(r => r.problem)).size; // one on two devices is one
const winnersOf = chosen => measuredRuns(chosen).filter(r => r.winner).map(r => r.winner);

// What tells the winners' points apart: ops, or where they ran if there is one op or that is what matters.
function seriesOf(winners, places) {
    const byOp = new Set(winners.map(w => w.run.op.name)).size > 1 && !(places && new Set(winners.map(w => placeText(w.run))).size > 1);
    const of = w => byOp ? w.run.op.name : placeText(w.run) || w.run.op.name;
    return { of, names: [...new Set(winners.map(of))] };
}

const winnerTip = w => [runText(w.run), kernelText(w.variant, w.config), timeText(w.time),
                        bandwidth(w) && rateText(bandwidth(w), 'B/s'), rate(w) && rateText(rate(w), 'FLOP/s'),
                        share(w) && `${percent(share(w))} of the copy`].filter(Boolean).join('\n');

const flagsOf = w => [
    w.pinned && flag('pinned', 'A person chose it; it is served in the place of the winner'),
    w.stale && flag('stale', 'The op has changed since it was tuned: it is not served'),
    w.changed && flag('changed', 'Its template has changed since; it is served until it is tuned again'),
    w.unverified && flag('unverified', 'It came from elsewhere and was not verified here: it is not served'),
    w.alone && flag('alone', 'It was compared with the reference for its own problem only, so it is served for no other'),
];

function summaryPart(chosen) {
    const measured = measuredRuns(chosen), rows = measured.reduce((n, r) => n + r.n, 0), stale = measured.reduce((n, r) => n + r.staleRows, 0);
    const ok = measured.reduce((n, r) => n + count(r, OK), 0), slower = measured.reduce((n, r) => n + count(r, SLOWER), 0);
    const winners = winnersOf(chosen), shares = winners.filter(byMemory).map(share).filter(s => s !== null).sort((a, b) => a - b);
    const claims = chosen.filter(r => r.claims).reduce((n, r) => n + r.n, 0);
    const tile = (id, name, text, small) => el('div', {}, el('dt', {}, name), el('dd', { id }, text, small && el('small', {}, small)));
    return el('section', { id: 'summary', 'aria-label': 'In numbers' }, el('dl', { class: 'tiles' },
        tile('tried', 'configurations tried', whole(rows), stale ? `${whole(stale)} of them stale` : null),
        tile('timed', 'timed in full', whole(ok), `${whole(slower)} given up as slower`),
        tile('failed', 'failed', whole(rows - stale - ok - slower), 'none of them is served'),
        tile('problems', 'problems with a winner', whole(problemsOf(winners.map(w => w.run))), `of ${plural(problemsOf(measured), 'problem')} tried`),
        tile('share', 'median share of the copy', shares.length ? percent(quantile(shares, 0.5)) : 'not known',
             shares.length ? `${percent(shares[0])} to ${percent(shares.at(-1))}${winners.every(byMemory) ? '' : ', where memory is the bound'}` : 'no copy was timed'),
        claims ? tile('claims', 'claims of others', whole(claims), 'not measured here') : null),
        data.sources.some(s => s.damaged) ? el('p', { class: 'warn' }, data.sources.filter(s => s.damaged)
            .map(s => `${s.name}: ${plural(s.damaged, 'damaged row')} left out.`).join(' ')) : null,
        measured.some(r => data.devices[r.device].backend === 'null') ?
            el('p', { class: 'warn' }, 'The pretend device is among the devices: its times are made up, to try cutune itself. They say nothing of any hardware.') : null);
}

function winnersTable(winners, caption) {
    const columns = [
        { name: 'problem', left: true, wide: true, value: w => runText(w.run),
          text: w => el('span', {}, el('button', { type: 'button', class: 'link', onclick: () => lookAt(w.run) }, breakable(problemText(w.run.problem))), flagsOf(w)) },
        SEVERAL.source && textColumn('database', w => sourceText(w.run.source)),
        SEVERAL.device && textColumn('device', w => deviceText(w.run.device)),
        SEVERAL.cache && textColumn('cache', w => w.run.cache),
        configColumn('configuration', w => kernelText(w.variant, w.config)),
        timeColumn('time', w => w.time),
        numberColumn('95% interval', w => w.stats ? (w.stats.high - w.stats.low) / 2 / w.stats.median : null, () => ''),
        numberColumn('GB/s', bandwidth),
        winners.some(w => rate(w) !== null) && numberColumn('computing', rate, x => rateText(x, 'FLOP/s')),
        numberColumn('of copy', share, percent),
        numberColumn('ties', w => w.row < 0 ? null : w.ties.length, whole),
    ].filter(Boolean);
    const spread = columns.find(c => c.name === '95% interval');
    spread.text = w => w.stats ? `${timeText(w.stats.low)} to ${timeText(w.stats.high)}` : unknown;
    return table(caption, columns, winners, 15);
}

function winnersPart(chosen) {
    const all = measuredRuns(chosen).flatMap(r => r.winners), winners = winnersOf(chosen);
    const without = measuredRuns(chosen).filter(r => !r.winner);
    const content = [];
    if (all.length)
        content.push(winnersTable(all, 'What a look-up gives for each problem. Click a problem for details. "Of copy" is the speed relative to a device copy of as many bytes, timed in the same run.'));
    else
        content.push(note('There is no winner: nothing was found right and timed.'));
    if (without.length) {
        const list = el('ul', {}, without.slice(0, 50).map(r => el('li', {}, `${runText(r)}: ${r.staleRows === r.n && r.n ? 'all results are stale' : count(r, OK) ? 'timed, not decided: the run did not end' : 'nothing was timed in full'}; ${plural(r.n, 'configuration')} tried`)));
        content.push(el('details', {}, el('summary', {}, `${plural(without.length, 'problem')} without a winner that is served`), list));
    }
    const charts = [speedChart(winners), rooflineChart(winners), copyChart(winners)];
    charts.sort((a, b) => a.matches('.missing') - b.matches('.missing'));
    return part('winners', 'Winners', el('div', { class: 'charts' }, charts), ...content);
}

// The best copy seen on each device, by cache, which is the only bound on memory's speed that was measured.
function roofsOf(winners) {
    const roofs = new Map();
    for (const w of winners.filter(w => copyBandwidth(w) !== null)) {
        const key = JSON.stringify([w.run.device, w.run.cache]), text = [SEVERAL.device && deviceText(w.run.device), SEVERAL.cache && w.run.cache].filter(Boolean).join(', ');
        if (!(roofs.get(key)?.speed > copyBandwidth(w)))
            roofs.set(key, { speed: copyBandwidth(w), text: `${text ? `${text}: ` : ''}best copy ${rateText(copyBandwidth(w), 'B/s')}` });
    }
    return [...roofs.values()];
}

// The names of several roofs would lie on each other: they are told below, in their order.
const roofText = (r, roofs) => roofs.length > 1 ? '' : r.text;
const roofNotes = roofs => roofs.length > 1 ? [`Dashed lines of copies, from the highest: ${[...roofs].sort((a, b) => b.speed - a.speed).map(r => r.text).join('; ')}.`] : [];

const click = datum => datum.run !== undefined && lookAt(runs[datum.run]);

function speedChart(winners) {
    const { of, names } = seriesOf(winners);
    const known = winners.filter(w => bandwidth(w) !== null), title = 'Speed by size';
    if (!known.length)
        return missing('speed', title, winners.length ? 'None of the ops says how many bytes it moves, so there is no speed to show.' : 'There is no winner to show.');
    const best = known.reduce((a, b) => bandwidth(b) > bandwidth(a) ? b : a), roofs = roofsOf(known);
    return chart({
        id: 'speed', title, click, height: 340,
        says: `${plural(known.length, 'winner')}; the fastest moves ${rateText(bandwidth(best), 'B/s')} (${problemText(best.run.problem)}). ` +
            (roofs.length ? 'Short grey lines are device copies of as many bytes, in the same run; the dashed line is the best copy.' : 'No copy was timed, so there is nothing to hold it against.'),
        spec: width => speeds({
            winners: known.map(w => ({ x: w.run.problem.bytes / 1e6, y: bandwidth(w), series: of(w), tip: winnerTip(w), run: w.run.index })),
            copies: known.filter(w => copyBandwidth(w) !== null).map(w => ({ x: w.run.problem.bytes / 1e6, y: copyBandwidth(w), tip: `copy of ${bytesText(w.run.problem.bytes)}\n${timeText(w.copy)}, ${rateText(copyBandwidth(w), 'B/s')}` })),
            roofs: roofs.map(r => ({ level: r.speed, text: roofText(r, roofs) })), names, xTitle: 'bytes that must be moved, MB', yTitle: 'GB/s',
        }, width),
        notes: roofNotes(roofs),
        table: () => table('Speed by size', [textColumn('problem', w => runText(w.run)), numberColumn('bytes', w => w.run.problem.bytes, bytesText), numberColumn('GB/s', bandwidth),
                                             numberColumn('copy, GB/s', copyBandwidth)], known),
    });
}

function rooflineChart(winners) {
    const { of, names } = seriesOf(winners);
    const known = winners.filter(w => intensity(w) !== null && rate(w) !== null), title = 'Roofline';
    if (!known.length)
        return missing('roofline', title, 'None of these ops says how many floating-point operations it does, so they have no arithmetic intensity. Their speed by size is all there is.');
    const roofs = roofsOf(known), top = known.reduce((a, b) => rate(b) > rate(a) ? b : a), [scale, unit] = rate(top) >= 1e4 ? [1000, 'TFLOP/s'] : [1, 'GFLOP/s'];
    return chart({
        id: 'roofline', title, click, height: 340,
        says: `${plural(known.length, 'winner')} by arithmetic intensity; the fastest does ${rateText(rate(top), 'FLOP/s')} (${problemText(top.run.problem)}).`,
        spec: width => speeds({
            winners: known.map(w => ({ x: intensity(w), y: rate(w) / scale, series: of(w), tip: winnerTip(w), run: w.run.index })), copies: [],
            roofs: [...roofs.map(r => ({ slope: r.speed / scale, text: roofText(r, roofs) })), { level: rate(top) / scale, text: `fastest measured ${rateText(rate(top), 'FLOP/s')}` }],
            names, xTitle: 'arithmetic intensity, FLOP/byte', yTitle: unit,
        }, width),
        notes: [`${roofs.length ? 'The slope is memory as fast as the best copy that was timed. ' : 'No copy was timed: memory has no roof here. '}What the device can compute at most was not measured: the level line is the fastest winner, not a limit. To the right of where the lines meet, a problem is limited by computing: it need not be near the slope.`, ...roofNotes(roofs)],
        table: () => table('Roofline', [textColumn('problem', w => runText(w.run)), numberColumn('FLOP/byte', intensity), numberColumn('computing', rate, x => rateText(x, 'FLOP/s')),
                                        numberColumn('of the memory roof', w => { const r = roofsOf([w])[0]; return r ? rate(w) / (r.speed * intensity(w)) : null; }, percent)], known),
    });
}

const MOST_ROWS = 30;

// Problems as rows of a chart: those that come first in the order, and a word on the others.
function rowsShown(list, rowOf) {
    const rows = [...new Set(list.map(rowOf))], shown = new Set(rows.slice(0, MOST_ROWS));
    return { rows: [...shown], list: list.filter(x => shown.has(rowOf(x))), left: rows.length - shown.size };
}

// A row's name says what tells the runs of a list apart.
function rowNames(list) {
    const op = new Set(list.map(r => r.op)).size > 1, types = new Set(list.map(r => r.problem.types)).size > 1, cache = new Set(list.map(r => r.cache)).size > 1;
    return run => [op && run.op.name, types && run.problem.types, run.problem.sizes, cache && run.cache].filter(Boolean).join(' ');
}

function copyChart(winners) {
    const { of, names } = seriesOf(winners, true);
    const all = winners.filter(w => share(w) !== null).sort((a, b) => share(a) - share(b)), title = 'Share of the copy by problem';
    const known = all.filter(byMemory), computing = all.length - known.length;
    if (!known.length)
        return missing('copy', title, all.length ? `All winners do more than ${MEMORY_BOUND} FLOP/byte: what they compute may be their bound, not memory.` : 'No winner has a copy timed in the same run.');
    const name = rowNames(known.map(w => w.run)), { rows, list, left } = rowsShown(known, w => name(w.run)), below = known.filter(w => share(w) < 0.9).length;
    return chart({
        id: 'copy', title, click, height: rows.length * 20 + 60,
        says: `${below ? `${whole(below)} of ${plural(known.length, 'winner')} ${below === 1 ? 'is' : 'are'} below 90% of the copy` : `${plural(known.length, 'winner')}, all at 90% of the copy or more`}; the least is ${percent(share(known[0]))} (${problemText(known[0].run.problem)}).`,
        spec: width => rowsOfPoints({ rows, values: list.map(w => ({ row: name(w.run), x: share(w), series: of(w), tip: winnerTip(w), run: w.run.index })), names,
                                      title: 'speed, % of the copy', at: 1, format: '.0%' }, width),
        notes: [left && `The ${plural(rows.length, 'problem')} furthest from the copy; the table has the other ${whole(left)}.`,
                computing && `${plural(computing, 'winner')} with more than ${MEMORY_BOUND} FLOP/byte ${computing === 1 ? 'is' : 'are'} in the table only: what is computed may be the bound, so less than the copy is not a defect.`].filter(Boolean),
        table: () => table(title, [textColumn('problem', w => runText(w.run)), numberColumn('of copy', share, percent), timeColumn('time', w => w.time), timeColumn('copy', w => w.copy), numberColumn('FLOP/byte', intensity)], all),
    });
}

// ---- two sides -----------------------------------------------------------------------------------------------------------------------

const compared = [null, null]; // keys of the sides

function comparePart(chosen) {
    const sides = sidesOf(measuredRuns(chosen));
    if (sides.length < 2)
        return part('compare', 'Compare', note(`Only one ${SEVERAL.source ? 'database, ' : ''}device and driver is selected: there is nothing to compare. `,
            'A second database shows what changed: ', el('code', {}, 'cutune report --db NEW.db --compare OLD.db')));
    const text = s => [data.sources.length > 1 && sourceText(s.source), new Set(sides.map(x => x.device)).size > 1 && deviceText(s.device),
                       new Set(sides.map(x => x.driver)).size > 1 && `driver ${s.driver || 'unknown'}`].filter(Boolean).join(', ') || 'this';
    if (!compared.every(key => sides.some(s => s.key === key))) { // to begin with, from the database of --compare to the other
        const [a, ...others] = [...sides].sort((p, q) => q.source - p.source), b = others.find(s => s.source !== a.source) ?? others[0];
        [compared[0], compared[1]] = [a.key, b.key];
    }
    const [a, b] = compared.map(key => sides.find(s => s.key === key));
    const pick = i => select(i ? 'with' : 'Compare', sides.map(s => ({ value: s.key, text: text(s) })), compared[i],
                             key => { compared[i] = key; replacePart('compare', () => comparePart(chosenRuns())); });
    const { both, only } = compare(a, b), content = [el('div', { class: 'controls' }, pick(0), pick(1))];
    const faster = both.filter(p => p.verdict === 'faster').length, slower = both.filter(p => p.verdict === 'slower').length;
    const otherwise = both.filter(p => p.changed !== 'the same configuration').length;
    if (!both.length)
        content.push(missing('ratio', 'Time of the second over the first', 'They have no problem in common.'));
    else {
        const ordered = [...both].sort((p, q) => Math.abs(Math.log(q.ratio)) - Math.abs(Math.log(p.ratio)));
        const name = rowNames(ordered.map(p => p.run)), row = p => name(p.run), { rows, list, left } = rowsShown(ordered, row), verdicts = ['faster', 'no difference shown', 'slower'];
        content.push(el('div', { class: 'charts' }, chart({
            id: 'ratio', title: 'Time of the second over the first', height: rows.length * 20 + 80,
            says: `${plural(both.length, 'problem')} on both: the second is faster for ${faster}, slower for ${slower}, and no difference is shown for ${both.length - faster - slower}. For half of them it takes ${digits(quantile(both.map(p => p.ratio), 0.5))} times as long, or less. For ${otherwise} another configuration is the best.`,
            spec: width => rowsOfPoints({
                rows: rows, title: 'second / first', at: 1, log: true, names: verdicts.filter(v => list.some(p => p.verdict === v)),
                legend: [{ name: 'colour', type: 'ordinal', domain: verdicts, range: [SERIES[0], QUIET, SERIES[1]] }, { name: 'shape', type: 'ordinal', domain: verdicts, range: ['triangle-left', 'circle', 'triangle-right'] }],
                values: list.map(p => ({ row: row(p), x: p.ratio, low: p.low, high: p.high, series: p.verdict, run: p.run.index,
                                         tip: `${problemText(p.run.problem)}\n${timeText(p.a.time)} became ${timeText(p.b.time)}: ${digits(p.ratio)} (${digits(p.low)} to ${digits(p.high)})\n${p.changed}` })),
            }, width), click,
            notes: [`Left of 1 the second is faster. Lines are what the 95% intervals of both allow; times of two days differ by more than those of one run, so a few percent may be the day's.${left ? ` The ${rows.length} that differ most; the table has all.` : ''}`],
        })));
        content.push(table(`What changed from ${text(a)} to ${text(b)}`, [
            textColumn('problem', p => problemText(p.run.problem)), SEVERAL.cache && textColumn('cache', p => p.run.cache),
            timeColumn('first', p => p.a.time), timeColumn('second', p => p.b.time),
            numberColumn('second / first', p => p.ratio, x => x.toFixed(3)), textColumn('the second is', p => p.verdict), configColumn('configuration', p => p.changed),
            { name: 'ended otherwise', value: p => (p.otherwise ??= endedOtherwise(p)).list.length, text: p => { const o = p.otherwise ??= endedOtherwise(p); return o.common ? `${whole(o.list.length)} of ${whole(o.common)}` : unknown; } },
        ].filter(Boolean), both, 15), note('"Ended otherwise" counts configurations that both tried, and that failed on one only.'));
    }
    [a, b].forEach((side, i) => {
        if (only[i].length)
            content.push(el('details', {}, el('summary', {}, `${plural(only[i].length, 'problem')} only in the ${i ? 'second' : 'first'}, ${text(side)}`),
                            el('ul', {}, only[i].map(r => el('li', {}, problemText(r.problem))))));
    });
    return part('compare', 'Compare', ...content);
}

// ---- outcomes, claims, sources -------------------------------------------------------------------------------------------------------

function outcomesPart(chosen) {
    const measured = measuredRuns(chosen).filter(r => r.n), title = 'How configurations ended';
    if (!measured.length)
        return part('outcomes', 'Outcomes', note('No measurements to show.'));
    // One bar for each variant of an op, or for each op where those would be too many.
    const variants = new Set(measured.flatMap(r => r.op.variants.map(v => `${r.op.name} ${v.name}`))), coarse = variants.size > MOST_ROWS;
    const ops = new Set(measured.map(r => r.op)).size, bars = new Map();
    for (const run of measured)
        run.counts.forEach((counts, v) => {
            const row = coarse ? run.op.name : ops > 1 ? `${run.op.name} ${run.op.variants[v].name}` : run.op.variants[v].name;
            const bar = bars.get(row) ?? bars.set(row, new Array(data.outcomes.length).fill(0)).get(row);
            counts.forEach((n, o) => { bar[o] += n; });
        });
    const order = [OK, SLOWER, ...data.outcomes.keys()].filter((o, i, list) => list.indexOf(o) === i);
    const rows = [...bars.keys()].filter(row => bars.get(row).some(n => n)), totals = order.map(o => rows.reduce((s, row) => s + bars.get(row)[o], 0)), all = totals.reduce((a, b) => a + b, 0);
    const pieces = rows.flatMap(row => {
        let from = 0;
        return order.filter(o => bars.get(row)[o]).map(o => ({ row, outcome: data.outcomes[o], n: bars.get(row)[o], from, to: from += bars.get(row)[o], tip: `${row}: ${whole(bars.get(row)[o])} ${data.outcomes[o]}` }));
    });
    const reasons = new Map();
    for (const run of measured)
        for (let i = 0; i < run.n; i++) {
            const o = run.outcome(i);
            if (o === OK || run.stale(i))
                continue;
            const key = run.reason(i) * 64 + o, entry = reasons.get(key) ?? reasons.set(key, { outcome: o, reason: run.reason(i), n: 0, run, row: i }).get(key);
            entry.n++;
        }
    // Reasons that differ in their numbers are one line.
    const lines = new Map();
    for (const r of reasons.values()) {
        const text = data.reasons[r.reason], key = `${r.outcome} ${text.replace(/\d[\d.]*( [num]?s\b)?/g, '#')}`, line = lines.get(key);
        if (line) {
            line.n += r.n;
            line.alike++;
        } else
            lines.set(key, { ...r, text, alike: 1 });
    }
    const list = [...lines.values()].sort((a, b) => b.n - a.n), stale = measured.reduce((n, r) => n + r.staleRows, 0);
    const content = [];
    if (all)
        content.push(el('div', { class: 'charts' }, chart({
            id: 'endings', title, height: rows.length * 22 + 90,
            says: `${plural(all, 'configuration')}: ${order.map((o, i) => totals[i] && `${whole(totals[i])} ${data.outcomes[o]}`).filter(Boolean).join(', ')}.`,
            spec: width => endings({ rows, bars: pieces, names: order.filter((o, i) => totals[i]).map(o => data.outcomes[o]) }, width),
            notes: stale ? [`${plural(stale, 'stale row')} left out.`] : [],
            table: () => table(title, [textColumn(coarse ? 'op' : 'variant', row => row), ...order.filter((o, i) => totals[i]).map(o => numberColumn(data.outcomes[o], row => bars.get(row)[o], whole))], rows, 100),
        })));
    else
        content.push(note('All rows are stale.'));
    if (list.length)
        content.push(table('Why, with one configuration for each as an example', [
            textColumn('outcome', r => data.outcomes[r.outcome]), configColumn('reason', r => r.alike > 1 ? `${r.text} (and ${whole(r.alike - 1)} more with other numbers)` : r.text || 'none given'),
            numberColumn('configurations', r => r.n, whole), configColumn('for example', r => `${problemText(r.run.problem)}: ${rowText(r.run, r.row)}`)], list, 15));
    return part('outcomes', 'Outcomes', ...content);
}

const CLAIM_STATES = ['not verified here', 'holds', 'slower here than claimed', 'fails here'];

function claimsPart(chosen) {
    const claims = chosen.filter(r => r.claims && r.n);
    if (!claims.length)
        return null;
    const list = claims.map(run => {
        const states = [0, 0, 0, 0];
        let best = -1;
        for (let i = 0; i < run.n; i++) {
            states[run.state(i)]++;
            if (run.outcome(i) === OK && run.time(i) > 0 && (best < 0 || run.time(i) < run.time(best)))
                best = i;
        }
        return { run, states, best };
    });
    return part('claims', 'Claims of others', note('From files that were imported. They were not measured here, nothing is served from them, and no chart shows them.'),
        table('Claims by problem', [textColumn('problem', c => runText(c.run)), numberColumn('claims', c => c.run.n, whole), timeColumn('claimed best', c => c.best < 0 ? 0 : c.run.time(c.best)),
                                    configColumn('of', c => c.best < 0 ? null : rowText(c.run, c.best)), ...CLAIM_STATES.map((name, s) => numberColumn(name, c => c.states[s], whole))], list));
}

function sourcesPart(chosen) {
    const devices = [...new Set(chosen.map(r => r.device))];
    return part('sources', 'Where it comes from',
        table('Devices', [textColumn('device', d => data.devices[d].name), textColumn('backend', d => data.devices[d].backend), textColumn('architecture', d => data.devices[d].arch), textColumn('MIG', d => data.devices[d].mig || null),
                          numberColumn('multiprocessors', d => data.devices[d].multiprocessors || null, whole), numberColumn('memory', d => data.devices[d].memory || null, bytesText)], devices),
        table('What measured', [textColumn('device', p => deviceText(p.device)), textColumn('driver', p => p.driver || null), textColumn('program', p => p.cutune), textColumn('unit or file', p => p.uuid || null)],
              data.provenance.filter(p => devices.includes(p.device))));
}

// ---- all of it -----------------------------------------------------------------------------------------------------------------------

const PARTS = [['summary', summaryPart], ['winners', winnersPart], ['compare', comparePart], ['problem', problemPart], ['outcomes', outcomesPart], ['claims', claimsPart], ['sources', sourcesPart]];

function replacePart(id, make) {
    const old = document.getElementById(id), fresh = make();
    forgetCharts(old);
    old.replaceWith(fresh);
}

function update() {
    const main = document.getElementById('report'), chosen = chosenRuns(), measured = measuredRuns(chosen);
    tip.hidden = true;
    showFilters();
    document.getElementById('chosen').textContent = `${plural(problemsOf(measured), 'problem')} and ${plural(measured.reduce((n, r) => n + r.n, 0), 'measurement')}${measured.length < measuredRuns(runs).length ? `, of ${whole(problemsOf(measuredRuns(runs)))} and ${whole(measuredRuns(runs).reduce((n, r) => n + r.n, 0))}` : ''}.`;
    forgetCharts(main);
    main.replaceChildren(...PARTS.map(([, make]) => make(chosen)).filter(Boolean));
    document.getElementById('parts').replaceChildren(...[...main.querySelectorAll('section > h2')].map(title => el('li', {}, el('a', { href: `#${title.parentNode.id}` }, title.textContent))));
}

function empty() {
    for (const id of ['filters', 'chosen', 'parts'])
        document.getElementById(id).remove();
    document.querySelector('nav').remove();
    document.getElementById('report').replaceChildren(el('section', { id: 'empty' }, el('h2', {}, 'Nothing has been measured yet'),
        el('p', {}, `${data.sources.map(s => s.name).join(' and ') || 'The database'} ${data.sources.length > 1 ? 'have' : 'has'} no measurements and no winners. To fill it:`),
        el('pre', { tabindex: '0' }, 'cutune run --op transpose\ncutune report -o report.html'),
        el('p', {}, 'The first command tunes a transpose on the best device of the machine; ', el('code', {}, 'cutune doctor'), ' says which devices there are. ',
           'If there are measurements, they are in another file: ', el('code', {}, '--db FILE'), ' names it; or ', el('code', {}, '--op'), ' left none of them.')));
}

document.body.append(tip);
document.getElementById('written').textContent = `${data.sources.map((_, i) => sourceText(i)).join(' and ')}, written ${data.written.replace('T', ' ').replace('Z', ' UTC')} by cutune ${data.cutune}`;
if (runs.length)
    update();
else
    empty();
if (!waiting.size)
    isDrawn();
