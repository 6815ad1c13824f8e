-- cutune's database: what was measured, and the kernels that came out of it. Version 3.
--
-- This file makes a new database of the newest version; db/migrations/README.md says how an older one gets there. It runs inside one
-- transaction. Times are in nanoseconds, sizes in bytes, unless a column says otherwise. A `place` counts from 0 and leaves no gap.
-- Expressions are text in the language of src/expr, over the names said beside them.

PRAGMA application_id = 1668641902; -- "cutn": marks the file as cutune's
PRAGMA user_version = 3;            -- the schema's version

-- A device, by what makes two of them alike: equal devices share their records.
CREATE TABLE device (
    id INTEGER PRIMARY KEY,                                            -- row
    backend TEXT NOT NULL CHECK (length(backend) BETWEEN 1 AND 15),    -- "cuda", "opencl", "null"
    name TEXT NOT NULL CHECK (length(name) <= 127),                    -- as the driver names it: "NVIDIA H200"
    arch TEXT NOT NULL CHECK (length(arch) <= 63),                     -- "sm_90"; OpenCL: the platform, "pocl"
    mig TEXT NOT NULL CHECK (length(mig) <= 63),                       -- MIG slice; '' where there is none
    multiprocessors INTEGER NOT NULL CHECK (multiprocessors >= 0),     -- or OpenCL compute units
    memory INTEGER NOT NULL CHECK (memory >= 0),                       -- bytes; 0 for a CPU, where it varies
    UNIQUE (backend, name, arch, mig, multiprocessors, memory)
);

-- Which piece of hardware, driver and cutune a record came from. Only to be read by people: look-ups do not ask for it.
CREATE TABLE provenance (
    id INTEGER PRIMARY KEY,                                            -- row
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- whose
    uuid TEXT NOT NULL CHECK (length(uuid) <= 63),                     -- '' where the driver tells none
    driver TEXT NOT NULL CHECK (length(driver) <= 63),                 -- its version
    cutune TEXT NOT NULL CHECK (length(cutune) BETWEEN 1 AND 63),      -- cutune's version
    UNIQUE (device, uuid, driver, cutune)
);

-- An op: its interface, which is what a caller of its kernels has to know, and its contract, which is what they were proved against.
-- When either changes, a new row becomes the current one and everything that hangs on the earlier row is stale: kept, listed, not
-- served. Changed back, it is current again.
-- packed, here and in tuned: what the tables that hang on the row say, once more in one piece, as look-ups read it (src/store/packed.c);
-- null: they read the tables. Who changes those by hand sets it to null.
CREATE TABLE op (
    id INTEGER PRIMARY KEY,                                            -- row
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- "transpose"
    hash TEXT NOT NULL CHECK (length(hash) = 32),                      -- of axes, type names, arguments and the contract; hexadecimal
    current INTEGER NOT NULL CHECK (current IN (0, 1)),                -- 1: what the script said last
    work_bytes TEXT CHECK (length(work_bytes) BETWEEN 1 AND 65535),    -- bytes that must be moved: over axes and types; null: unknown
    work_flops TEXT CHECK (length(work_flops) BETWEEN 1 AND 65535),    -- floating-point operations: likewise
    packed BLOB,                                                       -- see above the table
    contract TEXT CHECK (length(contract) = 32),                       -- of check, reference and fills; null: of before version 3
    UNIQUE (name, hash)
);
CREATE UNIQUE INDEX op_current ON op (name) WHERE current = 1;

-- The sizes that make a problem of the op, in its order.
CREATE TABLE op_axis (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 15),             -- in the order of sizes
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- "m"
    kind TEXT NOT NULL CHECK (kind IN ('size', 'stride', 'batch', 'flag')), -- size, stride: elements; batch: a count; flag: 0 or 1
    PRIMARY KEY (op, place)
) WITHOUT ROWID;

-- The op's type names: T, or T, ACC and OUT.
CREATE TABLE op_type (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 7),              -- in the order of declaration
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- "T"
    PRIMARY KEY (op, place)
) WITHOUT ROWID;

-- The element types that the names may stand for together: one binding is one `line` with an entry for every type name.
CREATE TABLE op_binding (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- whose
    line INTEGER NOT NULL CHECK (line BETWEEN 0 AND 65535),            -- counts from 0
    type INTEGER NOT NULL CHECK (type BETWEEN 0 AND 7),                -- place of the type name
    dtype TEXT NOT NULL CHECK (dtype IN ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64', -- element type
                                         'f16', 'bf16', 'f32', 'f64', 'c64', 'c128')),
    PRIMARY KEY (op, line, type)
) WITHOUT ROWID;

