'use strict';
// What was measured, read once, and what follows from it. Nothing here draws. Times are in ns; 0 is unknown.

const data = JSON.parse(document.getElementById('data').textContent);
const OK = data.outcomes.indexOf('ok'), SLOWER = data.outcomes.indexOf('slower');
const NONE = -1; // a configuration without this parameter

// ---- columns -------------------------------------------------------------------------------------------------------------------------

const DIGIT = new Int8Array(128).fill(NONE); // so is '_'
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-'].forEach((c, i) => { DIGIT[c.charCodeAt(0)] = i; });

// A column is one number for all of n rows (0 if it is not there), a string with as many digits for each, or an array.
function reader(column, n) {
    if (column === undefined || typeof column === 'number')
        return () => column ?? 0;
    if (typeof column !== 'string')
        return row => column[row];
    const width = column.length / n;
    return row => {
        let number = DIGIT[column.charCodeAt(row * width)];
        for (let i = 1; i < width && number !== NONE; i++)
            number = number * 63 + DIGIT[column.charCodeAt(row * width + i)];
        return number;
    };
}

// The samples of a run: of each row that has them how many, the least, and how much each is above it.
const samplesOf = run => new Map(run.raw.ns.map(([n, least, above], k) => {
    const of = reader(above, n);
    return [run.raw.sampled[k], Array.from({ length: n }, (_, i) => least + of(i))];
}));

const COLUMNS = ['at', 'variant', 'outcome', 'reason', 'time', 'low', 'high', 'samples', 'resources', 'compile', 'joules', 'stale', 'provenance', 'state'];

data.ops.forEach((op, index) => { op.index = index; });
data.problems.forEach(p => { p.of = data.ops[p.op]; });

const runs = data.runs.map((raw, index) => {
    const run = { source: 0, device: 0, claims: false, ...raw, index, problem: data.problems[raw.problem], winners: [], raw };
    run.cache = raw.warm ? 'warm' : 'cold';
    for (const name of COLUMNS)
        run[name] = reader(raw[name], raw.n);
    run.config = raw.config.map(column => reader(column, raw.n));
    run.op = run.problem.of;
    // Of each variant how many rows ended how; stale ones apart, for they say nothing of what is there now.
    run.counts = run.op.variants.map(() => new Uint32Array(data.outcomes.length));
    run.staleRows = 0;
    for (let i = 0; i < run.n; i++)
        if (run.stale(i))
            run.staleRows++;
        else
            run.counts[run.variant(i)][run.outcome(i)]++;
    return run;
});

const variantOf = (run, row) => run.op.variants[run.variant(row)];
const valueOf = (run, row, j) => variantOf(run, row).params[j].values[run.config[j](row)];

function configOf(run, row) {
    const config = {};
    variantOf(run, row).params.forEach((p, j) => {
        if (j < run.config.length && run.config[j](row) !== NONE)
            config[p.name] = valueOf(run, row, j);
    });
    return config;
}

const driverOf = (run, row) => data.provenance[run.provenance(row)].driver;

for (const raw of data.winners) {
    const run = runs[raw.run];
    const w = { ties: [], stats: null, ...raw, run, served: !raw.stale && !raw.unverified };
    if (raw.row >= 0) { // its row tells the rest
        w.stats = { n: run.samples(raw.row), median: run.time(raw.row), low: raw.low, high: raw.high };
        w.variant = variantOf(run, raw.row).name;
        w.config = configOf(run, raw.row);
        w.driver ??= driverOf(run, raw.row);
    }
    run.winners.push(w);
}
for (const run of runs) { // what is pinned is served in the place of what won
    run.winners.sort((a, b) => b.served - a.served || (b.pinned ?? false) - (a.pinned ?? false));
    run.winner = run.winners.find(w => w.served) ?? null;
}

const count = (run, outcome) => run.counts.reduce((sum, of) => sum + of[outcome], 0);

// ---- what is shown of it -------------------------------------------------------------------------------------------------------------

