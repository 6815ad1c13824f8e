-- What files of versions 1 to 3 hold: the statements of version 3. A line that ends in a number is of that version on. The program holds
-- an older file against these before it reads it (src/store/older.c); nothing is made of them any more.

CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    backend TEXT NOT NULL CHECK (length(backend) BETWEEN 1 AND 15),
    name TEXT NOT NULL CHECK (length(name) <= 127),
    arch TEXT NOT NULL CHECK (length(arch) <= 63),
    mig TEXT NOT NULL CHECK (length(mig) <= 63),
    multiprocessors INTEGER NOT NULL CHECK (multiprocessors >= 0),
    memory INTEGER NOT NULL CHECK (memory >= 0),
    UNIQUE (backend, name, arch, mig, multiprocessors, memory)
);

CREATE TABLE provenance (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    uuid TEXT NOT NULL CHECK (length(uuid) <= 63),
    driver TEXT NOT NULL CHECK (length(driver) <= 63),
    cutune TEXT NOT NULL CHECK (length(cutune) BETWEEN 1 AND 63),
    UNIQUE (device, uuid, driver, cutune)
);

CREATE TABLE op (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    hash TEXT NOT NULL CHECK (length(hash) = 32),
    current INTEGER NOT NULL CHECK (current IN (0, 1)),
    work_bytes TEXT CHECK (length(work_bytes) BETWEEN 1 AND 65535),
    work_flops TEXT CHECK (length(work_flops) BETWEEN 1 AND 65535),
    packed BLOB, -- 2
    contract TEXT CHECK (length(contract) = 32), -- 3
    UNIQUE (name, hash)
);

CREATE UNIQUE INDEX op_current ON op (name) WHERE current = 1;

CREATE TABLE op_axis (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 15),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    kind TEXT NOT NULL CHECK (kind IN ('size', 'stride', 'batch', 'flag')),
    PRIMARY KEY (op, place)
) WITHOUT ROWID;

CREATE TABLE op_type (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 7),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    PRIMARY KEY (op, place)
) WITHOUT ROWID;

CREATE TABLE op_binding (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,
    line INTEGER NOT NULL CHECK (line BETWEEN 0 AND 65535),
    type INTEGER NOT NULL CHECK (type BETWEEN 0 AND 7),
    dtype TEXT NOT NULL CHECK (dtype IN ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64',
                                         'f16', 'bf16', 'f32', 'f64', 'c64', 'c128')),
    PRIMARY KEY (op, line, type)
) WITHOUT ROWID;

CREATE TABLE op_variant ( -- 3
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE, -- 3
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63), -- 3
    made TEXT NOT NULL CHECK (length(made) = 32), -- 3
    PRIMARY KEY (op, name) -- 3
) WITHOUT ROWID; -- 3

CREATE TABLE op_arg (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 31),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    kind TEXT NOT NULL CHECK (kind IN ('input', 'output', 'inout', 'value')),
    type TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 63),
    value TEXT CHECK (length(value) BETWEEN 1 AND 65535),
    PRIMARY KEY (op, place),
    CHECK ((kind = 'value') = (value IS NOT NULL))
) WITHOUT ROWID;

CREATE TABLE op_extent (
    op INTEGER NOT NULL,
    arg INTEGER NOT NULL,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 7),
    extent TEXT NOT NULL CHECK (length(extent) BETWEEN 1 AND 65535),
    PRIMARY KEY (op, arg, place),
    FOREIGN KEY (op, arg) REFERENCES op_arg ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,
    types TEXT NOT NULL CHECK (length(types) BETWEEN 1 AND 1023),
    sizes TEXT NOT NULL CHECK (length(sizes) <= 2047),
    bytes REAL NOT NULL CHECK (bytes BETWEEN 0 AND 1e30),
    flops REAL NOT NULL CHECK (flops BETWEEN 0 AND 1e30),
    UNIQUE (op, types, sizes)
);

CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    problem INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
    cache TEXT NOT NULL CHECK (cache IN ('cold', 'warm')),
    key TEXT NOT NULL CHECK (length(key) = 32),
    protocol INTEGER NOT NULL CHECK (protocol >= 1),
    provenance INTEGER NOT NULL REFERENCES provenance,
    variant TEXT NOT NULL CHECK (length(variant) BETWEEN 1 AND 63),
    config TEXT NOT NULL CHECK (length(config) <= 65535),
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'invalid', 'compile-error', 'resources', 'launch-error',
                                             'wrong', 'timeout', 'crash', 'slower')),
    reason TEXT NOT NULL CHECK (length(reason) <= 255),
    n INTEGER NOT NULL CHECK (n >= 0),
    median REAL NOT NULL CHECK (median BETWEEN 0 AND 1e18),
    min REAL NOT NULL CHECK (min BETWEEN 0 AND 1e18),
    max REAL NOT NULL CHECK (max BETWEEN 0 AND 1e18),
    mean REAL NOT NULL CHECK (mean BETWEEN 0 AND 1e18),
    stddev REAL NOT NULL CHECK (stddev BETWEEN 0 AND 1e18),
    ci_low REAL NOT NULL CHECK (ci_low BETWEEN 0 AND 1e18),
    ci_high REAL NOT NULL CHECK (ci_high BETWEEN 0 AND 1e18),
    samples BLOB NOT NULL CHECK (length(samples) % 8 = 0 AND length(samples) <= 8388608),
    compile_ms REAL NOT NULL CHECK (compile_ms BETWEEN 0 AND 1e12),
    registers INTEGER NOT NULL CHECK (registers >= -1),
    shared INTEGER NOT NULL CHECK (shared >= -1),
    local INTEGER NOT NULL CHECK (local >= -1),
    max_threads INTEGER NOT NULL CHECK (max_threads >= -1),
    sm_mhz INTEGER NOT NULL CHECK (sm_mhz >= 0),
    mem_mhz INTEGER NOT NULL CHECK (mem_mhz >= 0),
    created TEXT NOT NULL CHECK (length(created) = 20 AND created GLOB '*-*-*T*:*:*Z'),
    made TEXT CHECK (length(made) = 32), -- 3
    UNIQUE (device, problem, cache, key, protocol)
);

CREATE TABLE code (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 32),
    source TEXT NOT NULL,
    binary BLOB CHECK (length(binary) > 0),
    format TEXT CHECK (format IN ('cubin', 'ptx', 'clbin', 'null')),
    arch TEXT CHECK (length(arch) <= 63),
    compiler TEXT CHECK (length(compiler) <= 255),
    portable TEXT CHECK (length(portable) > 0), -- 2
    CHECK (binary IS NULL OR format IS NOT NULL)
);

CREATE TABLE tuned (
    id INTEGER PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('winner', 'default')),
    device INTEGER REFERENCES device ON DELETE CASCADE,
    problem INTEGER REFERENCES problem ON DELETE CASCADE,
    cache TEXT CHECK (cache IN ('cold', 'warm')),
    op INTEGER REFERENCES op ON DELETE CASCADE,
    types TEXT CHECK (length(types) BETWEEN 1 AND 1023),
    backend TEXT CHECK (length(backend) BETWEEN 1 AND 15),
    rank INTEGER CHECK (rank BETWEEN 0 AND 255),
    key TEXT NOT NULL CHECK (length(key) = 32),
    variant TEXT NOT NULL CHECK (length(variant) BETWEEN 1 AND 63),
    config TEXT NOT NULL CHECK (length(config) <= 65535),
    time_ns REAL NOT NULL CHECK (time_ns BETWEEN 0 AND 1e18),
    copy_ns REAL NOT NULL CHECK (copy_ns BETWEEN 0 AND 1e18),
    code INTEGER NOT NULL REFERENCES code,
    provenance INTEGER REFERENCES provenance,
    requires_backend TEXT CHECK (length(requires_backend) BETWEEN 1 AND 15),
    requires_cc INTEGER NOT NULL CHECK (requires_cc >= 0),
    requires_arch_specific INTEGER NOT NULL CHECK (requires_arch_specific IN (0, 1)),
    requires_grid_order INTEGER NOT NULL CHECK (requires_grid_order IN (0, 1)),
    requires_grid_progress INTEGER NOT NULL CHECK (requires_grid_progress IN (0, 1)),
    created TEXT NOT NULL CHECK (length(created) = 20 AND created GLOB '*-*-*T*:*:*Z'),
    verified INTEGER NOT NULL DEFAULT 1 CHECK (verified IN (0, 1)), -- 2
    packed BLOB, -- 2
    UNIQUE (device, problem, cache),
    UNIQUE (op, types, backend, rank),
    CHECK ((role = 'winner') = (device IS NOT NULL)),
    CHECK ((role = 'winner') = (problem IS NOT NULL)),
    CHECK ((role = 'winner') = (cache IS NOT NULL)),
    CHECK ((role = 'winner') = (provenance IS NOT NULL)),
    CHECK ((role = 'default') = (op IS NOT NULL)),
    CHECK ((role = 'default') = (types IS NOT NULL)),
    CHECK ((role = 'default') = (backend IS NOT NULL)),
    CHECK ((role = 'default') = (rank IS NOT NULL))
);

