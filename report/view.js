'use strict';
// What the page is made of: elements, tables that sort, charts that are drawn when they are near. All text goes in as text.

function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        if (name.startsWith('on'))
            node.addEventListener(name.slice(2), value);
        else if (value !== false && value !== null && value !== undefined)
            node.setAttribute(name, value === true ? '' : value);
    node.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false));
    return node;
}

const note = (...text) => el('p', { class: 'note' }, ...text);
const flag = (text, title) => el('span', { class: 'flag', title }, text);

// ---- tables --------------------------------------------------------------------------------------------------------------------------

const FIRST_ROWS = 25;
let tables = 0;

// Columns are { name, value: row => number or text to sort by, text: row => text or node, left, wide, prose }; values that are null are not known.
function table(caption, columns, rows, first = FIRST_ROWS) {
    const id = `table-${++tables}`;
    let shown = first, by = null, down = false;
    const body = el('tbody'), more = el('button', { type: 'button', class: 'more', onclick: () => { shown = shown === first ? 1000 : shown * 4; fill(); } });
    const heads = columns.map(column => {
        const sort = () => {
            down = by === column ? !down : false;
            by = column;
            heads.forEach((head, i) => head.setAttribute('aria-sort', columns[i] === by ? down ? 'descending' : 'ascending' : 'none'));
            fill();
        };
        return el('th', { scope: 'col', class: column.left ? null : 'number', 'aria-sort': 'none' },
                  el('button', { type: 'button', class: 'sort', onclick: sort }, column.name));
    });
    const order = (p, q) => {
        const a = by.value(p), b = by.value(q);
        if (a === null || b === null) // what is not known comes last, whichever way
            return (a === null) - (b === null);
        return (typeof a === 'number' && typeof b === 'number' ? a - b : inOrder(String(a), String(b))) * (down ? -1 : 1);
    };
    function fill() {
        const list = by ? [...rows].sort(order) : rows;
        body.replaceChildren(...list.slice(0, shown).map(row => el('tr', {}, columns.map((column, i) =>
            el(i ? 'td' : 'th', { scope: i ? null : 'row', class: column.wide ? 'wide' : column.prose ? 'prose' : column.left ? 'text' : 'number' }, column.text(row))))));
        more.hidden = rows.length <= shown;
        more.textContent = `${whole(Math.min(shown, rows.length))} of ${whole(rows.length)} rows shown: show more`;
    }
    fill();
    return el('div', { class: 'table' }, el('p', { id, class: 'note' }, caption),
              el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-labelledby': id },
                 el('table', { 'aria-labelledby': id }, el('thead', {}, el('tr', {}, heads)), body)),
              more);
}

// Columns of the usual kinds.
const unknown = '–';
// Long lists of values break after their commas.
const breakable = text => String(text).split(/(?<=,)/).flatMap((piece, i) => i ? [el('wbr'), piece] : [piece]);
const textColumn = (name, of) => ({ name, left: true, value: of, text: row => String(of(row) ?? unknown) });
const configColumn = (name, of) => ({ name, left: true, wide: true, value: of, text: row => el('span', {}, of(row) === null || of(row) === '' ? unknown : breakable(of(row))) });
const numberColumn = (name, of, text = digits) => ({ name, value: of, text: row => of(row) === null || of(row) === undefined ? unknown : text(of(row)) });
const timeColumn = (name, of) => numberColumn(name, row => of(row) || null, timeText);

// ---- charts --------------------------------------------------------------------------------------------------------------------------

const tip = el('div', { id: 'tip', 'aria-hidden': 'true', hidden: true });