// What is asked of many rows; null where it cannot be said.
const over = (a, b) => a > 0 && b > 0 && Number.isFinite(a / b) ? a / b : null;
const share = w => w.run.problem.bytes > 0 ? over(w.copy, w.time) : null;
const intensity = w => over(w.run.problem.flops, w.run.problem.bytes);
// Whether memory may be what bounds it. The device's compute peak is not known; below so many FLOP/byte no device of today is bound by it.
const MEMORY_BOUND = 10;
const byMemory = w => (intensity(w) ?? 0) <= MEMORY_BOUND;
const bandwidth = w => over(w.run.problem.bytes, w.time); // GB/s
const copyBandwidth = w => over(w.run.problem.bytes, w.copy);
const rate = w => over(w.run.problem.flops, w.time); // GFLOP/s

// The rows whose times can be believed: all samples taken, nothing changed since.
function timed(run) {
    const rows = [];
    for (let i = 0; i < run.n; i++)
        if (run.outcome(i) === OK && !run.stale(i) && run.time(i) > 0)
            rows.push(i);
    return rows;
}

function fastest(run, rows) {
    let best = -1;
    for (const i of rows)
        if (best < 0 || run.time(i) < run.time(best))
            best = i;
    return best;
}

// How a row's median is bounded: [low, high] of the 95% interval, in ns.
const interval = (run, row) => [run.time(row) * (1 - run.low(row) / 1000), run.time(row) * (1 + run.high(row) / 1000)];

const lowest = numbers => numbers.reduce((a, b) => Math.min(a, b), Infinity); // any number of them: as arguments they must be few
const highest = numbers => numbers.reduce((a, b) => Math.max(a, b), -Infinity);

// No more than so many of a list, in its order, both ends among them.
const evenly = (list, n) => list.length <= n ? list : Array.from({ length: n }, (_, i) => list[Math.round(i * (list.length - 1) / (n - 1))]);

const quantile = (sorted, q) => {
    const at = (sorted.length - 1) * q, below = Math.floor(at), above = Math.ceil(at);
    return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
};

// What a parameter's values do to the times of a variant's rows. `explained`: the share of the variance of log time that lies between the
// values, less what as many groups would show by luck; null if there are too few rows to tell. Rows given up as slower or failed are
// counted, but have no time to compare.
function marginal(run, name, rows, timedRows, valueAt, values) {
    const groups = values.map(value => ({ value, ok: 0, slower: 0, failed: 0, times: [] }));
    for (const i of rows) {
        const group = groups[valueAt(i)];
        if (group)
            group[run.outcome(i) === OK ? 'ok' : run.outcome(i) === SLOWER ? 'slower' : 'failed']++;
    }
    let sum = 0, squares = 0, n = 0;
    for (const i of timedRows) {
        const group = groups[valueAt(i)];
        if (!group)
            continue;
        const log = Math.log(run.time(i));
        group.times.push(run.time(i));
        sum += log;
        squares += log * log;
        n++;
    }
    const mean = sum / n, total = squares - n * mean * mean;
    let between = 0;
    for (const group of groups.filter(g => g.times.length)) {
        group.times.sort((a, b) => a - b);
        const own = group.times.reduce((s, t) => s + Math.log(t), 0) / group.times.length;
        between += group.times.length * (own - mean) ** 2;
        group.min = group.times[0];
        group.max = group.times.at(-1);
        [group.q1, group.median, group.q3] = [0.25, 0.5, 0.75].map(q => quantile(group.times, q));
    }
    const shown = groups.filter(g => g.ok + g.slower + g.failed > 0);
    const free = n - groups.filter(g => g.times.length).length; // degrees of freedom within the groups
    const explained = free < 3 ? null : total > 1e-12 * n ? Math.max(0, 1 - (1 - Math.min(1, between / total)) * (n - 1) / free) : 0;
    return { name, groups: shown, n, explained };
}

// The marginals of each parameter of one variant, what matters most first.
function marginals(run, variant) {
    const rows = [], timedRows = [];
    for (let i = 0; i < run.n; i++)
        if (run.variant(i) === variant && !run.stale(i)) {
            rows.push(i);
            if (run.outcome(i) === OK && run.time(i) > 0)
                timedRows.push(i);
        }
    const params = run.op.variants[variant].params.slice(0, run.config.length);
    return params.map((p, j) => ({ ...marginal(run, p.name, rows, timedRows, i => run.config[j](i), p.values), j }))
        .filter(m => m.groups.length)
        .sort((a, b) => (b.groups.length > 1) - (a.groups.length > 1) || (b.explained ?? -1) - (a.explained ?? -1));
}