CREATE INDEX tuned_code ON tuned (code);

CREATE TABLE tuned_param (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 63),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    type TEXT NOT NULL CHECK (type IN ('bool', 'int', 'float', 'string')),
    value NOT NULL CHECK (typeof(value) = CASE type WHEN 'float' THEN 'real' WHEN 'string' THEN 'text' ELSE 'integer' END),
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

CREATE TABLE tuned_launch (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 7),
    kernel TEXT NOT NULL CHECK (length(kernel) BETWEEN 1 AND 63),
    grid_x TEXT CHECK (length(grid_x) BETWEEN 1 AND 65535),
    grid_y TEXT CHECK (length(grid_y) BETWEEN 1 AND 65535),
    grid_z TEXT CHECK (length(grid_z) BETWEEN 1 AND 65535),
    block_x TEXT CHECK (length(block_x) BETWEEN 1 AND 65535),
    block_y TEXT CHECK (length(block_y) BETWEEN 1 AND 65535),
    block_z TEXT CHECK (length(block_z) BETWEEN 1 AND 65535),
    shared TEXT CHECK (length(shared) BETWEEN 1 AND 65535),
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

CREATE TABLE tuned_launch_arg (
    tuned INTEGER NOT NULL,
    launch INTEGER NOT NULL,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 63),
    arg INTEGER NOT NULL CHECK (arg BETWEEN 0 AND 63),
    PRIMARY KEY (tuned, launch, place),
    FOREIGN KEY (tuned, launch) REFERENCES tuned_launch ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE tuned_where (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 65535),
    text TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 65535),
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

CREATE TABLE tuned_workspace (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 31),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    type TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 63),
    count TEXT NOT NULL CHECK (length(count) BETWEEN 1 AND 65535),
    clear INTEGER NOT NULL CHECK (clear IN (0, 1)),
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

CREATE TABLE tuned_need (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 65535),
    kind TEXT NOT NULL CHECK (kind IN ('align', 'noalias')),
    arg INTEGER NOT NULL CHECK (arg BETWEEN 0 AND 31),
    bytes TEXT CHECK (length(bytes) BETWEEN 1 AND 65535),
    PRIMARY KEY (tuned, place),
    CHECK ((kind = 'align') = (bytes IS NOT NULL))
) WITHOUT ROWID;

CREATE TABLE tuned_clear (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 31),
    arg INTEGER NOT NULL CHECK (arg BETWEEN 0 AND 31),
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

CREATE TABLE wanted ( -- 2
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE, -- 2
    op TEXT NOT NULL CHECK (length(op) BETWEEN 1 AND 63), -- 2
    types TEXT NOT NULL CHECK (length(types) BETWEEN 1 AND 1023), -- 2
    sizes TEXT NOT NULL CHECK (length(sizes) <= 2047), -- 2
    count INTEGER NOT NULL CHECK (count BETWEEN 1 AND 1000000000000000000), -- 2
    time_ns REAL NOT NULL CHECK (time_ns BETWEEN 0 AND 1e18), -- 2
    last TEXT NOT NULL CHECK (length(last) = 20 AND last GLOB '*-*-*T*:*:*Z'), -- 2
    PRIMARY KEY (device, op, types, sizes) -- 2
) WITHOUT ROWID; -- 2
