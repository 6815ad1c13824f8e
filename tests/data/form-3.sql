-- Of before form 4 of src/model/op_serial.c: docs/examples/axpy.lua tuned on the pretend device, its op and kernels in form 3.
PRAGMA application_id = 1668641902;
PRAGMA user_version = 4;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO device VALUES(1,'null','Pretend device','null','',132,151397597184);
CREATE TABLE provenance (
    id INTEGER PRIMARY KEY,                                            -- row
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- whose
    uuid TEXT NOT NULL,                                                -- '' if the driver tells none
    driver TEXT NOT NULL,                                              -- its version
    cutune TEXT NOT NULL,                                              -- cutune's version
    UNIQUE (device, uuid, driver, cutune)
);
INSERT INTO provenance VALUES(1,1,'','1','0.1.0');
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
INSERT INTO op VALUES(1,'axpy','847215be0a3b793235ba11d4445cac7d',1,'9c14762d589898a8e6e5348b6cca6b53','{"strips":"6557df3155b1df53bdcd8c5742b2cd5b"}',X'63756f330400000061787079ffffffff01000000010000006e000100000001000000540300000003000000663332030000006636340300000069333205000000030000006f757401010000005401000000010000006effffffff00000100000061000100000054010000000100000031ffffffff0000010000007800010000005401000000010000006effffffff0000010000007900010000005401000000010000006effffffff0000010000006e030300000069363400000000010000006e0000000000000d000000332a6e2a73697a656f6628542903000000322a6effffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000ffffffff00000000000000000000000000000000');
CREATE TABLE problem (
    id INTEGER PRIMARY KEY,                                            -- row
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,               -- what is computed
    types TEXT NOT NULL,                                               -- "f32", or "T=f16,ACC=f32" if there are several
    sizes TEXT NOT NULL,                                               -- "m=1111,n=113", in the op's order
    bytes REAL NOT NULL,                                               -- that must be moved; 0: unknown
    flops REAL NOT NULL,                                               -- floating-point operations; 0: unknown
    UNIQUE (op, types, sizes)
);
INSERT INTO problem VALUES(1,1,'f32','n=1000',12000.0,2000.0);
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,                                            -- grows in the order of first storing
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,       -- where it was timed
    problem INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,     -- what was computed
    cache TEXT NOT NULL,                                               -- "cold", "warm": the last-level cache before each sample
    key TEXT NOT NULL,                                                 -- hexadecimal
    protocol INTEGER NOT NULL,                                         -- version of the way of timing: numbers of two do not compare
    provenance INTEGER NOT NULL REFERENCES provenance,                 -- who timed it
    variant TEXT NOT NULL,                                             -- of the op: "tile"
    config TEXT NOT NULL,                                              -- JSON: {"TILE":32,"VEC":true}
    outcome TEXT NOT NULL,                                             -- what came of it: "ok", "wrong", ...: src/model/record.h
    reason TEXT NOT NULL,                                              -- one line; '' for ok
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
INSERT INTO measurement VALUES(1,1,1,'cold','a0abf47e7a4da3ed700655d938cff7fb',1,1,'strips','{"BLOCK":256,"ITEMS":4}','ok','',31,619219.0,619219.0,619219.0,619219.0,0.0,619219.0,619219.0,X'00000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e5224100000000a6e52241',0.016143999999999998629,32,0,0,1024,0,0,'2026-11-22T16:34:32Z','6557df3155b1df53bdcd8c5742b2cd5b');
INSERT INTO measurement VALUES(2,1,1,'cold','b9722a16096ccaba07676aa3a58a2e8c',1,1,'strips','{"BLOCK":128,"ITEMS":1}','ok','',31,907305.0,907305.0,907305.0,907305.0,0.0,907305.0,907305.0,X'0000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b410000000052b02b41',0.0059789999999999999397,32,0,0,1024,0,0,'2026-11-22T16:34:32Z','6557df3155b1df53bdcd8c5742b2cd5b');
INSERT INTO measurement VALUES(3,1,1,'cold','9a76a070d6a3ec3fb5c8af9e30d5cd6d',1,1,'strips','{"BLOCK":1024,"ITEMS":4}','ok','',31,684555.0,684555.0,684555.0,684555.0,0.0,684555.0,684555.0,X'0000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e424410000000016e42441',0.010606000000000000843,32,0,0,1024,0,0,'2026-11-22T16:34:32Z','6557df3155b1df53bdcd8c5742b2cd5b');
CREATE TABLE code (
    id INTEGER PRIMARY KEY,                                            -- row
    hash TEXT NOT NULL UNIQUE,                                         -- of all that follows; hexadecimal
    source TEXT NOT NULL,                                              -- as handed to the compiler
    binary BLOB,                                                       -- as loaded by the driver; null: compile the source
    format TEXT,                                                       -- of the binary: "cubin", "ptx", "clbin", "null"
    arch TEXT,                                                         -- that the binary is for: "sm_90"
    compiler TEXT,                                                     -- "NVRTC 13.0"
    portable TEXT                                                      -- PTX of the source, for the binary's compute capability or below
);
INSERT INTO code VALUES(1,'0e5f02312b4380c8704d1496439dea2f',replace('// The dialect of the kernel templates, for CUDA C++. It stands before every kernel that NVRTC compiles, and needs no header of the\n// toolkit. What the names mean is written down in docs/op-authors.md; prelude_opencl.h says the same in OpenCL C.\n#define BACKEND_CUDA 1\n\ntypedef signed char int8;\ntypedef unsigned char uint8;\ntypedef short int16;\ntypedef unsigned short uint16;\ntypedef int int32;\ntypedef unsigned int uint32;\ntypedef long long int64;\ntypedef unsigned long long uint64;\n\n#define KERNEL extern "C" __global__\n#define DEVICE static __device__ __forceinline__\n#define GLOBAL // a pointer to device memory\n#define SHARED // a pointer into shared memory\n\n// Dynamic shared memory: the first stands after a kernel''s last parameter, the second in its body.\n#define DYNAMIC_SHARED_PARAM\n#define DYNAMIC_SHARED(TYPE, NAME)                                                                                                  \\n    extern __shared__ uint4 dynamic_shared_memory[];                                                                               \\n    TYPE *NAME = reinterpret_cast<TYPE *>(dynamic_shared_memory)\n#define T float\n#define T_bytes 4\n#define T_bits uint32\n#define T_is_float 1\n#define T_is_f32 1\n#define BLOCK 256\n#define ITEMS 4\n#line 1 "axpy.cu"\n// out[i] = a * x[i] + y[i]: a block takes a strip of BLOCK * ITEMS elements, a thread every BLOCK-th of them.\nKERNEL void __launch_bounds__(BLOCK)\naxpy(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y,\n     int64 n)\n{\n    int64 i = (int64)blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;\n#pragma unroll\n    for (int k = 0; k < ITEMS; k++, i += BLOCK)\n        if (i < n)\n            out[i] = *a * x[i] + y[i];\n}\n','\n',char(10)),X'637574756e654e0a2f2f20546865206469616c656374206f6620746865206b65726e656c2074656d706c617465732c20666f72204355444120432b2b2e204974207374616e6473206265666f7265206576657279206b65726e656c2074686174204e5652544320636f6d70696c65732c20616e64206e65656473206e6f20686561646572206f66207468650a2f2f20746f6f6c6b69742e205768617420746865206e616d6573206d65616e206973207772697474656e20646f776e20696e20646f63732f6f702d617574686f72732e6d643b207072656c7564655f6f70656e636c2e682073617973207468652073616d6520696e204f70656e434c20432e0a23646566696e65204241434b454e445f4355444120310a0a74797065646566207369676e6564206368617220696e74383b0a7479706564656620756e7369676e656420636861722075696e74383b0a747970656465662073686f727420696e7431363b0a7479706564656620756e7369676e65642073686f72742075696e7431363b0a7479706564656620696e7420696e7433323b0a7479706564656620756e7369676e656420696e742075696e7433323b0a74797065646566206c6f6e67206c6f6e6720696e7436343b0a7479706564656620756e7369676e6564206c6f6e67206c6f6e672075696e7436343b0a0a23646566696e65204b45524e454c2065787465726e20224322205f5f676c6f62616c5f5f0a23646566696e652044455649434520737461746963205f5f6465766963655f5f205f5f666f726365696e6c696e655f5f0a23646566696e6520474c4f42414c202f2f206120706f696e74657220746f20646576696365206d656d6f72790a23646566696e6520534841524544202f2f206120706f696e74657220696e746f20736861726564206d656d6f72790a0a2f2f2044796e616d696320736861726564206d656d6f72793a20746865206669727374207374616e64732061667465722061206b65726e656c2773206c61737420706172616d657465722c20746865207365636f6e6420696e2069747320626f64792e0a23646566696e652044594e414d49435f5348415245445f504152414d0a23646566696e652044594e414d49435f53484152454428545950452c204e414d452920202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020205c0a2020202065787465726e205f5f7368617265645f5f2075696e74342064796e616d69635f7368617265645f6d656d6f72795b5d3b202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020205c0a2020202054595045202a4e414d45203d207265696e746572707265745f636173743c54595045202a3e2864796e616d69635f7368617265645f6d656d6f7279290a23646566696e65205420666c6f61740a23646566696e6520545f627974657320340a23646566696e6520545f626974732075696e7433320a23646566696e6520545f69735f666c6f617420310a23646566696e6520545f69735f66333220310a23646566696e6520424c4f434b203235360a23646566696e65204954454d5320340a236c696e6520312022617870792e6375220a2f2f206f75745b695d203d2061202a20785b695d202b20795b695d3a206120626c6f636b2074616b65732061207374726970206f6620424c4f434b202a204954454d5320656c656d656e74732c20612074687265616420657665727920424c4f434b2d7468206f66207468656d2e0a4b45524e454c20766f6964205f5f6c61756e63685f626f756e64735f5f28424c4f434b290a6178707928474c4f42414c2054202a5f5f72657374726963745f5f206f75742c20474c4f42414c20636f6e73742054202a5f5f72657374726963745f5f20612c20474c4f42414c20636f6e73742054202a5f5f72657374726963745f5f20782c20474c4f42414c20636f6e73742054202a5f5f72657374726963745f5f20792c0a2020202020696e743634206e290a7b0a20202020696e7436342069203d2028696e74363429626c6f636b4964782e78202a2028424c4f434b202a204954454d5329202b207468726561644964782e783b0a23707261676d6120756e726f6c6c0a20202020666f722028696e74206b203d20303b206b203c204954454d533b206b2b2b2c2069202b3d20424c4f434b290a20202020202020206966202869203c206e290a2020202020202020202020206f75745b695d203d202a61202a20785b695d202b20795b695d3b0a7d0a','null','null','1',replace('// The dialect of the kernel templates, for CUDA C++. It stands before every kernel that NVRTC compiles, and needs no header of the\n// toolkit. What the names mean is written down in docs/op-authors.md; prelude_opencl.h says the same in OpenCL C.\n#define BACKEND_CUDA 1\n\ntypedef signed char int8;\ntypedef unsigned char uint8;\ntypedef short int16;\ntypedef unsigned short uint16;\ntypedef int int32;\ntypedef unsigned int uint32;\ntypedef long long int64;\ntypedef unsigned long long uint64;\n\n#define KERNEL extern "C" __global__\n#define DEVICE static __device__ __forceinline__\n#define GLOBAL // a pointer to device memory\n#define SHARED // a pointer into shared memory\n\n// Dynamic shared memory: the first stands after a kernel''s last parameter, the second in its body.\n#define DYNAMIC_SHARED_PARAM\n#define DYNAMIC_SHARED(TYPE, NAME)                                                                                                  \\n    extern __shared__ uint4 dynamic_shared_memory[];                                                                               \\n    TYPE *NAME = reinterpret_cast<TYPE *>(dynamic_shared_memory)\n#define T float\n#define T_bytes 4\n#define T_bits uint32\n#define T_is_float 1\n#define T_is_f32 1\n#define BLOCK 256\n#define ITEMS 4\n#line 1 "axpy.cu"\n// out[i] = a * x[i] + y[i]: a block takes a strip of BLOCK * ITEMS elements, a thread every BLOCK-th of them.\nKERNEL void __launch_bounds__(BLOCK)\naxpy(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y,\n     int64 n)\n{\n    int64 i = (int64)blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;\n#pragma unroll\n    for (int k = 0; k < ITEMS; k++, i += BLOCK)\n        if (i < n)\n            out[i] = *a * x[i] + y[i];\n}\n','\n',char(10)));
CREATE TABLE tuned (
    id INTEGER PRIMARY KEY,                                            -- row
    role TEXT NOT NULL,                                                -- "winner", "default"
    device INTEGER REFERENCES device ON DELETE CASCADE,                -- winner
    problem INTEGER REFERENCES problem ON DELETE CASCADE,              -- winner
    cache TEXT,                                                        -- winner: as in measurement
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
    verified INTEGER NOT NULL,                                         -- 1; 0: brought from elsewhere, not yet found right here: not served
    kernel BLOB NOT NULL,                                              -- launches, constraints and all else: src/model/kernel.h
    UNIQUE (device, problem, cache),
    UNIQUE (op, types, backend, rank)
);
INSERT INTO tuned VALUES(1,'default',NULL,NULL,NULL,1,'f32','null',0,'a0abf47e7a4da3ed700655d938cff7fb','strips','{"BLOCK":256,"ITEMS":4}',0.0,0.0,1,NULL,'2026-11-22T16:34:32Z',1,X'63756f330400000061787079ffffffff01000000010000006e000100000001000000540300000003000000663332030000006636340300000069333205000000030000006f757401010000005401000000010000006effffffff00000100000061000100000054010000000100000031ffffffff0000010000007800010000005401000000010000006effffffff0000010000007900010000005401000000010000006effffffff0000010000006e030300000069363400000000010000006e0000000000000d000000332a6e2a73697a656f6628542903000000322a6effffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000ffffffff010000000600000073747269707300000000000000000200000005000000424c4f434b01000000020001000000000000050000004954454d53010000000204000000000000000100000015000000424c4f434b202a204954454d53203c3d2034303936010000000400000061787079190000006365696c646976286e2c20424c4f434b202a204954454d532905000000424c4f434bffffffffffffffffffffffffffffffffffffffff050000000000000001000000020000000300000004000000000000000000000000000000ffffffff00000000000000000000000000000000000000');
INSERT INTO tuned VALUES(2,'winner',1,1,'cold',NULL,NULL,NULL,NULL,'a0abf47e7a4da3ed700655d938cff7fb','strips','{"BLOCK":256,"ITEMS":4}',619219.0,1003.0,1,1,'2026-11-22T16:34:32Z',1,X'63756f330400000061787079ffffffff01000000010000006e000100000001000000540300000003000000663332030000006636340300000069333205000000030000006f757401010000005401000000010000006effffffff00000100000061000100000054010000000100000031ffffffff0000010000007800010000005401000000010000006effffffff0000010000007900010000005401000000010000006effffffff0000010000006e030300000069363400000000010000006e0000000000000d000000332a6e2a73697a656f6628542903000000322a6effffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000ffffffff010000000600000073747269707300000000000000000200000005000000424c4f434b01000000020001000000000000050000004954454d53010000000204000000000000000100000015000000424c4f434b202a204954454d53203c3d2034303936010000000400000061787079190000006365696c646976286e2c20424c4f434b202a204954454d532905000000424c4f434bffffffffffffffffffffffffffffffffffffffff050000000000000001000000020000000300000004000000000000000000000000000000ffffffff00000000000000000000000000000000000000');
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
CREATE UNIQUE INDEX op_current ON op (name) WHERE current = 1;
CREATE INDEX tuned_code ON tuned (code);
CREATE VIEW kernel AS
SELECT device.name AS device, op.name AS op, problem.types, problem.sizes, tuned.variant, tuned.config, tuned.time_ns,
       problem.bytes / tuned.time_ns AS gb_s, tuned.cache, NOT op.current AS stale, NOT tuned.verified AS unverified,
       tuned.created, provenance.cutune, provenance.driver
FROM tuned JOIN device ON device.id = tuned.device JOIN problem ON problem.id = tuned.problem JOIN op ON op.id = problem.op
       JOIN provenance ON provenance.id = tuned.provenance;
COMMIT;
