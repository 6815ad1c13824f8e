-- Version 2 to 3: what a verdict was reached with. db/schema.sql explains the columns.

ALTER TABLE op ADD COLUMN contract TEXT CHECK (length(contract) = 32);
ALTER TABLE measurement ADD COLUMN made TEXT CHECK (length(made) = 32);
UPDATE op SET packed = NULL; -- of an earlier form

CREATE TABLE op_variant (
    op INTEGER NOT NULL REFERENCES op ON DELETE CASCADE,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    made TEXT NOT NULL CHECK (length(made) = 32),
    PRIMARY KEY (op, name)
) WITHOUT ROWID;

PRAGMA user_version = 3;
