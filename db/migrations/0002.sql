-- Version 1 to 2: code for other compute capabilities, records from elsewhere, and what applications asked for.
-- db/schema.sql explains the columns.

ALTER TABLE code ADD COLUMN portable TEXT CHECK (length(portable) > 0);
ALTER TABLE tuned ADD COLUMN verified INTEGER NOT NULL DEFAULT 1 CHECK (verified IN (0, 1));
ALTER TABLE op ADD COLUMN packed BLOB;
ALTER TABLE tuned ADD COLUMN packed BLOB;

CREATE TABLE wanted (
    device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
    op TEXT NOT NULL CHECK (length(op) BETWEEN 1 AND 63),
    types TEXT NOT NULL CHECK (length(types) BETWEEN 1 AND 1023),
    sizes TEXT NOT NULL CHECK (length(sizes) <= 2047),
    count INTEGER NOT NULL CHECK (count BETWEEN 1 AND 1000000000000000000),
    time_ns REAL NOT NULL CHECK (time_ns BETWEEN 0 AND 1e18),
    last TEXT NOT NULL CHECK (length(last) = 20 AND last GLOB '*-*-*T*:*:*Z'),
    PRIMARY KEY (device, op, types, sizes)
) WITHOUT ROWID;

PRAGMA user_version = 2;
