-- cutune's database: what was measured, and the kernels that came out of it. Version 5.
--
-- This file makes a new database; db/migrations/README.md says what becomes of an older one. It runs inside one transaction. Times are
-- in nanoseconds, sizes in bytes, unless a column says otherwise. What is read is checked by the program, column by column, for a file
-- may come from anywhere; checks here would only be parsed again whenever an application opens the file.

PRAGMA application_id = 1668641902; -- "cutn": marks the file as cutune's
PRAGMA user_version = 5;            -- the schema's version

-- A device, by what makes two of them alike: equal devices share their records.
CREATE TABLE device (
    id INTEGER PRIMARY KEY,                                            -- row
    backend TEXT NOT NULL,                                             -- "cuda", "opencl", "null"
    name TEXT NOT NULL,                                                -- as the driver names it: "NVIDIA H200"
    arch TEXT NOT NULL,                                                -- "sm_90"; OpenCL: the platform, "pocl"
    mig TEXT NOT NULL,                                                 -- MIG slice; '' if there is none
    multiprocessors INTEGER NOT NULL,                                  -- or OpenCL compute units
    memory INTEGER NOT NULL,                                           -- bytes; 0 for a CPU, whose memory varies
    UNIQUE (backend, name, arch, mig, multiprocessors, memory)
);

-- Which piece of hardware, driver and cutune a record came from. Only people read it: look-ups do not.
CREATE TABLE provenance (
    id INTEGER PRIMARY KEY,                                            -- row
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- whose
    uuid TEXT NOT NULL,                                                -- '' if the driver tells none
    driver TEXT NOT NULL,                                              -- its version
    cutune TEXT NOT NULL,                                              -- cutune's version
    UNIQUE (device, uuid, driver, cutune)
);

-- An op: its interface, which is what a caller of its kernels has to know, and its contract, which is what they were proved against.
-- When either changes, a new row becomes the current one and everything that hangs on the earlier row is stale: kept, listed, not
-- served. Changed back, it is current again.
CREATE TABLE op (
    id INTEGER PRIMARY KEY,                                            -- row
    name TEXT NOT NULL,                                                -- "transpose"
    hash TEXT NOT NULL,                                                -- of axes, type names, arguments and the contract; hexadecimal
    current INTEGER NOT NULL,                                          -- 1: what the script said last; 0
    contract TEXT,                                                     -- of check, reference and fills; null: of before version 3
    variants TEXT,                                                     -- JSON: what each was made of last, {"tile":"0123..."}; null: unknown
    interface BLOB NOT NULL,                                           -- axes, types, arguments, work: src/model/kernel.h
    UNIQUE (name, hash)
);
CREATE UNIQUE INDEX op_current ON op (name) WHERE current = 1;

-- A problem that was tuned: an op, its element types and a size for each axis.
CREATE TABLE problem (
    id INTEGER PRIMARY KEY,                                            -- row
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- what is computed
    types TEXT NOT NULL,                                               -- "f32", or "T=f16,ACC=f32" if there are several
    sizes TEXT NOT NULL,                                               -- "m=1111,n=113", in the op's order
    bytes REAL NOT NULL,                                               -- that must be moved; 0: unknown
    flops REAL NOT NULL,                                               -- floating-point operations; 0: unknown
    UNIQUE (op, types, sizes)
);

-- What came of one configuration. The key is a hash of all that its verdict and its time depend on (src/source/key.c): a comment in a
-- script leaves a measurement valid, a changed template or check does not find it. It is stale if its op is not current, or if its
-- `made` is no longer its variant's. Statistics are over the samples that decided, in nanoseconds, of all launches of the
-- configuration together with what it has to clear; 0 if nothing was timed. A row of protocol 0 is a claim: what a file from elsewhere says
-- (`cutune import`). Its key is of the configuration alone, its device may be no more than a name, and its provenance has the file in the
-- place of a uuid and the tool in that of cutune's version. Nothing serves or counts it.
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,                                            -- grows in the order of first storing
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- where it was timed
    problem INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,     -- what was computed
    cache TEXT NOT NULL,                                               -- "cold", "warm": the last-level cache before each sample
    key TEXT NOT NULL,                                                 -- hexadecimal
    protocol INTEGER NOT NULL,                                         -- version of the way of timing: numbers of two do not compare; 0: a claim
    provenance INTEGER NOT NULL REFERENCES provenance,                 -- who timed it
    variant TEXT NOT NULL,                                             -- of the op: "tile"
    config TEXT NOT NULL,                                              -- JSON: {"TILE":32,"VEC":true}
    outcome TEXT NOT NULL,                                             -- what came of it: "ok", "wrong", ...: src/model/record.h
    reason TEXT NOT NULL,                                              -- one line; for ok '', or the energy of a run: src/model/record.h
    n INTEGER NOT NULL,                                                -- samples that the statistics are of
    median REAL NOT NULL,                                              -- ns, as all to ci_high
    min REAL NOT NULL,                                                 -- ns: the fastest sample
    max REAL NOT NULL,                                                 -- ns: the slowest
    mean REAL NOT NULL,                                                -- ns
    stddev REAL NOT NULL,                                              -- ns: of the samples, not of the mean
    ci_low REAL NOT NULL,                                              -- 95% interval of the median
    ci_high REAL NOT NULL,                                             -- ns
    samples BLOB NOT NULL,                                             -- ns, in order: little-endian 64-bit floats
    compile_ms REAL NOT NULL,                                          -- milliseconds
    registers INTEGER NOT NULL CHECK (registers >= -1),                -- a thread, of the worst kernel, as the next three; -1: unknown
    shared INTEGER NOT NULL CHECK (shared >= -1),                      -- static shared memory a block, bytes; -1: unknown
    local INTEGER NOT NULL CHECK (local >= -1),                        -- spills and arrays a thread, bytes; -1: unknown
    max_threads INTEGER NOT NULL CHECK (max_threads >= -1),            -- threads that a block of it may have; -1: unknown
    sm_mhz INTEGER NOT NULL,                                           -- clocks right after timing, MHz; 0: unknown
    mem_mhz INTEGER NOT NULL,                                          -- of the memory, MHz; 0: unknown
    created TEXT NOT NULL,                                             -- UTC
    made TEXT,                                                         -- its variant's when it was last found or stored; null: unknown
    UNIQUE (device, problem, cache, key, protocol)
);

