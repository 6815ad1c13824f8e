-- How the tables of versions 1 to 3 look to version 5: a view newest_TABLE of each that has changed since. An older file is read through
-- these views, and migrating it fills the new tables from them. A line that ends in a number is of that version on; one that ends in < and
-- a number is of the versions before it.
--
-- An op and a kernel were rows of many tables. They become the bytes that are stored now, in form 3 of src/model/op_serial.c, which
-- stays readable. src/store/older.c has two functions for it: pack(letters, ...) gives bytes, pack_rows(letters, place, ...) the number
-- of its rows and the bytes of each. Their letters are
--   s: a text or NULL    b: a byte    n: 32 bits    v: a type and a value    x: bytes
-- Both give NULL if a value is damaged or missing, or if places do not count from 0. That costs the record and no other.

-- Which parameters are words, though their values may read like numbers.
CREATE TEMP TABLE older_words (op, variant, name, PRIMARY KEY (op, variant, name)) WITHOUT ROWID;
INSERT OR IGNORE INTO temp.older_words SELECT coalesce(t.op, p.op, 0), t.variant, w.name
FROM main.tuned_param AS w JOIN main.tuned AS t ON t.id = w.tuned LEFT JOIN main.problem AS p ON p.id = t.problem
WHERE w.type = 'string';

-- An op's bytes up to its variants. Rows of an argument that is not there are damage.
CREATE TEMP VIEW packed_op AS SELECT id, CASE WHEN NOT EXISTS
    (SELECT 1 FROM main.op_extent WHERE op = t.id AND arg NOT IN (SELECT place FROM main.op_arg WHERE op = t.id))
THEN pack('xssxxnxxnssssssssssssnbs', x'63756f33', name, NULL, -- "cuo3"; no file
    (SELECT pack_rows('sb', place, name,
            CASE kind WHEN 'size' THEN 0 WHEN 'stride' THEN 1 WHEN 'batch' THEN 2 WHEN 'flag' THEN 3 END)
     FROM (SELECT * FROM main.op_axis WHERE op = t.id ORDER BY place)),
    (SELECT pack_rows('s', place, name) FROM (SELECT * FROM main.op_type WHERE op = t.id ORDER BY place)),
    (SELECT count(DISTINCT line) FROM main.op_binding WHERE op = t.id), -- of element types; the cells follow, uncounted
    (SELECT substr(pack_rows('s', line * (SELECT count(*) FROM main.op_type WHERE op = t.id) + type, dtype), 5)
     FROM (SELECT * FROM main.op_binding WHERE op = t.id ORDER BY line, type)),
    (SELECT pack_rows('sbsxsbb', place, name,
            CASE kind WHEN 'input' THEN 0 WHEN 'output' THEN 1 WHEN 'inout' THEN 2 WHEN 'value' THEN 3 END, type,
            (SELECT pack_rows('s', e.place, extent)
             FROM (SELECT * FROM main.op_extent WHERE op = t.id AND arg = a.place ORDER BY place) AS e),
            value, 0, 0) -- fill, partial
     FROM (SELECT * FROM main.op_arg WHERE op = t.id ORDER BY place) AS a),
    0, work_bytes, work_flops, -- no shapes
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL) -- no reference, no check
END AS bytes FROM main.op AS t;

CREATE TEMP VIEW newest_op AS SELECT id, name, hash, current,
    NULL AS contract, NULL AS variants, -- <3
    contract, -- 3
    (SELECT '{' || group_concat('"' || v.name || '":"' || v.made || '"') || '}' FROM main.op_variant AS v WHERE v.op = t.id) -- 3
    AS variants, -- 3
    coalesce((SELECT pack('xnnnn', bytes, 0, 0, 0, 0) -- no variants, defaults, preludes, includes
              FROM temp.packed_op AS o WHERE o.id = t.id), x'') AS interface
FROM main.op AS t;

CREATE TEMP VIEW newest_code AS SELECT id, hash, source, binary, format, arch, compiler,
    NULL AS portable -- <2
    portable -- 2