-- The op's variants as a script had them last.
CREATE TABLE op_variant (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- whose
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- "tile"
    made TEXT NOT NULL CHECK (length(made) = 32),                      -- of its template, launches and workspaces; hexadecimal
    PRIMARY KEY (op, name)
) WITHOUT ROWID;

-- The arguments of the op's kernels, in their order.
CREATE TABLE op_arg (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 31),             -- in the order of the kernels
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- "out"
    kind TEXT NOT NULL CHECK (kind IN ('input', 'output', 'inout', 'value')), -- the first three are buffers
    type TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 63),          -- a type name of the op, or an element type
    value TEXT CHECK (length(value) BETWEEN 1 AND 65535),              -- of a value: over axes and types; null for a buffer
    PRIMARY KEY (op, place),
    CHECK ((kind = 'value') = (value IS NOT NULL))
) WITHOUT ROWID;

-- A buffer argument's extents, row-major, outermost first.
CREATE TABLE op_extent (
    op INTEGER NOT NULL,                                               -- whose
    arg INTEGER NOT NULL,                                              -- place of the argument
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 7),              -- dimension
    extent TEXT NOT NULL CHECK (length(extent) BETWEEN 1 AND 65535),   -- elements: over axes and types
    PRIMARY KEY (op, arg, place),
    FOREIGN KEY (op, arg) REFERENCES op_arg ON DELETE CASCADE
) WITHOUT ROWID;

-- A problem that was tuned: an op, its element types and a size for each axis.
CREATE TABLE problem (
    id INTEGER PRIMARY KEY,                                            -- row
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- what is computed
    types TEXT NOT NULL CHECK (length(types) BETWEEN 1 AND 1023),      -- "f32", or "T=f16,ACC=f32" where there are several
    sizes TEXT NOT NULL CHECK (length(sizes) <= 2047),                 -- "m=1111,n=113", in the op's order
    bytes REAL NOT NULL CHECK (bytes BETWEEN 0 AND 1e30),              -- op.work_bytes for this problem; 0: unknown
    flops REAL NOT NULL CHECK (flops BETWEEN 0 AND 1e30),              -- op.work_flops for this problem; 0: unknown
    UNIQUE (op, types, sizes)
);

-- What came of one configuration. The key is a hash of all that its verdict and its time depend on (src/source/key.c): a comment in a
-- script leaves a measurement valid, a changed template or check does not find it. It is stale if its op is not current, or if its
-- `made` is no longer its variant's. Statistics are over the samples that decided, in nanoseconds, of
-- all launches of the configuration together with what it has to clear; 0 where nothing was timed.
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,                                            -- grows in the order of first storing
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- where it was timed
    problem INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,     -- what was computed
    cache TEXT NOT NULL CHECK (cache IN ('cold', 'warm')),             -- the device's last-level cache before each sample
    key TEXT NOT NULL CHECK (length(key) = 32),                        -- hexadecimal
    protocol INTEGER NOT NULL CHECK (protocol >= 1),                   -- version of the way of timing: numbers of two do not compare
    provenance INTEGER NOT NULL REFERENCES provenance,                 -- who timed it
    variant TEXT NOT NULL CHECK (length(variant) BETWEEN 1 AND 63),    -- of the op: "tile"
    config TEXT NOT NULL CHECK (length(config) <= 65535),              -- "TILE=32,ROWS=8"; '' for a variant without parameters
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'invalid', 'compile-error', 'resources', 'launch-error', -- what came of it;
                                             'wrong', 'timeout', 'crash', 'slower')), -- slower: right, cut short because clearly behind
    reason TEXT NOT NULL CHECK (length(reason) <= 255),                -- one line; '' for ok
    n INTEGER NOT NULL CHECK (n >= 0),                                 -- samples that the statistics are of
    median REAL NOT NULL CHECK (median BETWEEN 0 AND 1e18),            -- ns, as all to ci_high
    min REAL NOT NULL CHECK (min BETWEEN 0 AND 1e18),                  -- ns: the fastest sample
    max REAL NOT NULL CHECK (max BETWEEN 0 AND 1e18),                  -- ns: the slowest
    mean REAL NOT NULL CHECK (mean BETWEEN 0 AND 1e18),                -- ns
    stddev REAL NOT NULL CHECK (stddev BETWEEN 0 AND 1e18),            -- ns: of the samples, not of the mean
    ci_low REAL NOT NULL CHECK (ci_low BETWEEN 0 AND 1e18),            -- 95% interval of the median
    ci_high REAL NOT NULL CHECK (ci_high BETWEEN 0 AND 1e18),          -- ns
    samples BLOB NOT NULL CHECK (length(samples) % 8 = 0 AND length(samples) <= 8388608), -- ns, in order: little-endian 64-bit floats
    compile_ms REAL NOT NULL CHECK (compile_ms BETWEEN 0 AND 1e12),    -- milliseconds
    registers INTEGER NOT NULL CHECK (registers >= -1),                -- a thread, of the worst kernel, as the next three; -1: unknown
    shared INTEGER NOT NULL CHECK (shared >= -1),                      -- static shared memory a block, bytes; -1: unknown
    local INTEGER NOT NULL CHECK (local >= -1),                        -- spills and arrays a thread, bytes; -1: unknown
    max_threads INTEGER NOT NULL CHECK (max_threads >= -1),            -- threads that a block of it may have; -1: unknown
    sm_mhz INTEGER NOT NULL CHECK (sm_mhz >= 0),                       -- clocks right after timing, MHz; 0: unknown
    mem_mhz INTEGER NOT NULL CHECK (mem_mhz >= 0),                     -- of the memory, MHz; 0: unknown
    created TEXT NOT NULL CHECK (length(created) = 20 AND created GLOB '*-*-*T*:*:*Z'), -- UTC
    made TEXT CHECK (length(made) = 32),                               -- op_variant.made when it was last found or stored; null: unknown
    UNIQUE (device, problem, cache, key, protocol)
);