function showTip(handler, event, item, value) {
    tip.hidden = value === null || value === undefined || value === '';
    if (tip.hidden)
        return;
    tip.textContent = value;
    const { clientX: x, clientY: y } = event, box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - box.width - 4))}px`;
    tip.style.top = `${y + 18 + box.height < document.documentElement.clientHeight ? y + 18 : Math.max(4, y - box.height - 12)}px`;
}

const waiting = new Map(); // canvas of a chart that is not drawn yet -> how
const drawn = new Map();   // canvas -> { view, how, width }
const nearby = new IntersectionObserver(entries => { // it tells of each chart once when that is new, so at first of all
    entries.filter(e => e.isIntersecting).forEach(e => draw(e.target));
    isDrawn();
}, { rootMargin: '200px' });

// What is in view is there: for those who measure or test.
function isDrawn() {
    performance.mark('drawn');
    document.documentElement.dataset.state = 'drawn';
}

// The chart is drawn before the next paint, for the caller goes on at once.
function draw(canvas) {
    const how = waiting.get(canvas) ?? drawn.get(canvas)?.how, width = Math.floor(canvas.clientWidth);
    if (!how || width < 50) // too narrow only while it is hidden
        return;
    waiting.delete(canvas);
    nearby.unobserve(canvas);
    drawn.get(canvas)?.view.finalize();
    const view = new vega.View(vega.parse(how.spec(width), VEGA_CONFIG, { ast: true }),
                               { renderer: 'svg', container: canvas, hover: false, expr: vega.expressionInterpreter, tooltip: showTip });
    view.run();
    if (how.click)
        view.addEventListener('click', (event, item) => item?.datum && how.click(item.datum));
    canvas.removeAttribute('role'); // the figure has the role and the words
    canvas.removeAttribute('aria-label');
    canvas.removeAttribute('aria-roledescription');
    canvas.style.minHeight = '';
    drawn.set(canvas, { view, how, width });
}

const drawAll = () => [...waiting.keys()].forEach(draw);

function forgetCharts(within) {
    for (const canvas of [...waiting.keys(), ...drawn.keys()])
        if (within.contains(canvas)) {
            nearby.unobserve(canvas);
            drawn.get(canvas)?.view.finalize();
            waiting.delete(canvas);
            drawn.delete(canvas);
        }
}

// A chart with its words: `says` is what a reader who does not see it should know. Its table is made when it is opened.
function chart({ id, title, says, spec, click, height = 260, notes = [], table: makeTable, controls }) {
    const canvas = el('div', { class: 'canvas', style: `min-height:${height}px` });
    const figure = el('figure', { id, class: 'chart' },
                      el('figcaption', {}, el('h3', {}, title), el('p', {}, says)), controls,
                      el('div', { role: 'img', 'aria-label': `${title}. ${says}` }, canvas), notes.map(n => note(n)));
    if (makeTable)
        figure.append(asTable(makeTable, title));
    waiting.set(canvas, { spec, click });
    nearby.observe(canvas);
    return figure;
}

function asTable(makeTable, title) {
    const details = el('details', {}, el('summary', {}, 'As a table', el('span', { class: 'unseen' }, `: ${title}`)));
    details.addEventListener('toggle', () => open(details));
    details.fill = () => { details.append(makeTable()); details.fill = null; };
    return details;
}

function open(details) {
    if (details.open && details.fill)
        details.fill();
}

// What is missing is said in the place of its chart.
const missing = (id, title, ...text) => el('figure', { id, class: 'chart missing' }, el('figcaption', {}, el('h3', {}, title), el('p', {}, ...text)));

function select(label, options, value, onchange) {
    const list = el('select', { onchange: event => onchange(event.target.value) },
                    options.map(o => el('option', { value: o.value, selected: String(o.value) === String(value) }, o.text)));
    return el('label', { class: 'choice' }, el('span', {}, label), list);
}

// Draws again what a change of width made too wide or too narrow.
let frame = 0;
new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
        for (const [canvas, { width }] of drawn)
            if (!matchMedia('print').matches && Math.floor(canvas.clientWidth) !== width)
                draw(canvas);
    });
}).observe(document.documentElement);

// On paper all is there, and open.
let opened = [];
addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')];
    opened.forEach(details => { details.open = true; open(details); });
    drawAll();
});
addEventListener('afterprint', () => opened.forEach(details => { details.open = false; }));