-- A kernel's code. Sizes are launch arguments, so the winners of many problems share one row; a row that none uses is deleted.
CREATE TABLE code (
    id INTEGER PRIMARY KEY,                                            -- row
    hash TEXT NOT NULL UNIQUE,                                         -- of all that follows; hexadecimal
    source TEXT NOT NULL,                                              -- as handed to the compiler; packed, as a blob: src/store/packed.c
    binary BLOB,                                                       -- as loaded by the driver; null: compile the source
    format TEXT,                                                       -- of the binary: "cubin", "ptx", "clbin", "null"
    arch TEXT,                                                         -- that the binary is for: "sm_90"
    compiler TEXT,                                                     -- "NVRTC 13.0"
    portable TEXT                                                      -- PTX of the source, for the binary's compute capability or below; as
                                                                       -- source, packed
);

-- A kernel to be served, as libcutune needs it: with no script and no tuner. A winner belongs to a device and problem; a default to
-- (op, types, backend, rank), and is used for any problem whose constraints hold when no winner fits.
-- What a person has pinned to a problem stands beside its winners and is served in their place: its cache sorts before theirs.
CREATE TABLE tuned (
    id INTEGER PRIMARY KEY,                                            -- row
    role TEXT NOT NULL,                                                -- "winner", "default"
    device INTEGER REFERENCES device ON DELETE CASCADE,                -- winner
    problem INTEGER REFERENCES problem ON DELETE CASCADE,              -- winner
    cache TEXT,                                                        -- winner: as in measurement; 'as pinned': a pin, timed cold
    op INTEGER REFERENCES op ON DELETE CASCADE,                        -- default
    types TEXT,                                                        -- default: as in problem
    backend TEXT,                                                      -- default: as in device
    rank INTEGER,                                                      -- default: the lowest whose constraints hold is used
    key TEXT NOT NULL,                                                 -- of its measurement; of its source if there is none
    variant TEXT NOT NULL,                                             -- of the op: "tile"
    config TEXT NOT NULL,                                              -- JSON, as in measurement
    time_ns REAL NOT NULL,                                             -- median, ns; 0: not measured
    copy_ns REAL NOT NULL,                                             -- a device copy of the same bytes in the same run; 0: not measured
    code INTEGER NOT NULL REFERENCES code,                             -- what is launched
    provenance INTEGER REFERENCES provenance,                          -- winner
    created TEXT NOT NULL,                                             -- UTC
    verified INTEGER NOT NULL,                                         -- 1; 2: compared for its own problem alone, so not served for others; 0:
                                                                       -- brought from elsewhere, not yet found right here: not served
    kernel BLOB NOT NULL,                                              -- launches, constraints and all else: src/model/kernel.h
    UNIQUE (device, problem, cache),
    UNIQUE (op, types, backend, rank)
);
CREATE INDEX tuned_code ON tuned (code);

-- What applications asked for without an exact answer: `cutune run --wanted` tunes it and deletes the row. The op need not be known.
CREATE TABLE wanted (
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- where it was to run
    op TEXT NOT NULL,                                                  -- "transpose"
    types TEXT NOT NULL,                                               -- as in problem
    sizes TEXT NOT NULL,                                               -- as in problem
    count INTEGER NOT NULL,                                            -- times asked for; stays at the most
    time_ns REAL NOT NULL,                                             -- what a call is expected to take, ns; 0: unknown
    last TEXT NOT NULL,                                                -- UTC
    PRIMARY KEY (device, op, types, sizes)
) WITHOUT ROWID;

-- For people: the winners. A stale one was proved before its op changed, an unverified one came from elsewhere; neither is served.
CREATE VIEW kernel AS
SELECT device.name AS device, op.name AS op, problem.types, problem.sizes, tuned.variant, tuned.config, tuned.time_ns,
       problem.bytes / tuned.time_ns AS gb_s, tuned.cache, NOT op.current AS stale, NOT tuned.verified AS unverified,
       tuned.created, provenance.cutune, provenance.driver
FROM tuned JOIN device ON device.id = tuned.device JOIN problem ON problem.id = tuned.problem JOIN op ON op.id = problem.op
       JOIN provenance ON provenance.id = tuned.provenance;