-- A kernel's code. Sizes are launch arguments, so the winners of many problems share one row; a row that none uses is deleted.
CREATE TABLE code (
    id INTEGER PRIMARY KEY,                                            -- row
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 32),               -- of all that follows; hexadecimal
    source TEXT NOT NULL,                                              -- as handed to the compiler
    binary BLOB CHECK (length(binary) > 0),                            -- as loaded by the driver; null: compile the source
    format TEXT CHECK (format IN ('cubin', 'ptx', 'clbin', 'null')),   -- of the binary
    arch TEXT CHECK (length(arch) <= 63),                              -- that the binary is for: "sm_90"
    compiler TEXT CHECK (length(compiler) <= 255),                     -- "NVRTC 13.0"
    portable TEXT CHECK (length(portable) > 0),                        -- PTX of the source, for the binary's compute capability or below
    CHECK (binary IS NULL OR format IS NOT NULL)
);

-- A kernel to be served, as libcutune needs it: with no script and no tuner. A winner belongs to a device and problem; a default to
-- (op, types, backend, rank), and is used for any problem whose constraints hold when no winner fits.
CREATE TABLE tuned (
    id INTEGER PRIMARY KEY,                                            -- row
    role TEXT NOT NULL CHECK (role IN ('winner', 'default')),          -- which of the two
    device INTEGER REFERENCES device ON DELETE CASCADE,                -- winner
    problem INTEGER REFERENCES problem ON DELETE CASCADE,              -- winner
    cache TEXT CHECK (cache IN ('cold', 'warm')),                      -- winner: as in measurement
    op INTEGER REFERENCES op ON DELETE CASCADE,                        -- default
    types TEXT CHECK (length(types) BETWEEN 1 AND 1023),               -- default: as in problem
    backend TEXT CHECK (length(backend) BETWEEN 1 AND 15),             -- default: as in device
    rank INTEGER CHECK (rank BETWEEN 0 AND 255),                       -- default: the lowest whose constraints hold is used
    key TEXT NOT NULL CHECK (length(key) = 32),                        -- of its measurement; of its source where there is none
    variant TEXT NOT NULL CHECK (length(variant) BETWEEN 1 AND 63),    -- of the op: "tile"
    config TEXT NOT NULL CHECK (length(config) <= 65535),              -- as in measurement; tuned_param has it typed
    time_ns REAL NOT NULL CHECK (time_ns BETWEEN 0 AND 1e18),          -- median, ns; 0: not measured
    copy_ns REAL NOT NULL CHECK (copy_ns BETWEEN 0 AND 1e18),          -- a device copy of the same bytes in the same run; 0: not measured
    code INTEGER NOT NULL REFERENCES code,                             -- what is launched
    provenance INTEGER REFERENCES provenance,                          -- winner
    requires_backend TEXT CHECK (length(requires_backend) BETWEEN 1 AND 15), -- null: any
    requires_cc INTEGER NOT NULL CHECK (requires_cc >= 0),             -- CUDA compute capability * 10, at least; 0: any
    requires_arch_specific INTEGER NOT NULL CHECK (requires_arch_specific IN (0, 1)), -- 1: compile for sm_NNa
    requires_grid_order INTEGER NOT NULL CHECK (requires_grid_order IN (0, 1)),       -- 1: blocks start in the order of their index
    requires_grid_progress INTEGER NOT NULL CHECK (requires_grid_progress IN (0, 1)), -- 1: all blocks of the grid run at once
    created TEXT NOT NULL CHECK (length(created) = 20 AND created GLOB '*-*-*T*:*:*Z'), -- UTC
    verified INTEGER NOT NULL DEFAULT 1 CHECK (verified IN (0, 1)),    -- 0: brought from elsewhere, not yet found right here: not served
    packed BLOB,                                                       -- as in op: what the tables tuned_* say of it
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

-- The configuration's parameters and values.
CREATE TABLE tuned_param (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,         -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 63),             -- in the variant's order
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- "TILE"
    type TEXT NOT NULL CHECK (type IN ('bool', 'int', 'float', 'string')), -- of the value
    value NOT NULL CHECK (typeof(value) = CASE type WHEN 'float' THEN 'real' WHEN 'string' THEN 'text' ELSE 'integer' END), -- bool: 0, 1
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

-- The launches, in their order. Expressions are over parameters, axes, types and device.*.
CREATE TABLE tuned_launch (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,         -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 7),              -- in the order of launching
    kernel TEXT NOT NULL CHECK (length(kernel) BETWEEN 1 AND 63),      -- the entry's name
    grid_x TEXT CHECK (length(grid_x) BETWEEN 1 AND 65535),            -- blocks; null: 1
    grid_y TEXT CHECK (length(grid_y) BETWEEN 1 AND 65535),            -- likewise, and below
    grid_z TEXT CHECK (length(grid_z) BETWEEN 1 AND 65535),            -- blocks
    block_x TEXT CHECK (length(block_x) BETWEEN 1 AND 65535),          -- threads; null: 1
    block_y TEXT CHECK (length(block_y) BETWEEN 1 AND 65535),          -- threads
    block_z TEXT CHECK (length(block_z) BETWEEN 1 AND 65535),          -- threads
    shared TEXT CHECK (length(shared) BETWEEN 1 AND 65535),            -- dynamic shared memory, bytes; null: none
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

-- What a launch is handed, in its order.
CREATE TABLE tuned_launch_arg (
    tuned INTEGER NOT NULL,                                            -- whose
    launch INTEGER NOT NULL,                                           -- place of the launch
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 63),             -- in the kernel's order
    arg INTEGER NOT NULL CHECK (arg BETWEEN 0 AND 63),                 -- as in src/model/op.h: an argument of the op, or a workspace
    PRIMARY KEY (tuned, launch, place),
    FOREIGN KEY (tuned, launch) REFERENCES tuned_launch ON DELETE CASCADE
) WITHOUT ROWID;