function variantMarginal(run) {
    const rows = Array.from({ length: run.n }, (_, i) => i).filter(i => !run.stale(i));
    return marginal(run, 'variant', rows, timed(run), i => run.variant(i), run.op.variants.map(v => v.name));
}

// Times by two parameters of a variant: of each pair of values what was tried, and the best and the median of what was timed.
function cells(run, variant, a, b) {
    const found = new Map();
    for (let i = 0; i < run.n; i++) {
        if (run.variant(i) !== variant || run.stale(i))
            continue;
        const x = run.config[a](i), y = run.config[b](i), key = x * 65536 + y;
        if (x === NONE || y === NONE)
            continue;
        const cell = found.get(key) ?? found.set(key, { x: valueOf(run, i, a), y: valueOf(run, i, b), tried: 0, times: [] }).get(key);
        cell.tried++;
        if (run.outcome(i) === OK && run.time(i) > 0)
            cell.times.push(run.time(i));
    }
    for (const cell of found.values()) {
        cell.times.sort((p, q) => p - q);
        cell.best = cell.times[0] ?? null;
        cell.median = cell.times.length ? quantile(cell.times, 0.5) : null;
    }
    return [...found.values()];
}

// The best so far, by number of tries and by time. A row measured again has its later time, so by time rows are sorted.
function course(run, byTime) {
    const order = Array.from({ length: run.n }, (_, i) => i).filter(i => !run.stale(i));
    if (byTime)
        order.sort((a, b) => run.at(a) - run.at(b) || a - b);
    const tries = [], steps = [];
    let best = Infinity;
    order.forEach((row, k) => {
        if (run.outcome(row) !== OK || !(run.time(row) > 0))
            return;
        const x = byTime ? run.at(row) : k + 1;
        tries.push({ x, row, time: run.time(row) });
        if (run.time(row) < best) {
            best = run.time(row);
            steps.push({ x, row, time: best });
        }
    });
    const end = order.length ? byTime ? run.at(order.at(-1)) : order.length : 0;
    return { tries, steps, end };
}

// ---- two sides compared --------------------------------------------------------------------------------------------------------------

// A side is a database, a device and a driver, of which there may be several to compare.
function sidesOf(chosen) {
    const sides = new Map();
    for (const run of chosen) {
        const drivers = new Set(run.winners.map(w => w.driver));
        const column = run.raw.provenance ?? 0;
        if (typeof column === 'number' && run.n)
            drivers.add(data.provenance[column].driver);
        else
            for (let i = 0; i < run.n; i++)
                drivers.add(driverOf(run, i));
        for (const driver of drivers) {
            const key = JSON.stringify([run.source, run.device, driver]);
            sides.get(key)?.runs.push(run) ?? sides.set(key, { key, source: run.source, device: run.device, driver, runs: [run] });
        }
    }
    return [...sides.values()];
}

// What a side has of a run: its winner if that was tuned there, else the fastest that was measured there.
function sideBest(side, run) {
    const w = run.winner;
    if (w && w.driver === side.driver)
        return { time: w.time, low: w.stats?.low ?? w.time, high: w.stats?.high ?? w.time, variant: w.variant, config: w.config, copy: w.copy };
    const row = fastest(run, timed(run).filter(i => driverOf(run, i) === side.driver));
    if (row < 0)
        return null;
    const [low, high] = interval(run, row);
    return { time: run.time(row), low, high, variant: variantOf(run, row).name, config: configOf(run, row), copy: 0 };
}

function changes(a, b) {
    if (a.variant !== b.variant)
        return `${a.variant} became ${b.variant}`;
    const names = [...new Set([...Object.keys(a.config), ...Object.keys(b.config)])];
    const list = names.filter(n => a.config[n] !== b.config[n]).map(n => !(n in a.config) ? `new: ${n}=${b.config[n]}` : !(n in b.config) ? `gone: ${n}=${a.config[n]}` : `${n} ${a.config[n]} became ${b.config[n]}`);
    return list.join(', ') || 'the same configuration';
}