FROM main.code;

CREATE TEMP VIEW newest_wanted AS -- <2
SELECT 0 AS device, '' AS op, '' AS types, '' AS sizes, 1 AS count, 0.0 AS time_ns, '' AS last WHERE 0; -- <2

-- A configuration was a text, "TILE=32,VEC=true": config_json(text, names of the parameters that are words).
CREATE TEMP VIEW newest_measurement AS SELECT id, device, problem, cache, key, protocol, provenance, variant,
    config_json(config, (SELECT group_concat(w.name) FROM main.problem AS p
                         JOIN temp.older_words AS w ON w.op = p.op AND w.variant = t.variant
                         WHERE p.id = t.problem)) AS config,
    outcome, reason, n, median, min, max, mean, stddev, ci_low, ci_high, samples, compile_ms, registers, shared, local,
    max_threads, sm_mhz, mem_mhz, created,
    NULL AS made -- <3
    made -- 3
FROM main.measurement AS t;

-- Tuned kernels with their op: a winner's is its problem's.
CREATE TEMP VIEW tuned_of_op AS SELECT *,
    coalesce(op, (SELECT p.op FROM main.problem AS p WHERE p.id = problem)) AS its_op
FROM main.tuned;

-- A kernel is its op with one variant, each of whose parameters has one value. Rows of a launch that is not there are damage.
CREATE TEMP VIEW newest_tuned AS SELECT id, role, device, problem, cache, op, types, backend, rank, key, variant,
    config_json(config, (SELECT group_concat(name) FROM temp.older_words AS w
                         WHERE w.op = t.its_op AND w.variant = t.variant)) AS config,
    time_ns, copy_ns, code, provenance, created,
    1 AS verified, -- <2
    verified, -- 2
    coalesce(CASE WHEN NOT EXISTS
        (SELECT 1 FROM main.tuned_launch_arg
         WHERE tuned = t.id AND launch NOT IN (SELECT place FROM main.tuned_launch WHERE tuned = t.id))
    THEN pack('xnsssxxxxxxsnbbbnnn', (SELECT bytes FROM temp.packed_op AS o WHERE o.id = t.its_op),
        1, variant, '', '', -- no template
        (SELECT pack_rows('snv', place, name, 1,
                CASE type WHEN 'bool' THEN 1 WHEN 'int' THEN 2 WHEN 'float' THEN 3 WHEN 'string' THEN 4 END, value)
         FROM (SELECT * FROM main.tuned_param WHERE tuned = t.id ORDER BY place)),
        (SELECT pack_rows('s', place, text) FROM (SELECT * FROM main.tuned_where WHERE tuned = t.id ORDER BY place)),
        (SELECT pack_rows('ssssssssx', place, kernel, grid_x, block_x, grid_y, block_y, grid_z, block_z, shared,
                (SELECT pack_rows('n', a.place, arg)
                 FROM (SELECT * FROM main.tuned_launch_arg WHERE tuned = t.id AND launch = l.place ORDER BY place) AS a))
         FROM (SELECT * FROM main.tuned_launch WHERE tuned = t.id ORDER BY place) AS l),
        (SELECT pack_rows('sssb', place, name, type, count, clear)
         FROM (SELECT * FROM main.tuned_workspace WHERE tuned = t.id ORDER BY place)),
        (SELECT pack_rows('bns', place, CASE kind WHEN 'align' THEN 0 WHEN 'noalias' THEN 1 END, arg, bytes)
         FROM (SELECT * FROM main.tuned_need WHERE tuned = t.id ORDER BY place)),
        (SELECT pack_rows('n', place, arg) FROM (SELECT * FROM main.tuned_clear WHERE tuned = t.id ORDER BY place)),
        requires_backend, requires_cc, requires_arch_specific, requires_grid_order, requires_grid_progress,
        0, 0, 0) -- no defaults, preludes, includes
    END, x'') AS kernel
FROM temp.tuned_of_op AS t;