-- What must hold of the problem and device: each a boolean over parameters, axes, types and device.*.
CREATE TABLE tuned_where (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,         -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 65535),          -- in the order of checking
    text TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 65535),       -- "TILE % ROWS == 0"
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

-- Buffers of the kernels' own, handed to them after the op's arguments.
CREATE TABLE tuned_workspace (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,         -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 31),             -- after the op's arguments, in this order
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),          -- for messages
    type TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 63),          -- a type name of the op, or an element type
    count TEXT NOT NULL CHECK (length(count) BETWEEN 1 AND 65535),     -- elements: over parameters, axes, types and device.*
    clear INTEGER NOT NULL CHECK (clear IN (0, 1)),                    -- 1: zeroed before each run
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

-- What must hold of the pointers at launch.
CREATE TABLE tuned_need (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,         -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 65535),          -- in the order of checking
    kind TEXT NOT NULL CHECK (kind IN ('align', 'noalias')),           -- noalias: overlaps no other buffer argument
    arg INTEGER NOT NULL CHECK (arg BETWEEN 0 AND 31),                 -- place of an argument of the op
    bytes TEXT CHECK (length(bytes) BETWEEN 1 AND 65535),              -- align: the address is a multiple; over parameters and types
    PRIMARY KEY (tuned, place),
    CHECK ((kind = 'align') = (bytes IS NOT NULL))
) WITHOUT ROWID;