function compare(a, b) {
    const both = [], only = [[], []];
    const name = run => JSON.stringify([run.problem.op, run.problem.types, run.problem.sizes, run.cache]);
    const there = new Map(b.runs.filter(r => !r.claims).map(run => [name(run), run]));
    for (const run of a.runs.filter(r => !r.claims)) {
        const other = there.get(name(run)), x = sideBest(a, run), y = other && sideBest(b, other);
        there.delete(name(run));
        if (!x || !y) {
            if (x || y)
                only[x ? 0 : 1].push(run);
            continue;
        }
        const ratio = y.time / x.time, low = y.low / x.high, high = y.high / x.low;
        both.push({ run, other, a: x, b: y, ratio, low, high, verdict: high < 1 ? 'faster' : low > 1 ? 'slower' : 'no difference shown',
                    changed: changes(x, y) });
    }
    for (const run of there.values())
        if (sideBest(b, run))
            only[1].push(run);
    both.sort((p, q) => p.ratio - q.ratio);
    return { both, only };
}

// Configurations that both sides tried and that ended well on one only.
function endedOtherwise(pair) {
    const keyed = run => {
        const map = new Map();
        for (let i = 0; i < run.n; i++)
            if (!run.stale(i))
                map.set(`${variantOf(run, i).name} ${configText(configOf(run, i))}`, i);
        return map;
    };
    const mine = keyed(pair.run), theirs = keyed(pair.other), list = [];
    let common = 0;
    const fine = (run, i) => run.outcome(i) === OK || run.outcome(i) === SLOWER;
    for (const [config, i] of mine) {
        const j = theirs.get(config);
        if (j === undefined)
            continue;
        common++;
        if (fine(pair.run, i) !== fine(pair.other, j))
            list.push({ config, a: data.outcomes[pair.run.outcome(i)], b: data.outcomes[pair.other.outcome(j)] });
    }
    return { common, list };
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------

const whole = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
const inOrder = new Intl.Collator('en', { numeric: true }).compare; // of words with numbers in them
const digits = x => x === 0 ? '0' : Math.abs(x) >= 999.5 ? whole(x) : Math.abs(x) >= 1e-3 ? x.toPrecision(3) : x.toExponential(2);
const TIME_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];
const timeUnit = ns => TIME_UNITS.find(([scale]) => ns >= scale) ?? TIME_UNITS.at(-1);
const timeText = ns => { const [scale, unit] = timeUnit(ns); return `${digits(ns / scale)} ${unit}`; };
const rateText = (x, unit) => x >= 1e4 ? `${digits(x / 1000)} T${unit}` : `${digits(x)} G${unit}`;
const bytesText = b => { const [scale, unit] = [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']].find(([s]) => b >= s) ?? [1, 'B']; return `${digits(b / scale)} ${unit}`; };
const percent = x => x < 5e-4 ? '0%' : x >= 0.995 ? `${Math.round(100 * x)}%` : `${(100 * x).toPrecision(2)}%`;
const plural = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;
const configText = config => Object.entries(config).map(([k, v]) => `${k}=${v}`).join(',');
const kernelText = (variant, config) => [variant, configText(config)].filter(Boolean).join(' ');
const rowText = (run, row) => kernelText(variantOf(run, row).name, configOf(run, row));
const problemText = p => `${p.of.name} ${p.types} ${p.sizes}`;

// Devices of one name differ in something else.
const alike = data.devices.map(d => data.devices.filter(o => o.name === d.name).length > 1);
const deviceText = i => {
    const d = data.devices[i];
    return alike[i] ? `${d.name} (${[d.backend, d.arch, d.mig, d.multiprocessors].filter(Boolean).join(', ')})` : d.name;
};
const sourceText = i => data.sources.length > 1 && data.sources[0].name === data.sources[1].name ? `${data.sources[i].name} (${i + 1})` : data.sources[i].name;
const SEVERAL = { source: data.sources.length > 1, device: data.devices.length > 1, cache: new Set(runs.map(r => r.cache)).size > 1 };
// Where a run took place, as far as there is more than one place.
const placeText = run => [SEVERAL.source && sourceText(run.source), SEVERAL.device && deviceText(run.device), SEVERAL.cache && `${run.cache} cache`]
    .filter(Boolean).join(', ');
const runText = run => [problemText(run.problem), placeText(run)].filter(Boolean).join('; ');