-- Outputs that must be zero before the first launch.
CREATE TABLE tuned_clear (
    tuned INTEGER NOT NULL REFERENCES tuned ON DELETE CASCADE,         -- whose
    place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 31),             -- in the order of clearing
    arg INTEGER NOT NULL CHECK (arg BETWEEN 0 AND 31),                 -- place of an argument of the op
    PRIMARY KEY (tuned, place)
) WITHOUT ROWID;

-- What applications asked for without an exact answer: `cutune run --wanted` tunes it and deletes the row. The op need not be known.
CREATE TABLE wanted (
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- where it was to run
    op TEXT NOT NULL CHECK (length(op) BETWEEN 1 AND 63),              -- "transpose"
    types TEXT NOT NULL CHECK (length(types) BETWEEN 1 AND 1023),      -- as in problem
    sizes TEXT NOT NULL CHECK (length(sizes) <= 2047),                 -- as in problem
    count INTEGER NOT NULL CHECK (count BETWEEN 1 AND 1000000000000000000), -- times asked for; stays at the most
    time_ns REAL NOT NULL CHECK (time_ns BETWEEN 0 AND 1e18),          -- what a call is expected to take, ns; 0: unknown
    last TEXT NOT NULL CHECK (length(last) = 20 AND last GLOB '*-*-*T*:*:*Z'), -- UTC
    PRIMARY KEY (device, op, types, sizes)
) WITHOUT ROWID;
INSERT INTO code VALUES(1,'19b5b8c3788cc39a8f4e0a194eaae10f',replace('void transpose() {\n}\n','\n',char(10)),X'7f454c460072657374','cubin','sm_90','NVRTC 13.0',NULL);
INSERT INTO device VALUES(1,'cuda','NVIDIA H200','sm_90','',132,150754820096);
INSERT INTO measurement VALUES(1,1,1,'cold','01636a24aa303c7329fb3ba4e4d45ba3',1,1,'tile','TILE=8,GRID=xy,PAD=true,SCALE=0.5','ok','',3,1000.0,999.0,1001.0,1000.0,1.0,999.0,1001.0,X'0000000000388f400000000000408f400000000000488f40',0.0,-1,-1,-1,-1,0,0,'2026-11-22T06:39:25Z','f2a7e6d3331e7a4cd82729bf12bfbebb');
INSERT INTO measurement VALUES(2,1,2,'cold','01636a24aa303c7329fb3ba4e4d45ba3',1,1,'tile','TILE=8,GRID=xy,PAD=true,SCALE=0.5','ok','',3,1000.0,999.0,1001.0,1000.0,1.0,999.0,1001.0,X'0000000000388f400000000000408f400000000000488f40',0.0,-1,-1,-1,-1,0,0,'2026-11-22T06:39:25Z','f2a7e6d3331e7a4cd82729bf12bfbebb');
INSERT INTO op VALUES(1,'transpose','58cb7ffbc193d4f069cd79f86b82fcb5',1,'2*m*n*sizeof(T)',NULL,X'63756f33090000007472616e73706f7365ffffffff02000000010000006d00010000006e0001000000010000005402000000030000006633320300000069333204000000030000006f757401010000005402000000010000006e010000006dffffffff000002000000696e00010000005402000000010000006d010000006effffffff0000010000006d030300000069363400000000010000006d0000010000006e030300000069363400000000010000006e000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000ffffffff0000000000000000ffffffffffffffff00000000','082198fa01dc8a3762b78c398753434a');
INSERT INTO op_arg VALUES(1,0,'out','output','T',NULL);
INSERT INTO op_arg VALUES(1,1,'in','input','T',NULL);
INSERT INTO op_arg VALUES(1,2,'m','value','i64','m');
INSERT INTO op_arg VALUES(1,3,'n','value','i64','n');
INSERT INTO op_axis VALUES(1,0,'m','size');
INSERT INTO op_axis VALUES(1,1,'n','size');
INSERT INTO op_binding VALUES(1,0,0,'f32');
INSERT INTO op_binding VALUES(1,1,0,'i32');
INSERT INTO op_extent VALUES(1,0,0,'n');
INSERT INTO op_extent VALUES(1,0,1,'m');
INSERT INTO op_extent VALUES(1,1,0,'m');
INSERT INTO op_extent VALUES(1,1,1,'n');
INSERT INTO op_type VALUES(1,0,'T');
INSERT INTO op_variant VALUES(1,'tile','f2a7e6d3331e7a4cd82729bf12bfbebb');
INSERT INTO problem VALUES(1,1,'f32','m=1111,n=113',1004344.0,0.0);
INSERT INTO problem VALUES(2,1,'f32','m=5,n=6',240.0,0.0);
INSERT INTO provenance VALUES(1,1,'GPU-1','580.1','0.1.0');
INSERT INTO tuned VALUES(1,'winner',1,1,'cold',NULL,NULL,NULL,NULL,'01636a24aa303c7329fb3ba4e4d45ba3','tile','TILE=8,GRID=xy,PAD=true,SCALE=0.5',1000.0,500.0,1,1,NULL,0,0,0,0,'2026-11-22T06:39:25Z',1,X'63757431040000000400000054494c45020800000000000000040000004752494404020000007879030000005041440101050000005343414c4503000000000000e03f01000000070000007061727469616c01000000540f0000006365696c646976286e2c54494c45290102000000090000007472616e73706f73654300000047524944203d3d202778792720616e64206365696c646976286e2c54494c4529206f72206365696c646976286e2c54494c45292a6365696c646976286d2c54494c45290400000054494c452500000047524944203d3d202778792720616e64206365696c646976286d2c54494c4529206f7220310100000038ffffffffffffffff1700000054494c452a2854494c452b31292a73697a656f662854290500000000000000010000000200000003000000040000000600000066696e697368ffffffffffffffffffffffffffffffffffffffffffffffffffffffff0100000000000000020000000a00000054494c45203c3d2036342700000047524944203d3d20277827206f72206365696c646976286d2c54494c4529203c3d2036353533350200000000010000000b00000073697a656f662854292a320100000000ffffffff0100000000000000');
INSERT INTO tuned VALUES(2,'winner',1,2,'cold',NULL,NULL,NULL,NULL,'01636a24aa303c7329fb3ba4e4d45ba3','tile','TILE=8,GRID=xy,PAD=true,SCALE=0.5',1000.0,500.0,1,1,NULL,0,0,0,0,'2026-11-22T06:39:25Z',1,X'63757431040000000400000054494c45020800000000000000040000004752494404020000007879030000005041440101050000005343414c4503000000000000e03f01000000070000007061727469616c01000000540f0000006365696c646976286e2c54494c45290102000000090000007472616e73706f73654300000047524944203d3d202778792720616e64206365696c646976286e2c54494c4529206f72206365696c646976286e2c54494c45292a6365696c646976286d2c54494c45290400000054494c452500000047524944203d3d202778792720616e64206365696c646976286d2c54494c4529206f7220310100000038ffffffffffffffff1700000054494c452a2854494c452b31292a73697a656f662854290500000000000000010000000200000003000000040000000600000066696e697368ffffffffffffffffffffffffffffffffffffffffffffffffffffffff0100000000000000020000000a00000054494c45203c3d2036342700000047524944203d3d20277827206f72206365696c646976286d2c54494c4529203c3d2036353533350200000000010000000b00000073697a656f662854292a320100000000ffffffff0100000000000000');
INSERT INTO tuned VALUES(3,'default',NULL,NULL,NULL,1,'f32','cuda',0,'037e8f34cc2427c9c38660776d2f2a1e','tile','TILE=32,GRID=xy,PAD=true,SCALE=0.5',0.0,0.0,1,NULL,NULL,0,0,0,0,'2026-11-22T06:39:25Z',1,X'63757431040000000400000054494c45022000000000000000040000004752494404020000007879030000005041440101050000005343414c4503000000000000e03f01000000070000007061727469616c01000000540f0000006365696c646976286e2c54494c45290102000000090000007472616e73706f73654300000047524944203d3d202778792720616e64206365696c646976286e2c54494c4529206f72206365696c646976286e2c54494c45292a6365696c646976286d2c54494c45290400000054494c452500000047524944203d3d202778792720616e64206365696c646976286d2c54494c4529206f7220310100000038ffffffffffffffff1700000054494c452a2854494c452b31292a73697a656f662854290500000000000000010000000200000003000000040000000600000066696e697368ffffffffffffffffffffffffffffffffffffffffffffffffffffffff0100000000000000020000000a00000054494c45203c3d2036342700000047524944203d3d20277827206f72206365696c646976286d2c54494c4529203c3d2036353533350200000000010000000b00000073697a656f662854292a320100000000ffffffff0100000000000000');
INSERT INTO tuned VALUES(4,'default',NULL,NULL,NULL,1,'f32','cuda',1,'fb512cc53116e8a4e565d63d7bd257da','tile','TILE=32,GRID=x,PAD=true,SCALE=0.5',0.0,0.0,1,NULL,NULL,0,0,0,0,'2026-11-22T06:39:25Z',1,X'63757431040000000400000054494c450220000000000000000400000047524944040100000078030000005041440101050000005343414c4503000000000000e03f01000000070000007061727469616c01000000540f0000006365696c646976286e2c54494c45290102000000090000007472616e73706f73654300000047524944203d3d202778792720616e64206365696c646976286e2c54494c4529206f72206365696c646976286e2c54494c45292a6365696c646976286d2c54494c45290400000054494c452500000047524944203d3d202778792720616e64206365696c646976286d2c54494c4529206f7220310100000038ffffffffffffffff1700000054494c452a2854494c452b31292a73697a656f662854290500000000000000010000000200000003000000040000000600000066696e697368ffffffffffffffffffffffffffffffffffffffffffffffffffffffff0100000000000000020000000a00000054494c45203c3d2036342700000047524944203d3d20277827206f72206365696c646976286d2c54494c4529203c3d2036353533350200000000010000000b00000073697a656f662854292a320100000000ffffffff0100000000000000');
INSERT INTO tuned_clear VALUES(1,0,0);
INSERT INTO tuned_clear VALUES(2,0,0);
INSERT INTO tuned_clear VALUES(3,0,0);
INSERT INTO tuned_clear VALUES(4,0,0);
INSERT INTO tuned_launch VALUES(1,0,'transpose','GRID == ''xy'' and ceildiv(n,TILE) or ceildiv(n,TILE)*ceildiv(m,TILE)','GRID == ''xy'' and ceildiv(m,TILE) or 1',NULL,'TILE','8',NULL,'TILE*(TILE+1)*sizeof(T)');
INSERT INTO tuned_launch VALUES(1,1,'finish',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO tuned_launch VALUES(2,0,'transpose','GRID == ''xy'' and ceildiv(n,TILE) or ceildiv(n,TILE)*ceildiv(m,TILE)','GRID == ''xy'' and ceildiv(m,TILE) or 1',NULL,'TILE','8',NULL,'TILE*(TILE+1)*sizeof(T)');
INSERT INTO tuned_launch VALUES(2,1,'finish',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO tuned_launch VALUES(3,0,'transpose','GRID == ''xy'' and ceildiv(n,TILE) or ceildiv(n,TILE)*ceildiv(m,TILE)','GRID == ''xy'' and ceildiv(m,TILE) or 1',NULL,'TILE','8',NULL,'TILE*(TILE+1)*sizeof(T)');
INSERT INTO tuned_launch VALUES(3,1,'finish',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO tuned_launch VALUES(4,0,'transpose','GRID == ''xy'' and ceildiv(n,TILE) or ceildiv(n,TILE)*ceildiv(m,TILE)','GRID == ''xy'' and ceildiv(m,TILE) or 1',NULL,'TILE','8',NULL,'TILE*(TILE+1)*sizeof(T)');
INSERT INTO tuned_launch VALUES(4,1,'finish',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO tuned_launch_arg VALUES(1,0,0,0);
INSERT INTO tuned_launch_arg VALUES(1,0,1,1);
INSERT INTO tuned_launch_arg VALUES(1,0,2,2);
INSERT INTO tuned_launch_arg VALUES(1,0,3,3);
INSERT INTO tuned_launch_arg VALUES(1,0,4,4);
INSERT INTO tuned_launch_arg VALUES(1,1,0,0);
INSERT INTO tuned_launch_arg VALUES(2,0,0,0);
INSERT INTO tuned_launch_arg VALUES(2,0,1,1);
INSERT INTO tuned_launch_arg VALUES(2,0,2,2);
INSERT INTO tuned_launch_arg VALUES(2,0,3,3);
INSERT INTO tuned_launch_arg VALUES(2,0,4,4);
INSERT INTO tuned_launch_arg VALUES(2,1,0,0);
INSERT INTO tuned_launch_arg VALUES(3,0,0,0);
INSERT INTO tuned_launch_arg VALUES(3,0,1,1);
INSERT INTO tuned_launch_arg VALUES(3,0,2,2);
INSERT INTO tuned_launch_arg VALUES(3,0,3,3);
INSERT INTO tuned_launch_arg VALUES(3,0,4,4);
INSERT INTO tuned_launch_arg VALUES(3,1,0,0);
INSERT INTO tuned_launch_arg VALUES(4,0,0,0);
INSERT INTO tuned_launch_arg VALUES(4,0,1,1);
INSERT INTO tuned_launch_arg VALUES(4,0,2,2);
INSERT INTO tuned_launch_arg VALUES(4,0,3,3);
INSERT INTO tuned_launch_arg VALUES(4,0,4,4);
INSERT INTO tuned_launch_arg VALUES(4,1,0,0);
INSERT INTO tuned_need VALUES(1,0,'align',1,'sizeof(T)*2');
INSERT INTO tuned_need VALUES(1,1,'noalias',0,NULL);
INSERT INTO tuned_need VALUES(2,0,'align',1,'sizeof(T)*2');
INSERT INTO tuned_need VALUES(2,1,'noalias',0,NULL);
INSERT INTO tuned_need VALUES(3,0,'align',1,'sizeof(T)*2');
INSERT INTO tuned_need VALUES(3,1,'noalias',0,NULL);
INSERT INTO tuned_need VALUES(4,0,'align',1,'sizeof(T)*2');
INSERT INTO tuned_need VALUES(4,1,'noalias',0,NULL);
INSERT INTO tuned_param VALUES(1,0,'TILE','int',8);
INSERT INTO tuned_param VALUES(1,1,'GRID','string','xy');
INSERT INTO tuned_param VALUES(1,2,'PAD','bool',1);
INSERT INTO tuned_param VALUES(1,3,'SCALE','float',0.5);
INSERT INTO tuned_param VALUES(2,0,'TILE','int',8);
INSERT INTO tuned_param VALUES(2,1,'GRID','string','xy');
INSERT INTO tuned_param VALUES(2,2,'PAD','bool',1);
INSERT INTO tuned_param VALUES(2,3,'SCALE','float',0.5);
INSERT INTO tuned_param VALUES(3,0,'TILE','int',32);
INSERT INTO tuned_param VALUES(3,1,'GRID','string','xy');
INSERT INTO tuned_param VALUES(3,2,'PAD','bool',1);
INSERT INTO tuned_param VALUES(3,3,'SCALE','float',0.5);
INSERT INTO tuned_param VALUES(4,0,'TILE','int',32);
INSERT INTO tuned_param VALUES(4,1,'GRID','string','x');
INSERT INTO tuned_param VALUES(4,2,'PAD','bool',1);
INSERT INTO tuned_param VALUES(4,3,'SCALE','float',0.5);
INSERT INTO tuned_where VALUES(1,0,'TILE <= 64');
INSERT INTO tuned_where VALUES(1,1,'GRID == ''x'' or ceildiv(m,TILE) <= 65535');
INSERT INTO tuned_where VALUES(2,0,'TILE <= 64');
INSERT INTO tuned_where VALUES(2,1,'GRID == ''x'' or ceildiv(m,TILE) <= 65535');
INSERT INTO tuned_where VALUES(3,0,'TILE <= 64');
INSERT INTO tuned_where VALUES(3,1,'GRID == ''x'' or ceildiv(m,TILE) <= 65535');
INSERT INTO tuned_where VALUES(4,0,'TILE <= 64');
INSERT INTO tuned_where VALUES(4,1,'GRID == ''x'' or ceildiv(m,TILE) <= 65535');
INSERT INTO tuned_workspace VALUES(1,0,'partial','T','ceildiv(n,TILE)',1);
INSERT INTO tuned_workspace VALUES(2,0,'partial','T','ceildiv(n,TILE)',1);
INSERT INTO tuned_workspace VALUES(3,0,'partial','T','ceildiv(n,TILE)',1);
INSERT INTO tuned_workspace VALUES(4,0,'partial','T','ceildiv(n,TILE)',1);
